import { type Command, command, declare } from "../command.ts";

export const dashboard = declare({
  name: "dashboard",
  group: "work",
  usage: "dashboard [--json]",
  summary: "Print a link that opens the dashboard in a browser",
  details: `Prints a link that opens the dashboard in a browser. The link lets one browser in, once, within a minute. Who has it is you: pass it to nobody.`,
  examples: [
    ["corral dashboard", "print a link and open it in a browser"],
    ["corral dashboard --json", "the link for a program, in one line"],
  ],
  args: { json: { type: "boolean", description: "print a line of JSON with the url" } },
  words: "none",
});

export const commands: readonly Command[] = [command(dashboard, () => import("./dashboard.ts"))];
