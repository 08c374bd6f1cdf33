import { type Command, command, declare } from "../command.ts";

/** What `corral` does without a command. */
export const home = declare({
  name: "home",
  group: "help",
  summary: "Register this repository, and show where things are and what you can do now",
  usage: "[--json]",
  details: "The daemon is started if none runs. On a terminal, you can choose what to do next.",
  examples: [["corral", "in a repository, to begin with"]],
  args: { json: { type: "boolean", description: "print the project as a line of JSON" } },
  words: "none",
});

export const welcome: Command = command(home, () => import("./welcome.ts"));
