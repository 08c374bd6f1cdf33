import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CorralError, createSession, event, newId, type NewEvent, type SessionId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openCapabilities, type ProvidedCapabilities } from "../capabilities/index.ts";
import { historyOf, isGap, type Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { openSessions, type Sessions, sessionProjections } from "../sessions/index.ts";
import { type Foreman, openForeman } from "./foreman.ts";
import { type Assignment, lostTo, type Office, type RunEnd, type RunnerHost } from "./port.ts";

const projects = {
  table: "projects",
  version: 1,
  columns: { path: "text" as const },
  changes: () => [{ key: "prj_1", set: { path: "/repo" } }],
};

/** A run whose end the test decides. */
interface HeldRun {
  readonly assignment: Assignment;
  readonly office: Office;
  wakes: number;
  rulesForgotten: number;
  end(end: RunEnd): void;
}

let folder: string;
let log: Log;
let sessions: Sessions;
let session: SessionId;
let foreman: Foreman;
let capabilities: ProvidedCapabilities;
let defects: string[];
let starts: HeldRun[];
let waiting: ((run: HeldRun) => void)[];

const host: RunnerHost = {
  start(assignment, office) {
    const ended = Promise.withResolvers<RunEnd>();
    const run: HeldRun = { assignment, office, wakes: 0, rulesForgotten: 0, end: ended.resolve };
    starts.push(run);
    waiting.shift()?.(run);
    return {
      wake: () => (run.wakes += 1),
      tell: () => (run.wakes += 1),
      forgetRules: () => (run.rulesForgotten += 1),
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

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "corral-foreman-"));
  log = await openSqliteLog({ file: join(folder, "log.db"), projections: [projects, ...sessionProjections] });
  sessions = openSessions(log, {
    defaults: () => Promise.resolve({ model: "anthropic/m", turnLimit: 25 }),
    environment: () => Promise.resolve({ kind: "jail", network: "off" }),
  });
  const registered = event("project.registered", { id: "prj_1", path: "/repo", name: "repo" });
  await log.append({ stream: "prj_1", actor: "test", events: [registered] });
  session = (await sessions.create(createSession.parse({ projectId: "prj_1" }), { actor: "test" })).id;
  defects = [];
  starts = [];
  waiting = [];
  capabilities = openCapabilities();
  const onDefect = (what: string) => void defects.push(what);
  foreman = openForeman({ log, host, capabilities, pauseMs: () => 0, patience: 3, onDefect });
});

