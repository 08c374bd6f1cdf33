import { type AdmitInput, event } from "@corral/protocol";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openCapabilities, type ProvidedCapabilities } from "../capabilities/index.ts";
import type { Log } from "../log/index.ts";
import { by, input, openBench, type SessionBench } from "../sessions/testing/bench.ts";
import { type Foreman, openForeman } from "./foreman.ts";
import type { Assignment, Office, RunEnd, RunnerHost } from "./port.ts";

/** A run whose end the test decides. */
interface HeldRun {
  readonly assignment: Assignment;
  readonly office: Office;
  wakes: number;
  end(end: RunEnd): void;
}

let bench: SessionBench;
let starts: HeldRun[];
let defects: string[];
let onStart: (run: HeldRun) => void;
beforeEach(async () => {
  bench = await openBench();
  starts = [];
  defects = [];
  onStart = () => undefined;
});

const host: RunnerHost = {
  start(assignment, office) {
    const ended = Promise.withResolvers<RunEnd>();
    const run: HeldRun = { assignment, office, wakes: 0, end: ended.resolve };
    starts.push(run);
    onStart(run);
    return {
      wake: () => (run.wakes += 1),
      tell: () => (run.wakes += 1),
      forgetRules: () => undefined,
      open: () => Promise.resolve(),
      ended: ended.promise,
    };
  },
  drain: () => Promise.resolve(),
  close: () => Promise.resolve(),
  setLevel: () => undefined,
  forgetReaches: () => undefined,
  runners: () => [],
};

function employ(log: Log = bench.log, capabilities?: ProvidedCapabilities): Foreman {
  const onDefect = (what: string) => void defects.push(what);
  const foreman = openForeman({
    ...{ log, host, sessions: bench.sessions, pauseMs: () => 0, patience: 3, onDefect },
    ...(capabilities === undefined ? {} : { capabilities }),
  });
  onTestFinished(() => foreman.stop(0));
  return foreman;
}

const say = (said: AdmitInput = input("go")) => bench.sessions.admit(bench.id, said, by);
const started = async (count: number) => {
  await expect.poll(() => starts.length).toBe(count);
  return starts[count - 1]!;
};
/** All that could still happen has happened: the session can be had by another. */
const atRest = async () => {
  await expect.poll(async () => (await bench.log.tryLease(bench.id, "test")).kind).toBe("taken");
};

test("wakes at once make one run", async () => {
  const said = input("go");
  await say(said);
  employ();
  await Promise.all(Array.from({ length: 10 }, () => say(said)));
  const run = await started(1);
  run.end({ kind: "idle", heard: run.wakes });
  await atRest();
  expect(starts).toHaveLength(1);
});

test("an exact retry of what waits starts a session that nobody woke", async () => {
  const said = input("go");
  await say(said);
  employ();
  expect(starts).toEqual([]);
  await say(said);
  await started(1);
});

test("wakes during a run make one follow-up, and one during the follow-up runs again", async () => {
  employ();
  await say();
  const first = await started(1);
  for (let n = 0; n < 5; n++) await say();
  first.end({ kind: "idle", heard: 0 });
  const second = await started(2);
  expect(second.wakes).toBe(0);
  await say();
  second.end({ kind: "idle", heard: 0 });
  const third = await started(3);
  third.end({ kind: "idle", heard: 0 });
  await atRest();
  expect(starts).toHaveLength(3);
});

test("a wake that races a failure starts exactly one successor", async () => {
  employ();
  await say();
  const first = await started(1);
  const said = say();
  first.end({ kind: "lost", reason: "broke" });
  await said;
  const second = await started(2);
  second.end({ kind: "idle", heard: second.wakes });
  await atRest();
  expect([starts.length, defects]).toEqual([2, [`the run of ${bench.id} broke off: broke`]]);
});

