import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@corral/client";
import {
  CorralError,
  type InputId,
  newId,
  type RehearsalScript,
  type SessionId,
  type WireEvent,
} from "@corral/protocol";
import { expect, test } from "vitest";
import { cgroupsFor, checkHistory, integrityTroubles, processesWith } from "./history-checker.ts";
import { allHeard, isRunning, listen, type ServedDaemon, setStage, type Stage } from "./story.ts";

const kills = 20;
const sessionCount = 3;

/** Now and then two commands side by side, now and then words; each command leaves a mark of its own. */
const script: RehearsalScript = {
  turns: Array.from({ length: 2_000 }, (_, turn) => ({
    reply: [
      { say: `Turn ${turn}.`, pieces: 3 },
      { wait: turn % 7 },
      ...(turn % 2 === 0 ? ["a", "b"] : []).map((one) => ({
        call: "shell",
        arguments: { command: `echo done >> mark-${turn}-${one}; sleep 0.0${turn % 5}` },
      })),
    ],
  })),
};

test("under load, killed at random again and again, nothing accepted is lost and nothing is done twice", async () => {
  const seed = Number(process.env["CORRAL_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`torture: CORRAL_SEED=${seed}`);
  const random = randomFrom(seed);
  await using stage = await setStage({ runners: 2 });
  mkdirSync(join(stage.home, "rehearsals"), { recursive: true });
  writeFileSync(join(stage.home, "rehearsals", "load.json"), JSON.stringify(script));
  let daemon = await stage.serve();
  const leaving = new AbortController();
  const { events: heard, end } = listen(stage, { signal: leaving.signal });
  const project = await stage.client().projects.register({ path: stage.repository });
  const enough = new AbortController();
  const acknowledged: InputId[] = [];
  const talks = Array.from({ length: sessionCount }, async (_, n) => {
    const session = await persistently(stage, (client) =>
      client.sessions.create({ projectId: project.id, model: "rehearsal/load" }),
    );
    await talk(stage, session.id, { heard, acknowledged, enough: enough.signal, delivery: n % 2 ? "queue" : "steer" });
  });

  /** How much had been heard at each. */
  const killedAt: number[] = [];
  for (let kill = 1; kill <= kills; kill++) {
    // Something was got done since the last one, more than asking again, wherever that leaves everybody now.
    await grown(heard, 6 + Math.floor(random() * 20));
    const thirdLast = killedAt.at(-3) ?? 0;
    await expect.poll(() => unsettled(heard, thirdLast), { timeout: 300_000, interval: 2 }).toEqual([]);
    await delay(random() * 20);
    killedAt.push(heard.length);
    daemon = await killOne(stage, daemon, random);
  }
  enough.abort();
  await Promise.all(talks);
  const events = await allHeard(stage, heard);
  const told = heard.slice(0, events.length);
  leaving.abort();
  await end;

  const workspaceOf = (session: string) => join(stage.home, "workspaces", session);
  expect(checkHistory({ events, heard: told, acknowledged, workspaceOf })).toEqual([]);
  expect(integrityTroubles(join(stage.home, "corral.db"))).toEqual([]);
  expect(events.filter(({ type }) => type === "call.unknown")).toEqual([]);
  expect(acknowledged.length).toBeGreaterThanOrEqual(sessionCount);
  expect(await stage.corral("stop", "--now").exit).toBe(0);
  await expect.poll(() => processesWith(dirname(stage.home))).toEqual([]);
  expect(cgroupsFor(stage.home)).toEqual([]);
}, 600_000);

/** The daemon, or, twice as often, one of its runners. */
async function killOne(stage: Stage, daemon: ServedDaemon, random: () => number): Promise<ServedDaemon> {
  const runners = daemon.runners();
  const victim = runners[Math.floor(random() * 1.5 * runners.length)];
  if (victim !== undefined) {
    if (isRunning(victim)) process.kill(victim, "SIGKILL");
    return daemon;
  }
  await daemon.kill();
  return stage.serve();
}

interface Talk {
  readonly heard: readonly WireEvent[];
  readonly acknowledged: InputId[];
  readonly enough: AbortSignal;
  readonly delivery: "steer" | "queue";
}

/** Says one thing after the other, two at a time, and waits until what was said has been dealt with. */
async function talk(stage: Stage, session: SessionId, { heard, acknowledged, enough, delivery }: Talk): Promise<void> {
  while (!enough.aborted) {
    const inputs = [newId("input"), newId("input")];
    for (const id of inputs) {
      await persistently(stage, (client) => client.sessions.admit(session, { id, text: "go on", delivery }));
      acknowledged.push(id);
    }
    await expect.poll(() => inputs.every((id) => isOver(heard, id)), { timeout: 300_000, interval: 20 }).toBe(true);
  }
}

function isOver(heard: readonly WireEvent[], input: InputId): boolean {
  const promoted = heard.find(({ type, data }) => type === "input.promoted" && (data as { id: string }).id === input);
  if (promoted === undefined) return false;
  const { activityId } = promoted.data as { activityId: string };
  return heard.some(({ type, data }) => type === "activity.settled" && (data as { id: string }).id === activityId);
}

async function grown(heard: readonly WireEvent[], by: number): Promise<void> {
  const wanted = heard.length + by;
  await expect.poll(() => heard.length, { timeout: 300_000, interval: 2 }).toBeGreaterThanOrEqual(wanted);
}

/**
 * Turns that were begun before and have not ended. One that has been killed five times, or whose runner has, fails, as it should, and would do so here by
 * bad luck alone.
 */
function unsettled(heard: readonly WireEvent[], begunBefore: number): string[] {
  const open = new Set<string>();
  for (const [at, { type, data }] of heard.entries()) {
    const { id } = data as { id: string };
    if (type === "turn.prepared" && at < begunBefore) open.add(id);
    if (type === "turn.settled") open.delete(id);
  }
  return [...open];
}

/** Asks whichever daemon there is, until one answers; only what asking again cannot mend is thrown. */
async function persistently<T>(stage: Stage, ask: (client: Client) => Promise<T>): Promise<T> {
  const deadline = Date.now() + 300_000;
  for (;;) {
    try {
      return await ask(stage.client());
    } catch (error) {
      const isFinal = error instanceof CorralError && error.code !== "daemon.unreachable" && error.retry === "never";
      if (isFinal || Date.now() > deadline) throw error;
      await delay(20);
    }
  }
}

/** Mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
