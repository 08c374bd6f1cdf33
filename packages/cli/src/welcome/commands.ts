import { type Command, command, declare } from "../command.ts";

/** What `corral` does without a command. */
export const home = declare({
  name: "home",
  group: "help",
  usage: "[--json]",
  summary:
    "Makes this repository known, starts the daemon if none runs, says where things are and, at a terminal, what can be done now.",
  examples: [["corral", "in a repository, to begin with"]],
  args: { json: { type: "boolean", description: "print the project as a line of JSON" } },
  words: "none",
});

export const welcome: Command = command(home, () => import("./welcome.ts"));
