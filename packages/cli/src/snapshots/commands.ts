import { type Command, command, declare } from "../command.ts";

export const snapshots = declare({
  name: "snapshots",
  group: "work",
  usage:
    "snapshots [SESSION|SHELL] [--json] | snapshots take [SESSION|SHELL] | snapshots diff SNAPSHOT [OTHER] [--stat] | snapshots restore SNAPSHOT [PATH…]",
  summary: "Show what the workspace of a session or shell held, step by step, and bring files back",
  details: `Shows what the workspace of a session or a shell held, moment by moment, compares two of them, or brings files back. Corral keeps the files of a workspace, tracked or not, after each step that changed them, outside of your repository.
Without SESSION it is the latest one of this project; SHELL is a shell of your own in a copy (\`corral shell\`). \`diff\` with one snapshot compares with the files as they are now.
\`restore\` ends what runs in the workspace and makes its files (or the files and folders named, from the top of the workspace)
what they were then; what there was before is a snapshot of its own, so that you can go back. Your own folder is not touched.
\`corral run --from SNAPSHOT\` begins another session with what a snapshot holds. How long they are kept is said by the settings
snapshots.days and snapshots.most; ignored files are kept where snapshots.ignored names them.`,
  examples: [
    ["corral snapshots", "what the latest session did, step by step"],
    ["corral snapshots diff snp_…", "what changed since then"],
    ["corral snapshots restore snp_… src/parser.ts", "bring one file back"],
    ['corral run --from snp_… "try it another way"', "begin another session from there"],
  ],
  example: "corral snapshots diff snp_…",
  args: {
    stat: { type: "boolean", description: "with diff: only the files and how many lines of each" },
    json: { type: "boolean", description: "print each as a line of JSON" },
  },
  words: "any",
  choices: ["take", "diff", "restore"],
});

export const commands: readonly Command[] = [command(snapshots, () => import("./snapshots.ts"))];
