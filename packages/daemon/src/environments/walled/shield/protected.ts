/**
 * What an agent must not write in its workspace, since somebody outside obeys it: git, shells, editors, other agents.
 * Each name is at the top of the workspace. One that is missing is there as an empty, unwritable folder while the jail
 * lives: git takes no notice of empty folders, so nothing of it gets into a commit. One that is a link stays as it is:
 * nothing can be mounted on a link. Each name costs every jail's start a mount, so the list holds what people have.
 */
export const protectedNames: Readonly<Record<string, readonly string[]>> = {
  "a shell that starts there runs it": [".bash_profile", ".bashrc", ".profile", ".zprofile", ".zshenv", ".zshrc"],
  "a shell that enters the folder runs it": [".envrc"],
  "git takes programs from it": [".gitconfig"],
  "an editor that opens the folder runs tasks and settings from it": [
    ".devcontainer",
    ".exrc",
    ".idea",
    ".nvim.lua",
    ".vscode",
    ".zed",
  ],
  "an agent takes hooks, servers and permissions from it": [
    ".claude",
    ".codex",
    ".corral",
    ".cursor",
    ".gemini",
    ".mcp.json",
    ".opencode",
  ],
};

/** The same, and left alone where they are missing: an empty folder of that name would be seen by everybody and break who reads it. */
export const protectedWhenThere: Readonly<Record<string, readonly string[]>> = {
  "an agent takes hooks, servers and permissions from it": ["opencode.json", "opencode.jsonc", "crush.json"],
};

/** What git obeys in a copy's own folder, whoever runs it there. The rest of the folder is the agent's to commit with. */
export const protectedOfGit = {
  folders: {
    hooks: "git runs what is in it",
    info: "attributes choose filters, excludes hide files",
  },
  /** With what stands in the file while it would be missing: what git takes for nothing, and nobody else writes. */
  files: {
    config: {
      content: "# Here while a jail of Corral's is open.\n",
      reason: "it names programs: fsmonitor, filters, diff, aliases, pagers",
    },
    // Git takes `.` for what it is, and reads neither an empty file nor a folder.
    commondir: { content: ".\n", reason: "git takes config and hooks from the folder that it names" },
  },
  /** The same, in `objects/info`, where git writes other files. */
  objectFiles: {
    alternates: {
      content: "# Here while a jail of Corral's is open.\n",
      reason: "git reads objects from the folders that it names",
    },
  },
  /** Obeyed where it is there: it cannot be put to use without a change to `config`. */
  whenThere: { "config.worktree": "more config" },
} as const;

/** More of the same kind. No mount is made for these: in the user's own folder they are held back by their names. */
const heldBackNames: Readonly<Record<string, readonly string[]>> = {
  "a shell that starts there runs it": [
    ".bash_login",
    ".bash_logout",
    ".cshrc",
    ".kshrc",
    ".tcshrc",
    ".zlogin",
    ".zlogout",
  ],
  "a shell that enters the folder runs it": [".mise.toml", "mise.toml"],
  "an editor that opens the folder runs tasks and settings from it": [
    ".devcontainer.json",
    ".dir-locals.el",
    ".fleet",
    ".nvimrc",
    ".vimrc",
  ],
  "an agent takes hooks, servers and permissions from it": [
    ".aider.conf.yml",
    ".continue",
    ".crush",
    ".crush.json",
    ".kiro",
    ".roo",
    ".windsurf",
  ],
};

const whyByName: ReadonlyMap<string, string> = new Map(
  [protectedNames, protectedWhenThere, heldBackNames].flatMap((reasons) =>
    Object.entries(reasons).flatMap(([why, names]) => names.map((name) => [name, why] as const)),
  ),
);

/** Why somebody obeys what has this name, in whatever folder it is; undefined: nobody is known to. */
export function whyObeyed(name: string): string | undefined {
  return isGitName(name) ? "git obeys what is in it" : whyByName.get(folded(name));
}

export function isGitName(name: string): boolean {
  return folded(name) === ".git";
}

/** The same for a path by its words: any of the names in it counts, wherever a `..` or a link leads. */
export function whyPathObeyed(path: string): string | undefined {
  for (const name of path.split("/")) {
    const why = whyObeyed(name);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** As file systems compare names that do not tell large letters from small ones; some of them pass over signs that nobody sees. */
function folded(name: string): string {
  return /^[\x21-\x7e]*$/.test(name)
    ? name.toLowerCase()
    : name
        .normalize("NFKC")
        .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
        .toLowerCase();
}