test("a run that wakes itself again and again never grows the stack", async () => {
  employ();
  const said = input("go");
  const depths: number[] = [];
  onStart = (run) => {
    depths.push(depthOfStack());
    if (starts.length < 100) void say(said).then(() => run.end({ kind: "idle", heard: 0 }));
    else run.end({ kind: "idle", heard: run.wakes });
  };
  await say(said);
  await expect.poll(() => starts.length).toBe(100);
  expect(Math.max(...depths)).toBe(Math.min(...depths));
});

test("a session that runs already is left alone at start-up", async () => {
  const foreman = employ();
  await say();
  const run = await started(1);
  await foreman.begin();
  run.end({ kind: "idle", heard: run.wakes });
  await atRest();
  expect(starts).toHaveLength(1);
});

test("a word to go on that nothing came of is taken up at start-up, and once", async () => {
  await bench.sessions.continue(bench.id, by);
  const foreman = employ();
  await foreman.begin();
  const run = await started(1);
  expect((await run.office.promote({ activity: undefined })).events.map(({ type }) => type)).toEqual([
    "activity.opened",
  ]);
  expect(await run.office.promote({ activity: undefined })).toEqual({ events: [], inputs: [] });
});

test("a claim is held until its run is cleaned up after, and free then", async () => {
  const artifact = { id: "art_1" as const, url: "file:///out.txt", bytes: 0 };
  const seen: unknown[] = [];
  const capabilities = openCapabilities({
    async "artifacts.keep"(_session, _step, { run }) {
      run.onEnd(async () => {
        await say();
        seen.push(await bench.log.tryLease(bench.id, "test"), starts.length);
      });
      return artifact;
    },
  });
  employ(bench.log, capabilities);
  await say();
  const run = await started(1);
  await run.office.call("artifacts.keep", { step: "begin", id: "art_1", name: "out.txt", kind: "stdout" });
  run.end({ kind: "idle", heard: 0 });
  const next = await started(2);
  expect(seen).toEqual([{ kind: "held", by: "runner" }, 1]);
  next.end({ kind: "idle", heard: next.wakes });
  await atRest();
});

test("a defect in what follows a run still frees its session", async () => {
  let isBroken = true;
  const broken = new Proxy(bench.log, {
    get: (log, name) => {
      const value = Reflect.get(log, name) as unknown;
      if (name === "releaseLease" && isBroken) return () => Promise.reject(new Error("no"));
      return typeof value === "function" ? (value.bind(log) as unknown) : value;
    },
  });
  employ(broken);
  await say();
  const run = await started(1);
  run.end({ kind: "idle", heard: 0 });
  await expect.poll(() => defects).toEqual([`the lease of ${bench.id} was not released`]);
  isBroken = false;
  await say();
  await started(2);
});

test("what is found in the middle of an activity is said to be recovering, and what waits for a person is not", async () => {
  const opened = event("activity.opened", { id: "act_1" });
  await bench.log.append({ stream: bench.id, ...by, events: [opened] });
  const other = await bench.another();
  const waits = event("activity.waiting", { id: "act_2", on: "continue" });
  await bench.log.append({ stream: other, ...by, events: [event("activity.opened", { id: "act_2" }), waits] });
  await employ().begin();
  await started(2);
  expect((await bench.sessions.get(bench.id))?.state).toMatchObject({
    state: "recovering",
    reason: "the daemon had stopped",
  });
  expect((await bench.sessions.get(other))?.state.state).toBe("waiting");
  const run = starts.find(({ assignment }) => assignment.session === bench.id)!;
  expect(run.assignment.events.at(-1)?.type).toBe("activity.recovering");
});

test("a session that is no more is not started, whoever thinks of it", async () => {
  const gone = "ses_gone";
  await expect(employ().open(gone)).rejects.toMatchObject({ code: "environment.gone" });
  expect([starts, defects]).toEqual([[], []]);
  expect(await bench.log.tryLease(gone, "test")).toMatchObject({ kind: "taken" });
});

function depthOfStack(): number {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = Infinity;
  const depth = new Error("here").stack?.split("\n").length ?? 0;
  Error.stackTraceLimit = before;
  return depth;
}
