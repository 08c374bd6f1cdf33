import { event, type PlaceLimit, type SessionId } from "@corral/protocol";
import { expect, onTestFinished, test } from "vitest";
import { by, input, openBench, type SessionBench } from "../../sessions/testing/bench.ts";
import { type Foreman, openForeman } from "../foreman.ts";
import type { Office, RunEnd, RunnerHost } from "../port.ts";

interface HeldRun {
  readonly session: SessionId;
  readonly office: Office;
  wakes: number;
}

const limits: Record<PlaceLimit, number> = {
  "sessions.atOnce": 1,
  "sessions.atOncePerProject": 100,
  "environments.atOnce": 100,
  "environments.atOncePerProject": 100,
};

/** Runs do nothing of themselves; the test has them do it. */
function employ(bench: SessionBench): { foreman: Foreman; runs: HeldRun[]; run: (of: SessionId) => Promise<HeldRun> } {
  const runs: HeldRun[] = [];
  const host: RunnerHost = {
    start({ session }, office) {
      const run: HeldRun = { session, office, wakes: 0 };
      runs.push(run);
      return {
        wake: () => (run.wakes += 1),
        tell: () => undefined,
        forgetRules: () => undefined,
        open: () => Promise.resolve(),
        ended: new Promise<RunEnd>(() => undefined),
      };
    },
    drain: () => Promise.resolve(),
    close: () => Promise.resolve(),
    setLevel: () => undefined,
    forgetReaches: () => undefined,
    runners: () => [],
  };
  const foreman = openForeman({ log: bench.log, host, placeLimits: () => limits, onDefect: () => undefined });
  onTestFinished(() => foreman.stop(0));
  const run = async (of: SessionId) => {
    await expect.poll(() => runs.some(({ session }) => session === of)).toBe(true);
    return runs.find(({ session }) => session === of)!;
  };
  return { foreman, runs, run };
}

test("the line is the same after a restart: who was at work goes on, the others wait as they stood", async () => {
  const bench = await openBench();
  const [first, second, third] = [bench.id, await bench.another(), await bench.another()];
  const before = employ(bench);
  for (const session of [first, third, second]) {
    await bench.sessions.admit(session, input("go"), by);
    await (await before.run(session)).office.promote({ activity: undefined });
  }
  expect([...before.foreman.standings().keys()]).toEqual([third, second]);
  await before.foreman.stop(0);

  const after = employ(bench);
  await after.foreman.begin();
  const going = await after.run(first);
  expect(await going.office.claimPlace()).toBe(true);
  expect([...after.foreman.standings()]).toEqual([
    [third, { limit: "sessions.atOnce", most: 1, position: 1 }],
    [second, { limit: "sessions.atOnce", most: 1, position: 2 }],
  ]);
  // Nobody is started only to wait.
  expect(after.runs.map(({ session }) => session)).toEqual([first]);
  const told = (await bench.types(third)).filter((type) => type.startsWith("place."));
  expect(told).toEqual(["place.awaited"]);

  const { activity } = (await bench.log.row("sessions", first)) as { activity: `act_${string}` };
  await going.office.append([event("activity.settled", { id: activity, outcome: "done" })]);
  const next = await after.run(third);
  expect((await next.office.promote({ activity: undefined })).events.map(({ type }) => type)).toEqual([
    "activity.opened",
    "input.promoted",
  ]);
  expect([...after.foreman.standings().keys()]).toEqual([second]);
});

test("after a restart with a smaller limit those that were at work take turns, too", async () => {
  const bench = await openBench();
  // Both have the same right to a place, so it goes by their ids, which of one millisecond are in any order.
  const [first, second] = [bench.id, await bench.another()].toSorted() as [SessionId, SessionId];
  for (const [n, session] of [first, second].entries())
    await bench.log.append({ stream: session, ...by, events: [event("activity.opened", { id: `act_${n}` })] });
  const { foreman, runs, run } = employ(bench);
  await foreman.begin();
  await run(first);
  expect((await bench.sessions.get(second))?.state).toMatchObject({ state: "waiting", on: "place", position: 1 });
  expect(runs).toHaveLength(1);
  await bench.log.append({
    stream: first,
    ...by,
    events: [event("activity.settled", { id: "act_0", outcome: "done" })],
  });
  expect(await (await run(second)).office.claimPlace()).toBe(true);
});

test("what was interrupted before the restart is ended without a place", async () => {
  const bench = await openBench();
  const [first, second] = [bench.id, await bench.another()];
  for (const [n, session] of [first, second].entries())
    await bench.log.append({ stream: session, ...by, events: [event("activity.opened", { id: `act_${n}` })] });
  await bench.sessions.interrupt(second, by);
  const { foreman, run } = employ(bench);
  await foreman.begin();
  await run(first);
  await run(second);
  expect(foreman.places()).toMatchObject({ sessions: { taken: 1, most: 1 }, inLine: 0 });
});

test("a run that broke off gives its place to who waits", async () => {
  const bench = await openBench();
  const [first, second] = [bench.id, await bench.another()];
  const ends: ((end: RunEnd) => void)[] = [];
  const offices = new Map<SessionId, Office>();
  const host: RunnerHost = {
    start({ session }, office) {
      offices.set(session, office);
      const ended = Promise.withResolvers<RunEnd>();
      ends.push(ended.resolve);
      const [wake, tell, forgetRules] = [() => undefined, () => undefined, () => undefined];
      return { wake, tell, forgetRules, open: () => Promise.resolve(), ended: ended.promise };
    },
    drain: () => Promise.resolve(),
    close: () => Promise.resolve(),
    setLevel: () => undefined,
    forgetReaches: () => undefined,
    runners: () => [],
  };
  const pauseMs = () => 600_000;
  const foreman = openForeman({ log: bench.log, host, placeLimits: () => limits, pauseMs, onDefect: () => undefined });
  onTestFinished(() => foreman.stop(0));
  for (const session of [first, second]) {
    await bench.sessions.admit(session, input("go"), by);
    await expect.poll(() => offices.has(session)).toBe(true);
    await offices.get(session)!.promote({ activity: undefined });
  }
  expect(foreman.standings().has(second)).toBe(true);
  ends[0]!({ kind: "lost", reason: "broke" });
  await expect.poll(() => bench.types(second)).toContain("place.given");
});
