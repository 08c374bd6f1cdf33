import { parseArgs } from "node:util";
import { allMet, type Outcome } from "./verdict.ts";

/** A part of a benchmark: prints what it measured and says whether its bars were met. */
export type Part = (rounds: number) => Promise<boolean>;

/** Runs the parts, or those that `--only A,B` names. */
export async function runParts(parts: Readonly<Record<string, Part>>, args: readonly string[]): Promise<Outcome> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "5" },
      only: { type: "string", default: Object.keys(parts).join(",") },
    },
  });
  const met: boolean[] = [];
  for (const name of values.only.split(",")) {
    const part = parts[name];
    if (part === undefined) throw new Error(`There is no part "${name}". There are: ${Object.keys(parts).join(", ")}`);
    met.push(await part(Number(values.rounds)));
  }
  return allMet(met);
}
