import { type Command, command, declare } from "../command.ts";

export const snapshots = declare({
  name: "snapshots",
  group: "work",
  summary: "List a workspace's snapshots, compare them, or restore files",
  example: "corral snapshots diff snp_…",
  usage:
    "snapshots [SESSION|SHELL] [--json] | snapshots take [SESSION|SHELL] | snapshots diff SNAPSHOT [OTHER] [--stat] | snapshots restore SNAPSHOT [PATH…]",
  details: `After each step that changed files, Corral stores the files of the workspace, tracked or not, outside of your repository.
Without SESSION, the latest session of this project is used. SHELL is a shell of your own in a copy (\`corral shell\`). \`diff\` with one
snapshot compares it with the files as they are now. \`restore\` ends what runs in the workspace and restores its files, or only the files and
folders you name, from the top of the workspace. It takes a snapshot first, so you can go back. Your own folder is not touched.
\`corral run --from SNAPSHOT\` starts another session with a snapshot's files. The settings snapshots.days and snapshots.most say how long
snapshots are kept. Ignored files are stored if snapshots.ignored names them.`,
  examples: [
    ["corral snapshots", "show what the latest session did, step by step"],
    ["corral snapshots diff snp_…", "show what changed since then"],
    ["corral snapshots restore snp_… src/parser.ts", "bring one file back"],
    ['corral run --from snp_… "try it another way"', "start another session from there"],
  ],
  args: {
    stat: { type: "boolean", description: "with diff: show only the files and their numbers of lines" },
    json: { type: "boolean", description: "print each snapshot as a line of JSON" },
  },
  words: "any",
  choices: ["take", "diff", "restore"],
});

export const commands: readonly Command[] = [command(snapshots, () => import("./snapshots.ts"))];
