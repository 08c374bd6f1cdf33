import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CorralError, type InputId, isKnown, newId, type StoredEvent } from "@corral/protocol";
import { expect, test } from "vitest";
import { startTestDaemon, type TestDaemon, type TestSession } from "../testing/index.ts";

const by = { actor: "person:test" };

/** Words, a call now and then, a question now and then. */
const script = {
  turns: Array.from({ length: 500 }, (_, turn) => ({
    reply: [
      { say: `Turn ${turn}.`, pieces: 2 },
      ...(turn % 3 === 0 ? [{ call: "shell", arguments: { command: `echo ${turn}; sleep 0.0${turn % 4}` } }] : []),
      ...(turn % 4 === 1 ? [{ call: "ask", arguments: { question: "Go on?" } }] : []),
    ],
  })),
};

/** `CORRAL_SEED=4,5,6` tries others. */
const seeds = (process.env["CORRAL_SEED"] ?? "1,2").split(",").map(Number);

test.each(seeds)(
  "whatever people do to sessions (seed %i), what was said and not taken back is heard once, and all come to rest",
  { timeout: 120_000 },
  async (seed) => {
    const random = randomFrom(seed);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
    await using daemon = await startTestDaemon({
      limits: { "sessions.atOnce": 1 },
      waitingMs: 0,
      wish: { model: "rehearsal/any", turnLimit: 2 },
    });
    mkdirSync(join(daemon.home, "rehearsals"), { recursive: true });
    writeFileSync(join(daemon.home, "rehearsals", "any.json"), JSON.stringify(script));
    const another = () => daemon.another({ model: "rehearsal/any", turnLimit: 2 });
    const sessions = [daemon.session, await another(), await another()];
    const said = new Map<InputId, TestSession>();
    const deeds: readonly ((session: TestSession) => Promise<unknown>)[] = [
      ...Array.from({ length: 4 }, () => async (session: TestSession) => {
        const id = newId("input");
        said.set(id, session);
        await session.prompt("go on", { id, delivery: pick(["steer", "queue"] as const) });
      }),
      ...(["cancel", "flip", "edit", "promote"] as const).map((change) => async (session: TestSession) => {
        const [input] = (await daemon.sessions.inbox(session.id)).inputs.toSorted(() => random() - 0.5);
        if (input === undefined) return;
        const wish = {
          cancel: { change: "cancel" },
          flip: { change: "flip", delivery: pick(["steer", "queue"] as const) },
          edit: { change: "edit", text: "go on, please" },
          promote: { change: "promote", to: pick(["front", "now"] as const) },
        } as const;
        await daemon.sessions.change(session.id, input.id, wish[change], by);
      }),
      ({ id }) => daemon.sessions.interrupt(id, by, pick(["now", "boundary"])),
      ({ id }) => daemon.sessions.decideQueue(id, pick(["park", "resume"]), by),
      ({ id }) => daemon.sessions.continue(id, by),
      ({ id }) => daemon.sessions.archive(id, by),
      ({ id }) => answer(daemon, id),
    ];
    for (let n = 0; n < 60; n++) {
      const deed = pick(deeds)(pick(sessions)).catch((error: unknown) => {
        if (!(error instanceof CorralError) || !expected.has(error.code)) throw error;
      });
      if (random() < 0.6) await deed;
      for (let ticks = random() * 20; ticks > 0; ticks--) await new Promise((resolve) => setImmediate(resolve));
    }
    // From here on a person does only what the state asks for: nobody is to be nudged.
    const rest = async () => {
      for (const { id, state, isArchived } of await daemon.sessions.list()) {
        if (isArchived) await daemon.sessions.unarchive(id, by);
        if (state.state === "parked") await daemon.sessions.decideQueue(id, "resume", by);
        if (state.state === "waiting" && state.on === "continue") await daemon.sessions.continue(id, by);
        if (state.state === "waiting" && state.on === "question") await answer(daemon, id).catch(() => undefined);
      }
      return (await daemon.sessions.list()).map(({ state, inbox }) => [state.state, inbox.waiting]);
    };
    await expect.poll(rest, { timeout: 90_000, interval: 50 }).toEqual(sessions.map(() => ["idle", 0]));
    expect((await Promise.all(sessions.map((session) => session.events()))).flatMap(troublesIn)).toEqual([]);
    expect(daemon.defects).toEqual([]);
    for (const [id, session] of said) expect([id, fateOf(await session.events(), id)]).toEqual([id, "one"]);
  },
);

const expected = new Set([
  "input.promoted",
  "input.cancelled",
  "input.changed",
  "session.busy",
  "question.closed",
  "not-found",
]);

async function answer({ questions }: TestDaemon, session: TestSession["id"]): Promise<void> {
  const [question] = await questions.list({ session });
  if (question !== undefined) await questions.answer(question.id, { text: "yes" }, by);
}

/** Taken up or taken back, once. */
function fateOf(events: readonly StoredEvent[], id: InputId): string {
  const ends = events.filter(
    ({ type, data }) => (type === "input.promoted" || type === "input.cancelled") && "id" in data && data.id === id,
  );
  return ends.length === 1 ? "one" : ends.map(({ type }) => type).join(" and ") || "none";
}

/** One activity at a time, each with one end, and so with turns and calls. */
function troublesIn(events: readonly StoredEvent[]): string[] {
  const troubles: string[] = [];
  let open: string | undefined;
  const counts = new Map<string, number>();
  for (const { type, data } of events.filter((each) => isKnown(each))) {
    if (type === "activity.opened") {
      if (open !== undefined) troubles.push(`${data.id} was opened in ${open}`);
      open = data.id;
    }
    if (type === "activity.settled") {
      if (open !== data.id) troubles.push(`${data.id} was settled in ${open}`);
      if (data.outcome === "failed") troubles.push(`${data.id} failed: ${data.error?.message}`);
      open = undefined;
    }
    if (type === "turn.prepared" || type === "call.requested") counts.set(data.id, 0);
    if (/^(turn\.settled|call\.(settled|failed|declined|interrupted|unknown))$/.test(type) && "id" in data)
      counts.set(data.id, (counts.get(data.id) ?? 0) + 1);
  }
  return [...troubles, ...[...counts].filter(([, ends]) => ends !== 1).map(([id, ends]) => `${id} has ${ends} ends`)];
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
