/**
 * What many readers of a long history cost the daemon: each gets every event, once and in order, and none makes it hold
 * much. The floor is a bare server that sends as many bytes to as many readers.
 *
 *   npm run bench -- streams [--readers 100] [--events 10000] [--rounds 3]
 */
import { type IncomingMessage, request } from "node:http";
import { parseArgs } from "node:util";
import { type Corral, startCorral } from "./rig/corral.ts";
import { get } from "./rig/follow.ts";
import { startModel } from "./rig/model.ts";
import { startNode, stop } from "./rig/process.ts";
import { residentBytes } from "./rig/tree.ts";
import { allMet, atMost, median, type Outcome, say } from "./rig/verdict.ts";

interface Round {
  readonly ms: number;
  /** The most that the server's memory grew by. */
  readonly grown: number;
}

export async function run(args: readonly string[]): Promise<Outcome> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      readers: { type: "string", default: "100" },
      events: { type: "string", default: "10000" },
      rounds: { type: "string", default: "3" },
    },
  });
  const readers = Number(values.readers);
  const model = await startModel();
  const corral = await startCorral(model.url);
  try {
    const count = await fill(corral, Number(values.events));
    const bytes = await readAll(corral, 0, count);
    // All over the first half of the log, and seldom where a page begins.
    const placeOf = (reader: number) => Math.floor((reader * count) / readers / 2);
    const seen = { together: [] as Round[], apart: [] as Round[], bare: [] as Round[] };
    for (let round = 1; round <= Number(values.rounds); round++) {
      await corral.restart();
      seen.together.push(await measure(corral.pid, readers, () => readAll(corral, 0, count)));
      await corral.restart();
      seen.apart.push(await measure(corral.pid, readers, (reader) => readAll(corral, placeOf(reader), count)));
      seen.bare.push(await measureFloor(readers, bytes));
      say(
        `round ${round}: ${Object.entries(seen)
          .map(([name, rounds]) => `${name} ${described(rounds.at(-1))}`)
          .join("; ")}`,
      );
    }
    say(`\n${readers} readers of ${count} events, ${(bytes / 1e6).toFixed(1)} MB each`);
    const grown = (rounds: readonly Round[]) => Math.max(...rounds.map((round) => round.grown)) / 1e6;
    const ratio = (rounds: readonly Round[]) => timeOf(rounds) / timeOf(seen.bare);
    const met = [
      atMost("memory that readers cost the daemon", grown(seen.together), 100, " MB"),
      atMost("the same, of readers who begin at different places", grown(seen.apart), 100, " MB"),
    ];
    say(
      `      readers against a bare server: ${ratio(seen.together).toFixed(2)}× and ${ratio(seen.apart).toFixed(2)}×`,
    );
    return allMet(met);
  } finally {
    await corral.stop();
    await model.stop();
  }
}

/** Sessions that run commands until there are enough events; returns how many there are. */
async function fill(corral: Corral, events: number): Promise<number> {
  const sessions = await Promise.all(Array.from({ length: 10 }, () => corral.createSession()));
  for (;;) {
    const { next } = (await get(`${corral.url}/api/events?after=${events - 1}&limit=1000`, corral.token)) as {
      next: number;
    };
    if (next >= events) return next;
    await corral.prompt(sessions, "[[repeat 50 shell: echo {n}]]");
  }
}

/** Reads until the last event came, and tells how many bytes that were. Fails for an event lost, doubled or out of order. */
async function readAll({ url, token }: Corral, after: number, count: number): Promise<number> {
  const response = await open(`${url}/api/events?follow=1&after=${after}`, token);
  let bytes = 0;
  let seen = after;
  let rest = "";
  for await (const piece of response) {
    const text = rest + (piece as Buffer).toString("latin1");
    bytes += (piece as Buffer).length;
    const end = text.lastIndexOf("\n\n");
    const whole = end < 0 ? 0 : end + 2;
    rest = text.slice(whole);
    for (const [, seq] of text.slice(0, whole).matchAll(/^id: (\d+)$/gm)) {
      if (Number(seq) !== ++seen) throw new Error(`event ${seq} came instead of ${seen}`);
    }
    if (seen >= count) break;
  }
  if (seen < count) throw new Error(`the stream ended after ${seen} of ${count} events`);
  return bytes;
}

async function readBytes(url: string): Promise<number> {
  let bytes = 0;
  for await (const piece of await open(url, "")) bytes += (piece as Buffer).length;
  return bytes;
}

function open(url: string, token: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, headers: { authorization: `Bearer ${token}` } }, resolve);
    sent.once("error", reject).end();
  });
}

async function measureFloor(readers: number, bytes: number): Promise<Round> {
  const { child, said } = await startNode(["bench/floors/bare-streams.ts", String(bytes)], process.env);
  const { url, pid } = said as { url: string; pid: number };
  try {
    return await measure(pid, readers, () => readBytes(url));
  } finally {
    await stop(child);
  }
}

async function measure(pid: number, readers: number, read: (reader: number) => Promise<number>): Promise<Round> {
  const resident = () => residentBytes([{ pid, name: "" }]);
  const before = resident();
  let highest = before;
  const watch = setInterval(() => (highest = Math.max(highest, resident())), 20);
  const start = performance.now();
  await Promise.all(Array.from({ length: readers }, (_, reader) => read(reader)));
  const ms = performance.now() - start;
  clearInterval(watch);
  return { ms, grown: Math.max(highest, resident()) - before };
}

function timeOf(rounds: readonly Round[]): number {
  return median(rounds.map(({ ms }) => ms));
}

function described(round: Round | undefined): string {
  return round === undefined ? "-" : `${round.ms.toFixed(0)} ms, grew by ${(round.grown / 1e6).toFixed(0)} MB`;
}
