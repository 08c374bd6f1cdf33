import type { FlaggedChange } from "@corral/protocol";

/** One path of a difference, with git's modes; 0: it is not there. */
export interface PathChange {
  readonly path: string;
  readonly before: number;
  readonly after: number;
  /** Of those that `needsContent` names, where it could be had. */
  readonly content?: { readonly before: string | undefined; readonly after: string | undefined };
}

/** More than this is not read by anybody. */
const mostTold = 50;
const longestPath = 500;

const modes = { executable: 0o100755, link: 0o120000, repository: 0o160000 } as const;

/**
 * What of a difference runs by itself, or is obeyed, when a person, an editor, an agent or CI uses the repository. Nothing that
 * goes away is told. Most of what is at the top of a workspace cannot be written by an agent anyway; below it can.
 */
export function flagsOf(changes: readonly PathChange[]): FlaggedChange[] {
  return changes.flatMap((change) => reasons(change).map((why) => ({ path: change.path, why })));
}

/** As many as a person reads; how many are left out is told in the last one's place. */
export function bounded(flagged: readonly FlaggedChange[]): FlaggedChange[] {
  const told = flagged.length > mostTold ? flagged.slice(0, mostTold - 1) : flagged;
  const more = flagged.length - told.length;
  return [
    ...told.map(({ path, why }) => ({
      path: path.length > longestPath ? `${path.slice(0, longestPath)}…` : path,
      why,
    })),
    ...(more === 0 ? [] : [{ path: `${more} more`, why: "there are too many to tell each" }]),
  ];
}

export function needsContent({ path, after }: PathChange): boolean {
  return after === modes.link || (after !== 0 && isManifest(path));
}

function reasons(change: PathChange): string[] {
  const { path, before, after } = change;
  if (after === 0) return [];
  if (after === modes.repository)
    return ["another repository stands there: its own settings are obeyed once it is fetched"];
  const byName = obeyed.flatMap(([why, pattern]) => (pattern.test(path) ? [why] : []));
  return [
    ...byName,
    ...(isManifest(path) && scriptsChanged(change) ? ["npm and others run its scripts"] : []),
    ...(after === modes.link && leadsOut(change) ? ["a link that leads out of the workspace"] : []),
    ...(after === modes.executable && before !== modes.executable ? ["it can be executed now"] : []),
  ];
}

/** In any folder. What ends with a slash is a folder with all that is in it, or whatever else has its name. */
const namesByWhy: Readonly<Record<string, string>> = {
  "a shell that starts there runs it":
    ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc config.fish",
  "a shell that enters the folder runs it": ".envrc mise.toml .mise.toml",
  "git takes programs, filters or repositories from it": ".gitconfig .gitmodules .gitattributes",
  "git runs hooks from it":
    ".husky/ .githooks/ githooks/ .git-hooks/ .pre-commit-config.y*ml .pre-commit-hooks.y*ml lefthook* .lefthook* .lintstagedrc* lint-staged.config.* .overcommit.yml",
  "CI runs it":
    ".github/workflows/ .github/actions/ .gitea/workflows/ .forgejo/workflows/ .circleci/ .buildkite/ .woodpecker/ .teamcity/ .gitlab-ci.y*ml .gitlab/ci/ .travis.yml .drone.y*ml .woodpecker.y*ml .cirrus.y*ml jenkinsfile* action.y*ml appveyor.yml .appveyor.yml azure-pipelines*.y*ml bitbucket-pipelines.yml cloudbuild.y*ml",
  "building runs it":
    "makefile gnumakefile *.mk justfile .justfile taskfile.y*ml rakefile sconstruct cmakelists.txt meson.build build.rs build.zig build.xml pom.xml .mvn/ mvnw* *.gradle *.gradle.kts gradlew* gradle/wrapper/ gulpfile.* gruntfile.* binding.gyp gemfile podfile setup.py setup.cfg pyproject.toml noxfile.py tox.ini composer.json .cargo/config .cargo/config.toml",
  "Python runs it by itself": "conftest.py sitecustomize.py usercustomize.py *.pth",
  "a package manager takes programs and servers from it":
    ".npmrc .yarnrc .yarnrc.y*ml .yarn/ .pnpmfile.* bunfig.toml pip.conf .pypirc",
  "a container is built or started by it":
    "dockerfile dockerfile.* *.dockerfile containerfile containerfile.* docker-compose*.y*ml compose.y*ml compose.*.y*ml vagrantfile",
  "an editor that opens the folder obeys it":
    ".vscode/ .idea/ .zed/ .fleet/ .devcontainer/ devcontainer.json .devcontainer.json *.code-workspace .gitpod.yml .exrc .vimrc .nvimrc .nvim.lua .dir-locals.el .dir-locals-2.el eslint.config.* .eslintrc.*js prettier.config.* .prettierrc.*js",
  "agents obey it":
    "claude.md claude.local.md agents.md agents.override.md gemini.md copilot-instructions.md .mcp.json mcp.json opencode.json opencode.jsonc crush.json .crush.json .aider.conf.yml .claude/ .codex/ .corral/ .cursor/ .gemini/ .opencode/ .windsurf/ .roo/ .continue/ .kiro/ .cursorrules .windsurfrules .clinerules/",
};

const obeyed: readonly (readonly [why: string, pattern: RegExp])[] = [
  ...Object.entries(namesByWhy).map(([why, names]) => [why, anyOf(names.split(" "))] as const),
  // Git takes any folder with one, and a little more, for a repository. Its name is in capitals.
  ["git takes its folder for a repository, and obeys the config beside it", /(^|\/)HEAD$/],
];

/** Letters large or small: some file systems do not tell them apart. */
function anyOf(names: readonly string[]): RegExp {
  const patterns = names.map((name) => {
    const plain = name.replaceAll(".", String.raw`\.`).replaceAll("*", "[^/]*");
    return plain.endsWith("/") ? `${plain.slice(0, -1)}(/.*)?` : plain;
  });
  return new RegExp(`(^|/)(${patterns.join("|")})$`, "is");
}

function isManifest(path: string): boolean {
  return /(^|\/)package\.json$/i.test(path);
}

/** Parts of it that are run, or say what is. What cannot be compared counts as changed. */
const runParts = ["scripts", "packageManager", "lint-staged", "husky", "simple-git-hooks", "pre-commit"];

function scriptsChanged({ before, content }: PathChange): boolean {
  if (content?.after === undefined || (before !== 0 && content.before === undefined)) return true;
  const [was, is] = [scriptsIn(content.before ?? "{}"), scriptsIn(content.after)];
  return is === undefined || is !== was;
}

function scriptsIn(text: string): string | undefined {
  try {
    const manifest = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
    return JSON.stringify(runParts.map((part) => manifest?.[part] ?? null));
  } catch {
    return undefined;
  }
}

/** By its words alone; what it leads to may be a link again, which is told of by itself. */
function leadsOut({ path, content }: PathChange): boolean {
  const target = content?.after;
  if (target === undefined || target.startsWith("/")) return true;
  let depth = path.split("/").length - 1;
  for (const name of target.split("/")) {
    if (name === "..") depth -= 1;
    else if (name !== "" && name !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
