import { type Command, command, declare } from "../command.ts";

export const usage = declare({
  name: "usage",
  group: "settings",
  summary: "Sum up what the models used, in tokens and dollars",
  example: "corral usage --by day",
  usage: "usage [--by model|session|project|day] [--json]",
  details: `Each request counts with the price at its time. Requests without a known price are counted apart. Deleted sessions
are not included.`,
  examples: [
    ["corral usage", "sum up by model"],
    ["corral usage --by day", "sum up by day, in UTC"],
  ],
  args: {
    by: { type: "string", valueHint: "WHAT", description: "model, session, project or day (default: model)" },
    json: { type: "boolean", description: "print JSON" },
  },
  words: "none",
});

export const commands: readonly Command[] = [command(usage, () => import("./usage.ts"))];
