import { type Command, command, declare } from "../command.ts";

export const usage = declare({
  name: "usage",
  group: "settings",
  usage: "usage [--by model|session|project|day] [--json]",
  summary: "Sum up what models were asked, in tokens and dollars",
  details: `Sums up what models were asked, in tokens and dollars. Costs are by the prices of the time of each request; those whose price nobody knows are counted and told. What is removed
with a session is not counted any more.`,
  examples: [
    ["corral usage", "by model"],
    ["corral usage --by day", "day by day, in UTC"],
  ],
  example: "corral usage --by day",
  args: {
    by: { type: "string", valueHint: "WHAT", description: "model, session, project, day (default: model)" },
    json: { type: "boolean", description: "print JSON" },
  },
  words: "none",
});

export const commands: readonly Command[] = [command(usage, () => import("./usage.ts"))];
