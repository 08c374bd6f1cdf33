/** `npm run bench -- NAME [args]` runs `bench/NAME.ts` on a fresh bundle; the exit code tells whether every bar was met. */
import { readdirSync } from "node:fs";
import { build } from "../scripts/build.ts";
import { useSteadyDisk } from "./rig/disk.ts";
import { type Outcome, say } from "./rig/verdict.ts";

interface Benchmark {
  /** Resolves with whether every bar was met. */
  readonly run: (args: readonly string[]) => Promise<Outcome>;
}

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".ts") && file !== "run.ts")
  .map((file) => file.slice(0, -3))
  .toSorted();

const [name = "", ...args] = process.argv.slice(2);
if (!names.includes(name)) {
  const complaint = name === "" ? "Which benchmark?" : `There is no benchmark "${name}".`;
  process.stderr.write(`${complaint} There are: ${names.join(", ")}\n`);
  process.exit(2);
}
const aboutDisk = useSteadyDisk();
if (aboutDisk !== undefined) say(aboutDisk);
await build();
const { run } = (await import(`./${name}.ts`)) as Benchmark;
process.exit((await run(args)) === "met" ? 0 : 1);
