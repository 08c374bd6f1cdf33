import { type Command, command, declare } from "../command.ts";

export const demo = declare({
  name: "demo",
  group: "work",
  usage: "demo [--yes] [--keep]",
  summary: "See an agent mend a failing test, without a key; nothing of it is left",
  details: `Shows an agent mend a failing test in a throwaway repository, without a key and without network. What the agent says is a script. All else is real: the daemon, the jail, the commands, the question, the branch and the
merge. It has a home and a daemon of its own in a temporary folder, and nothing of it is left afterwards; Ctrl-C ends it at any
time. The question is answered by itself where nobody sits at a terminal.`,
  examples: [
    ["corral demo", "see what Corral does, in some fifteen seconds"],
    ["corral demo --keep", "and look around afterwards"],
  ],
  args: {
    yes: { type: "boolean", description: "ask nothing: the question gets its usual answer" },
    keep: { type: "boolean", description: "leave the repository and the log there, and say where" },
  },
  words: "none",
});

export const commands: readonly Command[] = [command(demo, () => import("./demo.ts"))];
