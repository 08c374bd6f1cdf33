import { usageBy, type UsageSum } from "@corral/protocol";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { counted, dollars, tokens } from "../terminal/figures.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { table } from "../terminal/wrap.ts";

export const usage = defineCommand({
  name: "usage",
  usage: "usage [--by model|session|project|day] [--json]",
  summary: "Sums up what models were asked, in tokens and dollars.",
  details: `Costs are by the prices of the time of each request; those whose price nobody knows are counted and told. What is removed
with a session is not counted any more.`,
  examples: [
    ["corral usage", "by model"],
    ["corral usage --by day", "day by day, in UTC"],
  ],
  args: {
    by: { type: "string", valueHint: "WHAT", description: `${usageBy.options.join(", ")} (default: model)` },
    json: { type: "boolean", description: "print JSON" },
  },
  words: "none",
  async run({ by = "model", json }, world) {
    const wish = usageBy.safeParse(by);
    if (!wish.success) throw new UsageError(`--by needs ${usageBy.options.join(", ")}, not ${JSON.stringify(by)}`);
    const client = await connectDaemon(world);
    const view = await client.usage({ by: wish.data });
    if (json === true) {
      world.out.write(jsonLine(view));
      return 0;
    }
    const rows = [
      ...view.groups.map((each) => [shown(each.name), wordsOf(each)] as const),
      ["total", wordsOf(view.total)] as const,
    ];
    world.out.write(`${table(rows, world.out.columns)}\n`);
    return 0;
  },
});

function wordsOf(sum: UsageSum): string {
  const { requests, inputTokens, cachedInputTokens, outputTokens, unpriced } = sum;
  const cached = cachedInputTokens === 0 ? "" : ` (${tokens(cachedInputTokens)} from the cache)`;
  const unknown = unpriced === 0 || unpriced === requests ? "" : `, ${unpriced} without a known price`;
  const price = requests > 0 && unpriced === requests ? "no price known" : dollars(sum.costUsd);
  return `${price}  ${counted(requests, "request")}${unknown}  ${tokens(inputTokens)} in${cached}  ${tokens(outputTokens)} out`;
}
