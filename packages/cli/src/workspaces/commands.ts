import { type Command, command, declare } from "../command.ts";

export const diff = declare({
  name: "diff",
  group: "work",
  usage: "diff [SESSION] [--stat] [--json]",
  summary: "Show what a session changed",
  details:
    "Shows what changed from where it began, what it has not committed included. Without SESSION it is the latest one of this project. Nothing that the agent wrote is run for it. What would\nrun by itself, or is obeyed, once it is merged is named at the end.",
  examples: [
    ["corral diff", "what the latest session changed"],
    ["corral diff --stat", "only which files, and how much"],
    ["corral diff ses_… | git apply --stat", "hand it on"],
  ],
  example: "corral diff --stat",
  args: {
    stat: { type: "boolean", description: "only the files and how many lines of each" },
    json: { type: "boolean", description: "print it as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
});

export const merge = declare({
  name: "merge",
  group: "work",
  usage: "merge [SESSION] [--squash | --no-ff] [--json]",
  summary: "Merge what a session did into your branch; conflicts are told before anything is touched",
  details: `Merges what a session did into the branch that you have checked out. Without SESSION it is the latest one of this project. Conflicts, and uncommitted changes of yours that would be in the
way, are told before anything is touched. So is what would run by itself, or is obeyed, afterwards (scripts, hooks, CI, settings of
editors and agents); \`corral diff\` shows it. Your hooks do not run. A merge is done once: said again, it takes over only what
the session has done since.`,
  examples: [
    ["corral merge", "take over what the latest session did"],
    ["corral merge --squash", "as one commit of your own"],
  ],
  example: "corral merge --squash",
  args: {
    squash: { type: "boolean", description: "make one commit of all its work" },
    "no-ff": { type: "boolean", description: "make a merge commit even where moving the branch would do" },
    json: { type: "boolean", description: "print the outcome as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
});

export const discard = declare({
  name: "discard",
  group: "work",
  usage: "discard [SESSION] [--undo] [--json]",
  summary: "Throw away what a session did; it can be undone",
  details: `Throws away what a session did, in a way that can be undone. Without SESSION it is the latest one of this project. Its processes end, its branch leaves your repository, and its
workspace is kept aside for the days that the setting workspace.discardedDays says; a branch that you went on with yourself
stays. The session's next prompt begins with a new workspace.`,
  examples: [
    ["corral discard", "forget about what the latest session did"],
    ["corral discard --undo", "have it back"],
  ],
  args: {
    undo: { type: "boolean", description: "bring back what was discarded last" },
    json: { type: "boolean", description: "print the outcome as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
});

export const edit = declare({
  name: "edit",
  group: "work",
  usage: "edit [SESSION]",
  summary: "Change a session's files by hand, as yourself",
  details: `Opens a session's workspace in your editor and records what you changed as yours. Without SESSION it is the latest one of this project. The editor is VISUAL, else EDITOR; Corral waits until it ends
(\`code --wait\`). It opens files that an agent wrote: an editor that obeys settings in a folder may obey theirs.`,
  examples: [
    ["corral edit", "open what the latest session works on"],
    ['VISUAL="code --wait" corral edit', "with an editor that has windows of its own"],
  ],
  args: {},
  words: "any",
  takesSessions: true,
});

export const setup = declare({
  name: "setup",
  group: "work",
  usage: "setup [again | skip | cancel] [SESSION] [--json]",
  summary: "Show how a session's workspace was set up, or have it done again",
  details: `Shows how a session's workspace was set up, or has it done again. The setting workspace.setup is a command that is run in the jail, in each new workspace, before any work.
Without SESSION it is the latest one of this project.`,
  examples: [
    ["corral config set workspace.setup 'npm ci' --project", "what new workspaces need"],
    ["corral setup", "what it printed"],
    ["corral setup again", "run it before the next prompt's work"],
    ["corral setup cancel", "end it now"],
  ],
  args: { json: { type: "boolean", description: "print each as a line of JSON" } },
  words: "any",
  takesSessions: true,
  choices: ["again", "skip", "cancel"],
});

export const commands: readonly Command[] = [
  command(diff, () => import("./diff.ts")),
  command(merge, () => import("./merge.ts")),
  command(discard, () => import("./discard.ts")),
  command(edit, () => import("./edit.ts")),
  command(setup, () => import("./setup.ts")),
];