afterEach(async () => {
  await foreman.stop(0);
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

const say = (text: string) =>
  sessions.admit(session, { id: newId("input"), text, attachments: [], delivery: "steer" }, { actor: "test" });

function nextStart(): Promise<HeldRun> {
  return new Promise((resolve) => waiting.push(resolve));
}

async function committed(type: NewEvent["type"]): Promise<void> {
  const enough = new AbortController();
  for await (const batch of log.tail({ after: 0, stream: session }, enough.signal)) {
    if (!isGap(batch) && batch.some((each) => each.type === type)) return;
  }
}

test("an admitted input starts one run, and later ones wake it", async () => {
  const started = nextStart();
  await say("one");
  const run = await started;
  await say("two");
  expect(starts).toHaveLength(1);
  expect(run.wakes).toBe(1);
});

test("what a rulebook is made of makes every run ask anew when it changes, before the change is told to be durable", async () => {
  const started = nextStart();
  await say("one");
  const run = await started;
  const kept = event("rule.kept", { for: "project", of: "prj_1", match: { command: "npm test" } });
  await log.append({ stream: "prj_1", actor: "test", events: [kept] });
  expect(run.rulesForgotten).toBe(1);
  const moved = { id: "prj_1", from: "/repo", path: "/b", name: "b", gitFolder: "/b/.git" } as const;
  await log.append({ stream: "prj_1", actor: "test", events: [event("project.moved", moved)] });
  expect(run.rulesForgotten).toBe(2);
  await say("two");
  expect(run.rulesForgotten).toBe(2);
});

test("a wake that a run had not heard when it ended starts another, and a heard one does not", async () => {
  const first = nextStart();
  await say("one");
  const run = await first;
  await say("two");
  const second = nextStart();
  run.end({ kind: "idle", heard: 0 });
  const successor = await second;
  await say("three");
  successor.end({ kind: "idle", heard: successor.wakes });
  const third = nextStart();
  await say("four");
  await third;
  expect(starts).toHaveLength(3);
});

test("a run that broke off is started anew under a larger fence, from the second break on without company", async () => {
  const first = nextStart();
  await say("one");
  const runs = [await first];
  for (let breaks = 0; breaks < 2; breaks++) {
    const next = nextStart();
    runs.at(-1)?.end({ kind: "lost", reason: "killed" });
    runs.push(await next);
  }
  expect(runs.map((run) => run.assignment.company)).toEqual(["others", "others", "none"]);
  const fences = runs.map((run) => run.assignment.fence);
  expect(fences).toEqual(fences.toSorted((a, b) => a - b));
  await expect(runs[0]?.office.append([event("activity.opened", { id: "act_9" })])).rejects.toMatchObject({
    code: "lease.stale",
  });
});

test("a session that keeps breaking is set aside: its activity fails, its calls end, and a word starts it again", async () => {
  const first = nextStart();
  await say("one");
  let run = await first;
  const { events } = await run.office.promote({ activity: undefined });
  const id = events[0]?.type === "activity.opened" ? events[0].data.id : "act_none";
  await run.office.append([
    event("turn.prepared", { id: "trn_1", activityId: id, model: "anthropic/m", requestHash: "h" }),
    event("turn.dispatched", { id: "trn_1", attempt: 1 }),
    event("call.requested", { id: "cal_1", turnId: "trn_1", providerCallId: "p", tool: "shell", arguments: {} }),
    event("call.started", { id: "cal_1", attempt: 1 }),
  ]);
  for (let breaks = 0; breaks < 2; breaks++) {
    const next = nextStart();
    run.end({ kind: "lost", reason: "killed" });
    run = await next;
  }
  run.end({ kind: "lost", reason: "killed" });
  await committed("activity.settled");
  expect((await sessions.get(session))?.state).toMatchObject({ state: "failed" });
  const ends = (await historyOf(log, session)).filter((each) => each.type === "call.unknown");
  expect(ends).toHaveLength(1);
  const again = nextStart();
  await say("try again");
  expect((await again).assignment.company).toBe("others");
});

test("whoever answers a run can wait until all that it sent before is recorded", async () => {
  capabilities.provide({
    async "workspaces.snapshotted"(_session, _ask, { run }) {
      await run.recorded;
      return {};
    },
  });
  const first = nextStart();
  await say("one");
  const { office } = await first;
  const order: string[] = [];
  const appended = office.append([event("activity.opened", { id: "act_1" })]).then(() => order.push("recorded"));
  await office.call("workspaces.snapshotted", {}).then(() => order.push("kept"));
  await appended;
  expect(order).toEqual(["recorded", "kept"]);
});

test("getting on forgives earlier breaks", async () => {
  const first = nextStart();
  await say("one");
  let run = await first;
  for (let breaks = 0; breaks < 5; breaks++) {
    await run.office.append([event("turn.settled", { id: "trn_1", outcome: "cut" })]);
    const next = nextStart();
    run.end({ kind: "lost", reason: "killed" });
    run = await next;
  }
  expect(starts.every((each) => each.assignment.company === "others")).toBe(true);
});

test("a foreman that was given no rules lets no call run: what is not provided is refused", async () => {
  const started = nextStart();
  await say("one");
  const { office } = await started;
  const call = { tool: "read", effect: "reads" } as const;
  await expect(office.call("rules.judge", call)).rejects.toMatchObject({ code: "capability.missing" });
});

test("at its beginning it starts what was left unfinished, and nothing else", async () => {
  const idle = await sessions.create(createSession.parse({ projectId: "prj_1" }), { actor: "test" });
  await foreman.stop(0);
  await say("while nobody listened");
  expect(starts).toEqual([]);
  foreman = openForeman({ log, host, onDefect: (what) => void defects.push(what) });
  const started = nextStart();
  await foreman.begin();
  expect((await started).assignment.session).toBe(session);
  expect(starts.map((run) => run.assignment.session)).not.toContain(idle.id);
});

test("a run that broke off because the disk is full is not held against its session, and is tried until there is room", async () => {
  let isFull = true;
  const full = () => Promise.reject(new CorralError("log.full", "there is no room"));
  const takeLease: Log["takeLease"] = (...lease) => (isFull ? full() : log.takeLease(...lease));
  const tight = openForeman({
    log: new Proxy(log, {
      get(target, name) {
        if (name === "takeLease") return takeLease;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    }),
    host,
    pauseMs: () => 0,
    patience: 3,
    onDefect(what) {
      defects.push(what);
      // More often than any session's own trouble would be borne.
      if (defects.length === 10) isFull = false;
    },
  });
  await foreman.stop(0);
  const started = nextStart();
  await say("one");
  const run = await started;
  expect(defects).toEqual(Array.from({ length: 10 }, () => expect.stringContaining("there is no room")));
  expect(run.assignment.company).toBe("others");
  await tight.stop(0);
});

test("nothing is promoted while descriptors are short, what waits keeps its place, and goes on when there are some", async () => {
  await foreman.stop(0);
  let isShort = true;
  const shortage = { message: "No more files can be opened.", hint: "Raise the limit" };
  const tight = openForeman({
    log,
    host,
    pauseMs: () => 0,
    patience: 3,
    mustHaveDescriptors() {
      if (isShort) throw new CorralError("descriptors.exhausted", shortage.message, { hint: shortage.hint });
    },
    onDefect: (what) => void defects.push(what),
  });
  let started = nextStart();
  await say("one");
  // More often than any session's own trouble would be borne.
  for (let tries = 1; tries <= 10; tries++) {
    const run = await started;
    started = nextStart();
    const refusal: unknown = await run.office.promote({ activity: undefined }).catch((error: unknown) => error);
    run.end(lostTo(refusal, String(refusal)));
  }
  const { office } = await started;
  expect(tight.shortage()).toEqual({ sessions: 1, ...shortage });
  expect(tight.places().sessions.taken).toBe(1);
  expect(defects).toEqual([`sessions wait: ${shortage.message}`]);
  isShort = false;
  expect((await office.promote({ activity: undefined })).inputs).toHaveLength(1);
  expect(tight.shortage()).toBeUndefined();
  await tight.stop(0);
});
