import { type Command, command, declare } from "../command.ts";

export const dashboard = declare({
  name: "dashboard",
  group: "work",
  summary: "Print a link that opens the dashboard in a browser",
  usage: "dashboard [--json]",
  details: "The link works once, in one browser, for one minute. Whoever opens it acts as you: share it with nobody.",
  examples: [
    ["corral dashboard", "print a link to open in a browser"],
    ["corral dashboard --json", "print the link for a program, in one line"],
  ],
  args: { json: { type: "boolean", description: "print a line of JSON with the url" } },
  words: "none",
});

export const commands: readonly Command[] = [command(dashboard, () => import("./dashboard.ts"))];
