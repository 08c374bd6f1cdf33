import { type Command, command, declare } from "../command.ts";

export const demo = declare({
  name: "demo",
  group: "work",
  summary: "Watch an agent fix a failing test, without a key; nothing is left behind",
  usage: "demo [--yes] [--keep]",
  details: `The agent's words come from a script. Everything else is real: the daemon, the jail, the commands, the question, the branch
and the merge. The demo has its own home and its own daemon in a temporary folder, needs no network, and removes everything when it ends.
Ctrl-C ends it at any time. Without a terminal, the question is answered automatically.`,
  examples: [
    ["corral demo", "see what Corral does, in about fifteen seconds"],
    ["corral demo --keep", "look around afterwards"],
  ],
  args: {
    yes: { type: "boolean", description: "ask nothing: the question gets its default answer" },
    keep: { type: "boolean", description: "keep the repository and the log, and print where they are" },
  },
  words: "none",
});

export const commands: readonly Command[] = [command(demo, () => import("./demo.ts"))];
