/**
 * What Corral adds to a tool turn: jailed, durable, at its defaults, against bare loops that are
 * neither. Floors and Corral take turns in the same run; each figure is the median of the rounds. A turn is compared in pairs: the
 * bare loop and right after it Corral, several times in each round, and what counts is the median of the pairs' ratios, for a machine that
 * is busy with something else for a second is so for both.
 *
 *   npm run bench -- turns [--rounds 5] [--floors-only]
 */
import { parseArgs } from "node:util";
import { type Corral, startCorral } from "./rig/corral.ts";
import { measureFloor } from "./rig/floor.ts";
import { startModel } from "./rig/model.ts";
import { nodesOf, proportionalBytes, residentBytes, restOf, writtenBytes } from "./rig/tree.ts";
import { allMet, atMost, median, type Outcome, say } from "./rig/verdict.ts";

const turns = 50;
const pairs = 3;
const sessions = 20;
const turnsEach = 10;

interface Figures {
  readonly ms: number;
  readonly rss: number;
  readonly pss?: number;
  readonly written?: number;
}

export async function run(args: readonly string[]): Promise<Outcome> {
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: { type: "string", default: "5" }, "floors-only": { type: "boolean", default: false } },
  });
  const model = await startModel();
  const seen = { bare: [] as Figures[], alone: [] as Figures[], jailed: [] as Figures[], many: [] as Figures[] };
  try {
    for (let round = 1; round <= Number(values.rounds); round++) {
      const comparing = values["floors-only"] ? undefined : await startCorral(model.url);
      try {
        for (let pair = 0; pair < pairs; pair++) {
          const session = await comparing?.createSession();
          if (session !== undefined) await comparing?.prompt([session], "[[shell: echo warm]]");
          if (comparing !== undefined) await restOf(comparing.pid);
          seen.bare.push(await measureFloor("bare-loop", [model.url, turns]));
          if (comparing !== undefined && session !== undefined)
            seen.alone.push(await measurePrompt(comparing, [session], turns));
        }
      } finally {
        await comparing?.stop();
      }
      seen.jailed.push(await measureFloor("jailed-loops", [model.url, sessions, turnsEach]));
      if (!values["floors-only"]) seen.many.push(await measureCorral(model.url, sessions, turnsEach));
      say(
        `round ${round}: ${Object.entries(seen)
          .map(([name, of]) => `${name} ${ms(of.at(-1)?.ms)}`)
          .join(", ")}`,
      );
    }
  } finally {
    await model.stop();
  }
  report("bare loop, 1 × 50 turns", seen.bare, turns);
  report("bare loops with bubblewrap, 20 × 10 turns", seen.jailed, sessions * turnsEach);
  if (values["floors-only"]) return "met";
  report("Corral, 1 session × 50 turns", seen.alone, turns);
  report("Corral, 20 sessions × 10 turns", seen.many, sessions * turnsEach);
  const bars = [
    atMost("a turn against the bare loop", pairedRatio(seen.alone, seen.bare), 1.5),
    atMost("20 sessions against loops with bubblewrap", ratio(seen.many, seen.jailed), 1.3),
    atMost("memory of 20 sessions", Math.max(...seen.many.map(({ rss }) => rss)) / 1e6, 350, " MB"),
    atMost("written a turn", median(seen.alone.map(({ written = 0 }) => written)) / turns / 1024, 64, " KB"),
  ];
  return allMet(bars);
}

/** A fresh daemon, its sessions warmed by one turn each, then the prompt that counts. */
async function measureCorral(modelUrl: string, count: number, turnsOfEach: number): Promise<Figures> {
  const corral = await startCorral(modelUrl);
  try {
    const ids = await Promise.all(Array.from({ length: count }, () => corral.createSession()));
    await corral.prompt(ids, "[[shell: echo warm]]");
    return await measurePrompt(corral, ids, turnsOfEach);
  } finally {
    await corral.stop();
  }
}

async function measurePrompt(corral: Corral, ids: readonly string[], turnsOfEach: number): Promise<Figures> {
  const memory = watchMemory(corral.pid);
  const before = writtenBytes(nodesOf(corral.pid));
  const { ms: taken, calls } = await corral.prompt(ids, `[[repeat ${turnsOfEach} shell: echo {n}]]`);
  const written = writtenBytes(nodesOf(corral.pid)) - before;
  const expected = ids.length * turnsOfEach;
  if (calls !== expected) throw new Error(`${calls} commands ran instead of ${expected}`);
  return { ms: taken, written, rss: memory.stop(), pss: proportionalBytes(nodesOf(corral.pid)) };
}

/** The highest memory of the daemon and its runners, looked at ten times a second and at the end. */
function watchMemory(pid: number): { stop(): number } {
  let highest = 0;
  const look = () => (highest = Math.max(highest, residentBytes(nodesOf(pid))));
  const timer = setInterval(look, 100);
  return {
    stop() {
      clearInterval(timer);
      return look();
    },
  };
}

function report(what: string, of: readonly Figures[], count: number): void {
  const times = of.map((figures) => figures.ms);
  const mega = (bytes: number | undefined) => (bytes === undefined ? "" : `${(bytes / 1e6).toFixed(0)} MB`);
  say(`\n${what}`);
  say(`  median ${ms(median(times))}, best ${ms(Math.min(...times))}`);
  say(`  a turn ${ms(median(times) / count)}, best ${ms(Math.min(...times) / count)}`);
  say(`  resident at most ${mega(Math.max(...of.map(({ rss }) => rss)))}, proportional ${mega(of.at(-1)?.pss) || "-"}`);
  const written = of.flatMap((figures) => figures.written ?? []);
  if (written.length > 0) say(`  written a turn ${(median(written) / count / 1024).toFixed(1)} KB`);
}

/** The median of the pairs' ratios; that of the medians and of the best is printed beside. */
function pairedRatio(of: readonly Figures[], floor: readonly Figures[]): number {
  const ratios = of.map(({ ms: taken }, at) => taken / floor[at]!.ms);
  say(`\nof the medians: ${ratio(of, floor).toFixed(2)}×; pairs: ${ratios.map((each) => each.toFixed(2)).join(" ")}`);
  return median(ratios);
}

/** Of the medians; that of the best rounds is printed beside. */
function ratio(of: readonly Figures[], floor: readonly Figures[]): number {
  const times = (figures: readonly Figures[]) => figures.map((each) => each.ms);
  say(`\nbest against best: ${(Math.min(...times(of)) / Math.min(...times(floor))).toFixed(2)}×`);
  return median(times(of)) / median(times(floor));
}

function ms(value: number | undefined): string {
  return value === undefined ? "-" : `${value.toFixed(value < 100 ? 2 : 0)} ms`;
}
