import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession, event, type SessionId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isGap, type Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { openSessions, type Sessions, sessionProjections } from "../sessions/index.ts";
import { openRetention, type RetentionTerms } from "./retention.ts";

const day = 24 * 3_600_000;
const by = { actor: "test" };

const projects = {
  table: "projects",
  version: 1,
  columns: { path: "text" as const },
  changes: () => [{ key: "prj_1", set: { path: "/repo" } }],
};

let folder: string;
let log: Log;
let sessions: Sessions;
let now: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "corral-retention-"));
  now = Date.parse("2030-01-01T00:00:00Z");
  log = await openSqliteLog({
    file: join(folder, "log.db"),
    projections: [projects, ...sessionProjections],
    now: () => new Date(now),
  });
  sessions = openSessions(log, {
    defaults: () => Promise.resolve({ model: "anthropic/m", turnLimit: 25 }),
    environment: () => Promise.resolve({ kind: "jail", network: "off" }),
  });
  const registered = event("project.registered", { id: "prj_1", path: "/repo", name: "repo" });
  await log.append({ stream: "prj_1", ...by, events: [registered] });
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Expires whatever it is asked to, as far as the log is concerned. */
async function look(terms: Partial<RetentionTerms>): Promise<{ expired: SessionId[]; defects: string[] }> {
  const expired: SessionId[] = [];
  const defects: string[] = [];
  const retention = openRetention({
    log,
    terms: () => ({ days: null, events: null, ...terms }),
    expire: async (session) => {
      expired.push(session);
      await log.append({ stream: session, ...by, events: [event("session.expired", { inputs: [] })] });
      return "expired";
    },
    onDefect: (what) => void defects.push(what),
    now: () => now,
  });
  await retention.look();
  await retention.close();
  return { expired, defects };
}

async function session(more?: "open activity"): Promise<SessionId> {
  const { id } = await sessions.create(createSession.parse({ projectId: "prj_1" }), by);
  if (more === "open activity")
    await log.append({ stream: id, ...by, events: [event("activity.opened", { id: "act_1" })] });
  return id;
}

/** What is left, in order: the streams of events, and gaps. */
async function left(): Promise<string[]> {
  const found: string[] = [];
  for (let after = 0; ;) {
    const page = await log.read({ after });
    if (isGap(page)) {
      found.push("gap");
      after = page.to;
      continue;
    }
    if (page.length === 0) return found;
    found.push(...page.map(({ stream }) => stream));
    after = page.at(-1)!.seq;
  }
}

test("without terms everything is kept, whatever its age", async () => {
  const id = await session();
  now += 1000 * day;
  expect(await look({})).toEqual({ expired: [], defects: [] });
  expect(await left()).toEqual(["prj_1", id]);
});

test("sessions that ended longer ago than the days go; newer ones, unfinished ones and projects stay whole", async () => {
  const ended = await session();
  const unfinished = await session("open activity");
  now += 20 * day;
  const continued = await session();
  await log.append({ stream: ended, ...by, events: [event("activity.settled", { id: "act_2", outcome: "done" })] });
  now += 20 * day;
  await log.append({ stream: continued, ...by, events: [event("activity.settled", { id: "act_3", outcome: "done" })] });
  const recent = await session();

  expect(await look({ days: 41 })).toEqual({ expired: [], defects: [] });
  expect(await look({ days: 15 })).toEqual({ expired: [ended], defects: [] });
  expect(await left()).toEqual(["prj_1", "gap", unfinished, unfinished, continued, "gap", continued, recent, ended]);
  expect(await look({ days: 15 })).toEqual({ expired: [], defects: [] });

  now += 16 * day;
  expect((await look({ days: 15 })).expired.toSorted()).toEqual([continued, recent].toSorted());
  expect((await left()).filter((stream) => stream !== "gap")).toEqual([
    "prj_1",
    unfinished,
    unfinished,
    ...[continued, recent].toSorted(),
  ]);
});

test("of more events than are wanted the oldest sessions go, and a session with news keeps all of its events", async () => {
  const first = await session();
  const second = await session();
  const third = await session();
  await log.append({ stream: first, ...by, events: [event("activity.settled", { id: "act_1", outcome: "done" })] });
  expect(await look({ events: 2 })).toEqual({ expired: [second], defects: [] });
  expect(await left()).toEqual(["prj_1", first, "gap", third, first, second]);
});

test("seqs that were passed over are no events and drive none out", async () => {
  const before = await session();
  await log.close();
  log = await openSqliteLog({
    file: join(folder, "log.db"),
    projections: [projects, ...sessionProjections],
    given: 1e9,
  });
  await log.append({ stream: "gateway", ...by, events: [event("auth.guessed", { address: "::1", attempts: 3 })] });
  expect(await look({ events: 2 })).toEqual({ expired: [], defects: [] });
  expect(await left()).toEqual(["prj_1", before, "gap", "gateway"]);
  expect(await look({ events: 1 })).toEqual({ expired: [before], defects: [] });
});

test("what nobody reads goes with its age alone", async () => {
  const guessed = event("auth.guessed", { address: "::1", attempts: 3 });
  await log.append({ stream: "gateway", ...by, events: [guessed] });
  now += 2 * day;
  await log.append({ stream: "gateway", ...by, events: [guessed] });
  await look({ days: 1 });
  expect(await left()).toEqual(["prj_1", "gap", "gateway"]);
});

test("one that cannot be removed is told of and keeps nobody else", async () => {
  const ids = [await session(), await session()];
  now += 2 * day;
  const defects: string[] = [];
  const tried: SessionId[] = [];
  const retention = openRetention({
    log,
    terms: () => ({ days: 1, events: null }),
    expire: (id) => {
      tried.push(id);
      return Promise.reject(new Error("no"));
    },
    onDefect: (what) => void defects.push(what),
    now: () => now,
  });
  await retention.look();
  await retention.close();
  expect(tried.toSorted()).toEqual(ids.toSorted());
  expect(defects).toEqual(tried.map((id) => `${id} stays, though it is too old`));
  expect(await left()).toEqual(["prj_1", ...ids]);
});
