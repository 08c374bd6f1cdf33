/**
 * What the log costs beside bare SQLite doing the same with the same rows, as durably. Floors and the port take turns in
 * the same run, each in a process and a file of its own; each figure is the median of the rounds.
 *
 *   npm run bench -- log [--rounds 5] [--only appends,lone,reads]
 */
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { logPort } from "./rig/log-port.ts";
import { type Part, runParts } from "./rig/parts.ts";
import { startNode } from "./rig/process.ts";
import { scratchFolder } from "./rig/scratch.ts";
import { atLeast, atMost, median, type Outcome, say } from "./rig/verdict.ts";

const parts: Readonly<Record<string, Part>> = { appends, lone, reads };

export function run(args: readonly string[]): Promise<Outcome> {
  return runParts(parts, args);
}

/** 64 that append one event at a time, against one writer that has its batches of ten at hand. */
async function appends(rounds: number): Promise<boolean> {
  const count = 19_200;
  const { floor, port } = await compare(rounds, count, { floor: "batches", port: "appenders" });
  report("raw SQLite, batches of ten, FULL sync", floor, count);
  report("the log, 64 appenders of one event each", port, count);
  return atLeast("throughput of 64 appenders against raw batches of ten", median(floor) / median(port), 0.6);
}

/** The wait of one that appends alone, against that of a bare commit. */
async function lone(rounds: number): Promise<boolean> {
  const count = 2000;
  const { floor, port } = await compare(rounds, count, { floor: "lone", port: "lone" });
  report("raw SQLite, a row a commit, FULL sync", floor, count);
  report("the log, one appender", port, count);
  return atMost("a lone append against a bare commit", median(port) / median(floor), 1.5);
}

async function reads(rounds: number): Promise<boolean> {
  const count = 100_000;
  const { floor, port } = await compare(rounds, count, { floor: "reads", port: "reads" });
  report("raw SQLite, all columns, data parsed", floor, count);
  report("the log, read in pages", port, count);
  return atLeast("100,000 events read, against raw reads", median(floor) / median(port), 0.5);
}

interface Times {
  readonly floor: number[];
  readonly port: number[];
}

async function compare(
  rounds: number,
  count: number,
  what: { readonly floor: string; readonly port: string },
): Promise<Times> {
  const times: Times = { floor: [], port: [] };
  for (let round = 1; round <= rounds; round++) {
    times.floor.push(await timeOf("bench/floors/raw-log.ts", what.floor, count));
    times.port.push(await timeOf(logPort, what.port, count));
    say(`round ${round}: raw ${what.floor} ${ms(times.floor.at(-1))}, log ${what.port} ${ms(times.port.at(-1))}`);
  }
  return times;
}

const scratch = scratchFolder("corral-bench-log-");
let files = 0;

async function timeOf(program: string, what: string, count: number): Promise<number> {
  files += 1;
  const folder = join(scratch, String(files));
  mkdirSync(folder);
  const { child, said } = await startNode([program, what, join(folder, "log.db"), String(count)], process.env);
  // The next one has the disk to itself.
  if (child.exitCode === null) await once(child, "exit");
  return (said as { readonly ms: number }).ms;
}

function report(what: string, times: readonly number[], count: number): void {
  const each = (time: number) => `${((1000 * time) / count).toFixed(1)} µs`;
  const rate = (time: number) => `${((1000 * count) / time).toFixed(0)} a second`;
  const best = Math.min(...times);
  say(`\n${what}`);
  say(`  median ${each(median(times))} an event, ${rate(median(times))}; best ${each(best)}, ${rate(best)}`);
}

function ms(value: number | undefined): string {
  return value === undefined ? "-" : `${value.toFixed(0)} ms`;
}
