import type { ModelView } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { table } from "../terminal/wrap.ts";

export const run: Run<typeof declared.models> = async ({ all, json }, world) => {
  const client = await connectDaemon(world);
  const known = await client.models();
  const models = known.filter(({ isReachable }) => all === true || isReachable);
  if (json === true) for (const each of models) world.out.write(jsonLine(each));
  else if (models.length > 0)
    world.out.write(
      `${table(
        models.map((each) => [shown(each.name), factsOf(each)] as const),
        world.out.columns,
      )}\n`,
    );
  if (models.length === 0 && json !== true)
    world.err.write(
      "No provider has a key; `corral auth login PROVIDER` stores one; `corral models --all` lists all models.\n",
    );
  return 0;
};

function factsOf({ facts, source }: ModelView): string {
  const { context, prices, images, reasoning } = facts;
  const price = prices?.input === undefined || prices.output === undefined ? undefined : [prices.input, prices.output];
  return [
    context === undefined ? undefined : `${Math.round(context / 1000)}k`,
    price?.map((each) => `$${typeof each === "number" ? each : `${each.base}+`}`).join("/"),
    images === true ? "images" : undefined,
    reasoning === true ? "reasoning" : undefined,
    source === "settings" ? "by your settings" : undefined,
  ]
    .filter((each) => each !== undefined)
    .join("  ");
}
