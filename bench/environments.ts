/**
 * What jails cost: a command and a file in a warm one, a start, and memory. Floors and jails take turns in the same run, each in a
 * process of its own; each figure is the median of the rounds' medians, and what is compared is compared within a round: how fast the machine is changes
 * from one minute to the next.
 *
 *   npm run bench -- environments [--rounds 5] [--only commands,starts,reads,memory]
 */
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { jailsProgram } from "./rig/jails.ts";
import { type Part, runParts } from "./rig/parts.ts";
import { startNode } from "./rig/process.ts";
import { scratchFolder } from "./rig/scratch.ts";
import { atMost, judge, median, type Outcome, say } from "./rig/verdict.ts";

const parts: Readonly<Record<string, Part>> = { commands, starts, reads, memory };

export async function run(args: readonly string[]): Promise<Outcome> {
  const outcome = await runParts(parts, args);
  await figuresOf(jailsProgram, ["sweep", "0", scratch]);
  return outcome;
}

async function commands(rounds: number): Promise<boolean> {
  const [spawned, bare, jailed] = await inTurn(rounds, [
    () => floor("spawn", 40),
    () => floor("shell", 1000),
    () => jails("commands", 1000),
  ]);
  report("a bubblewrap for each command", spawned!);
  report("a bare sh that stays", bare!);
  report("a warm jail's shell", jailed!);
  return [
    atMost("a command in a warm jail against a fresh bubblewrap", median(ratios(jailed!, spawned!)), 0.2),
    atMost("a command in a warm jail above a bare sh", median(differences(jailed!, bare!)), 0.3, " ms"),
  ].every(Boolean);
}

/**
 * Of a jail for a new workspace, with what a process has that opened jails before: a builder waits. The next one is made when the jail
 * stands, while its first command runs, which is not timed.
 */
async function starts(rounds: number): Promise<boolean> {
  const [bare, jailed] = await inTurn(rounds, [() => floor("start", 30), () => jails("starts", 30)]);
  report("a bare bubblewrap until its program speaks", bare!);
  report("a jail until commands can be sent", jailed!);
  return atMost("the start of a jail against a bare bubblewrap", median(ratios(jailed!, bare!)), 2);
}

async function reads(rounds: number): Promise<boolean> {
  const taken = await inTurn(rounds, [() => jails("reads", 300), () => jails("reads-at-once", 50)]);
  const [one, twenty] = taken.map(median);
  return [
    judge(one! < 1, `a file of 10 KB read in ${one!.toFixed(2)} ms (below 1 ms)`),
    judge(twenty! < 5, `twenty of them at once in ${twenty!.toFixed(2)} ms (below 5 ms)`),
  ].every(Boolean);
}

async function memory(): Promise<boolean> {
  const { bytes } = (await figuresOf(jailsProgram, ["memory", "50", newFolder()])) as { readonly bytes: number };
  const megabytes = bytes / 2 ** 20;
  return judge(megabytes < 10, `each of 50 warm jails holds ${megabytes.toFixed(1)} MB (below 10 MB)`);
}

/** What each took in each round; in every round each has its turn. */
async function inTurn(rounds: number, measures: readonly (() => Promise<number>)[]): Promise<number[][]> {
  const taken = measures.map((): number[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, measure] of measures.entries()) taken[index]!.push(await measure());
  return taken;
}

function ratios(those: readonly number[], floors: readonly number[]): number[] {
  return those.map((value, round) => value / floors[round]!);
}

function differences(those: readonly number[], floors: readonly number[]): number[] {
  return those.map((value, round) => value - floors[round]!);
}

async function floor(what: string, count: number): Promise<number> {
  return ((await figuresOf("bench/floors/shells.ts", [what, String(count)])) as Figures).median;
}

async function jails(what: string, count: number): Promise<number> {
  return ((await figuresOf(jailsProgram, [what, String(count), newFolder()])) as Figures).median;
}

interface Figures {
  readonly median: number;
}

const scratch = scratchFolder("corral-bench-environments-");
let folders = 0;

function newFolder(): string {
  folders += 1;
  const folder = join(scratch, String(folders));
  mkdirSync(folder);
  return folder;
}

async function figuresOf(program: string, args: readonly string[]): Promise<unknown> {
  const { child, said } = await startNode([program, ...args], process.env);
  // The next one has the machine to itself.
  if (child.exitCode === null) await once(child, "exit");
  return said;
}

function report(what: string, values: readonly number[]): void {
  say(`${what}: ${median(values).toFixed(2)} ms (${values.map((each) => each.toFixed(2)).join(" ")})`);
}
