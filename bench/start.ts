/**
 * How soon a command answers, against Node starting with nothing to do. A daemon runs; bare starts and Corral's take
 * turns; each figure is the median of the rounds.
 *
 *   npm run bench -- start [--rounds 21]
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root, startNode, stop } from "./rig/process.ts";
import { scratchFolder } from "./rig/scratch.ts";
import { allMet, atMost, median, type Outcome, say } from "./rig/verdict.ts";

const cli = join(root, "dist", "cli.js");

export async function run(args: readonly string[]): Promise<Outcome> {
  const { values } = parseArgs({ args: [...args], options: { rounds: { type: "string", default: "21" } } });
  if (!existsSync(cli)) throw new Error("There is no bundle yet: npm run build");
  const folder = scratchFolder("corral-start-");
  mkdirSync(join(folder, "home"));
  const env = { PATH: process.env["PATH"], HOME: folder, CORRAL_HOME: join(folder, "home"), NO_COLOR: "1" };
  const { child } = await startNode([cli, "serve", "--json"], env);
  const starts = {
    "node -e 0": () => timed(process.execPath, ["-e", "0"], env),
    "corral --version (bundle)": () => timed(process.execPath, [cli, "--version"], env),
    "corral status (bundle)": () => timed(process.execPath, [cli, "status"], env),
    "corral status (launcher, from sources)": () => timed(join(root, "corral"), ["status"], env),
    "corral sessions (bundle)": () => timed(process.execPath, [cli, "sessions"], env),
  };
  try {
    const seen = measure(starts, Number(values.rounds));
    return report(seen);
  } finally {
    await stop(child);
  }
}

type Seen = ReadonlyMap<string, readonly number[]>;

/** The first round of each fills caches and is not counted. */
function measure(starts: Readonly<Record<string, () => number>>, rounds: number): Seen {
  const seen = new Map(Object.keys(starts).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round++)
    for (const [name, start] of Object.entries(starts)) {
      const ms = start();
      if (round > 0) seen.get(name)?.push(ms);
    }
  return seen;
}

function timed(program: string, args: readonly string[], env: NodeJS.ProcessEnv): number {
  const begin = performance.now();
  const { status, stderr } = spawnSync(program, args, { env, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
  const ms = performance.now() - begin;
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stderr}`);
  return ms;
}

function report(seen: Seen): Outcome {
  const bare = median(seen.get("node -e 0") ?? []);
  for (const [name, times] of seen) {
    const middle = median(times);
    say(
      `${name}: ${middle.toFixed(1)} ms, best ${Math.min(...times).toFixed(1)} ms, ${(middle / bare).toFixed(2)}× bare`,
    );
  }
  const status = median(seen.get("corral status (bundle)") ?? []);
  const bars = [
    atMost("a warm status against a bare start", status / bare, 2.5, "×"),
    atMost("a warm status", status, 120, " ms"),
  ];
  return allMet(bars);
}
