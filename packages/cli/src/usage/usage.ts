import { usageBy, type UsageSum } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { counted, dollars, tokens } from "../terminal/figures.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { table } from "../terminal/wrap.ts";

export const run: Run<typeof declared.usage> = async ({ by = "model", json }, world) => {
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
};

function wordsOf(sum: UsageSum): string {
  const { requests, inputTokens, cachedInputTokens, outputTokens, unpriced } = sum;
  const cached = cachedInputTokens === 0 ? "" : ` (${tokens(cachedInputTokens)} from the cache)`;
  const unknown = unpriced === 0 || unpriced === requests ? "" : `, ${unpriced} without a known price`;
  const price = requests > 0 && unpriced === requests ? "no price known" : dollars(sum.costUsd);
  return `${price}  ${counted(requests, "request")}${unknown}  ${tokens(inputTokens)} in${cached}  ${tokens(outputTokens)} out`;
}
