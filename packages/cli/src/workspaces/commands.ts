import { type Command, command, declare } from "../command.ts";
import { latestByDefault } from "../sessions/session-words.ts";

export const diff = declare({
  name: "diff",
  group: "work",
  summary: "Show a session's changes, committed or not",
  example: "corral diff --stat",
  usage: "diff [SESSION] [--stat] [--json]",
  details: `${latestByDefault} Nothing that the agent wrote is run. The end names files that would run on their own, or that tools would obey,
after a merge.`,
  examples: [
    ["corral diff", "show what the latest session changed"],
    ["corral diff --stat", "show only which files, and how much"],
    ["corral diff ses_… | git apply --stat", "pass it on to another program"],
  ],
  args: {
    stat: { type: "boolean", description: "show only the files and their numbers of lines" },
    json: { type: "boolean", description: "print the diff as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
});

export const merge = declare({
  name: "merge",
  group: "work",
  summary: "Merge a session's work into your branch; conflicts are reported first",
  example: "corral merge --squash",
  usage: "merge [SESSION] [--squash | --no-ff] [--json]",
  details: `${latestByDefault} Before anything changes, Corral reports conflicts and those of your uncommitted changes that are in the way.
It also names files that would run on their own, or that tools would obey (scripts, hooks, CI, settings of editors and agents);
\`corral diff\` shows them. Your git hooks do not run. A second merge brings only what the session did since the first.`,
  examples: [
    ["corral merge", "merge the latest session's work"],
    ["corral merge --squash", "merge it as one commit of your own"],
  ],
  args: {
    squash: { type: "boolean", description: "make one commit of all its work" },
    "no-ff": { type: "boolean", description: "make a merge commit even if a fast-forward is possible" },
    json: { type: "boolean", description: "print the outcome as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
});

export const discard = declare({
  name: "discard",
  group: "work",
  summary: "Discard a session's work; you can undo it",
  usage: "discard [SESSION] [--undo] [--json]",
  details: `${latestByDefault} Its processes end and its branch is removed from your repository, unless you committed to that branch yourself. Its
workspace is kept for as many days as the setting workspace.discardedDays says. The session's next prompt starts in a new workspace.`,
  examples: [
    ["corral discard", "discard what the latest session did"],
    ["corral discard --undo", "bring it back"],
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
  summary: "Edit a session's files yourself, in your editor",
  usage: "edit [SESSION]",
  details: `${latestByDefault} Your changes are recorded as yours. The editor is VISUAL, or else EDITOR; Corral waits until it ends (use
\`code --wait\`). It opens files that an agent wrote: an editor that obeys settings in a folder may obey the agent's.`,
  examples: [
    ["corral edit", "open the latest session's workspace"],
    ['VISUAL="code --wait" corral edit', "use an editor with its own window"],
  ],
  args: {},
  words: "any",
  takesSessions: true,
});

export const setup = declare({
  name: "setup",
  group: "work",
  summary: "Show how a session's workspace was set up, or run the setup again",
  usage: "setup [again | skip | cancel] [SESSION] [--json]",
  details: `The setting workspace.setup is a command. It runs in the jail, in each new workspace, before any work. ${latestByDefault}`,
  examples: [
    ["corral config set workspace.setup 'npm ci' --project", "set the command for new workspaces"],
    ["corral setup", "show what it printed"],
    ["corral setup again", "run it again before the next prompt"],
    ["corral setup cancel", "end it now"],
  ],
  args: { json: { type: "boolean", description: "print each setup as a line of JSON" } },
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
