import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AuditEntry,
  auditQuery,
  type CallId,
  event,
  type FlaggedChange,
  type NewEvent,
  newId,
  type SessionId,
  setupIdOf,
  type SnapshotId,
} from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Log, Projection } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { type Audit, openAudit } from "./index.ts";

const session = newId("session");
const shell = newId("shell");
const start = Date.parse("2026-01-01T00:00:00.000Z");
let folder: string;
let seconds: number;
let log: Log;
let audit: Audit;

/** What people's shells keep of their commands, as far as it is looked at. */
const shellCommands: Projection = {
  table: "shell_commands",
  version: 1,
  columns: { shell: "text" },
  changes: ({ stream, ...stored }) =>
    stored.type === "shell.command-started" ? [{ key: stored.data.id, set: { shell: stream } }] : [],
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "corral-audit-"));
  seconds = 0;
  log = await openSqliteLog({
    file: join(folder, "corral.db"),
    projections: [shellCommands],
    // Each append is a second after the one before.
    now: () => new Date(start + 1000 * seconds++),
  });
  audit = openAudit(log);
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a call is told with who ran it, on whose word, where, how it ended and the difference it made", async () => {
  await begin();
  await ask("cal_1", "make\n\u001b[2Jtest");
  await end("cal_1", { exitCode: 2, timedOut: false, limit: "memory", shellRespawned: false });
  await snapshot("snp_2", "snp_1", ["cal_1"]);
  expect(await entries()).toEqual([
    {
      id: "cal_1",
      kind: "call",
      seq: 6,
      lastSeq: 8,
      actor: `agent:${session}`,
      onWordOf: ["person:ada"],
      activity: "act_1",
      where: {
        session,
        project: "prj_1",
        environment: "jail",
        network: "allow",
        workspace: "copy",
        path: "/home/ada/copy",
      },
      tool: "shell",
      command: "make\n\u001b[2Jtest",
      askedAt: "2026-01-01T00:00:02.000Z",
      startedAt: "2026-01-01T00:00:03.000Z",
      endedAt: "2026-01-01T00:00:04.000Z",
      durationMs: 1000,
      attempts: 1,
      outcome: "ended",
      exitCode: 2,
      timedOut: false,
      limit: "memory",
      diff: {
        kind: "snapshot",
        snapshot: "snp_2",
        previous: "snp_1",
        tree: "tree-of-snp_2",
        files: 3,
        insertions: 12,
        deletions: 4,
        sharedWith: [],
        expired: false,
      },
    },
  ]);
});

test("a command of a person's shell is told with what was measured", async () => {
  await add(
    shell,
    "person:ada",
    event("shell.opened", {
      environment: { kind: "local", network: "open" },
      workspace: "scratch",
      path: "/scratch",
      readable: [],
      variables: {},
    }),
  );
  await add(shell, "person:bob", commandStarted("cmd_1", "sleep 9"));
  const facts = { exitCode: 143, timedOut: false, shellRespawned: true, stdoutBytes: 0, stderrBytes: 0 };
  const ended = { id: "cmd_1" as const, ...facts, durationMs: 41.5, interruptedBy: "person:ada" };
  await add(shell, "corral", event("shell.command-ended", ended));
  expect(await entries()).toEqual([
    {
      id: "cmd_1",
      kind: "command",
      seq: 2,
      lastSeq: 3,
      actor: "person:bob",
      onWordOf: ["person:bob"],
      where: { shell, environment: "local", network: "open", workspace: "scratch", path: "/scratch" },
      tool: "shell",
      command: "sleep 9",
      askedAt: "2026-01-01T00:00:01.000Z",
      startedAt: "2026-01-01T00:00:01.000Z",
      endedAt: "2026-01-01T00:00:02.000Z",
      durationMs: 41.5,
      attempts: 1,
      outcome: "ended",
      exitCode: 143,
      timedOut: false,
      interruptedBy: "person:ada",
      diff: { kind: "none", why: "scratch" },
    },
  ]);
  expect((await audit.find("cmd_1"))?.exitCode).toBe(143);
});

test("of a person's shell in a copy each command is told with the difference it made, or why there is none", async () => {
  await add(
    shell,
    "person:ada",
    event("shell.opened", {
      ...{ environment: { kind: "jail", network: "off" }, workspace: "copy", path: "/copy", projectId: "prj_1" },
      ...{ readable: [], variables: {}, base: "c" },
    }),
  );
  const run = async (id: `cmd_${string}`, more: { reads?: true } = {}) => {
    await add(shell, "person:ada", commandStarted(id, "do", more));
    const facts = { exitCode: 0, timedOut: false, shellRespawned: false, stdoutBytes: 0, stderrBytes: 0 };
    await add(shell, "corral", event("shell.command-ended", { id, ...facts }));
  };
  await run("cmd_1");
  const taken = { snapshotId: "snp_2", tree: "t", previous: "snp_1", reason: "calls", calls: [] } as const;
  const figures = { files: 1, insertions: 2, deletions: 3, skipped: [] };
  await add(shell, "corral", event("snapshot.taken", { ...taken, calls: [], commands: ["cmd_1"], ...figures }));
  await run("cmd_2");
  await add(shell, "corral", event("snapshot.unchanged", { snapshotId: "snp_2", commands: ["cmd_2"], terminals: [] }));
  await run("cmd_3", { reads: true });
  await run("cmd_4");
  const told = async () => {
    const { entries: found } = await page({ shell });
    return found.map(({ diff }) => (diff.kind === "none" ? diff.why : [diff.files, diff.expired]));
  };
  expect(await told()).toEqual([[1, false], "unchanged", "read-only", "not-yet"]);
  await add(shell, "person:ada", event("shell.closed", { reason: "it was closed" }));
  await add(shell, "corral", event("snapshot.expired", { snapshotId: "snp_2", last: true }));
  expect(await told()).toEqual([[1, true], "unchanged", "read-only", "closed"]);
});

test("where there is no snapshot the entry says why, and those that share one name each other", async () => {
  await begin();
  for (const id of ["cal_1", "cal_2"] as const) await ask(id, "touch x");
  for (const id of ["cal_1", "cal_2"] as const) await end(id);
  await ask("cal_3", "cat x");
  await end("cal_3");
  await snapshot("snp_2", "snp_1", ["cal_1", "cal_2"]);
  await ask("cal_4", "touch y");
  await end("cal_4");
  await ask("cal_5", "touch z");
  await add(session, `agent:${session}`, requested("cal_6", "never"));
  const told = async () => (await entries()).map(({ diff }) => (diff.kind === "none" ? diff.why : diff.sharedWith));
  expect(await told()).toEqual([["cal_2"], ["cal_1"], "not-named", "not-yet", "running", "never-ran"]);
  await add(session, "corral", event("snapshot.expired", { snapshotId: "snp_1" }));
  expect((await audit.find("cal_1"))?.diff).toMatchObject({ kind: "snapshot", expired: true });
});

test("what somebody should look at is told with each of those that may have done it, and they are found by it", async () => {
  await begin();
  for (const id of ["cal_1", "cal_2", "cal_3"] as const) {
    await ask(id, "touch x");
    await end(id);
  }
  const flagged = [{ path: "Makefile", why: "building runs it" }];
  await snapshot("snp_2", "snp_1", ["cal_1", "cal_2"], "calls", { flagged });
  await snapshot("snp_3", "snp_2", ["cal_3"]);
  expect((await entries()).map((entry) => entry.flagged)).toEqual([flagged, flagged, undefined]);
  expect((await page({ flagged: "1" })).entries.map(({ id }) => id)).toEqual(["cal_1", "cal_2"]);
});

test("each run of what makes a copy ready is told, with what came of it", async () => {
  await begin();
  const run = (attempt: number) => event("setup.started", { attempt, command: "npm ci" });
  const over = (attempt: number, outcome: "done" | "cancelled") =>
    event("setup.ended", { attempt, outcome, exitCode: outcome === "done" ? 0 : 143, output: "much" });
  await add(session, `agent:${session}`, run(1));
  await add(session, `agent:${session}`, over(1, "cancelled"));
  await add(session, "person:bob", event("setup.decided", { decision: "again" }));
  await add(session, `agent:${session}`, run(2));
  await add(session, `agent:${session}`, over(2, "done"));
  await snapshot("snp_2", "snp_1", [], "start");
  const [first, second] = await entries();
  expect(first).toMatchObject({ kind: "setup", attempts: 1, outcome: "interrupted", exitCode: 143, onWordOf: [] });
  expect(second).toEqual({
    id: setupIdOf(session, 2),
    kind: "setup",
    seq: 9,
    lastSeq: 10,
    actor: `agent:${session}`,
    onWordOf: ["person:bob"],
    where: expect.objectContaining({ session, workspace: "copy" }) as object,
    tool: "setup",
    command: "npm ci",
    askedAt: "2026-01-01T00:00:05.000Z",
    startedAt: "2026-01-01T00:00:05.000Z",
    endedAt: "2026-01-01T00:00:06.000Z",
    durationMs: 1000,
    attempts: 2,
    outcome: "ended",
    exitCode: 0,
    diff: expect.objectContaining({ kind: "snapshot", snapshot: "snp_2", previous: "snp_1" }) as object,
  });
  expect(await audit.find(setupIdOf(session, 2))).toEqual(second);
  expect(await audit.find(setupIdOf(newId("session"), 2))).toBeUndefined();
});

test("a snapshot of the beginning that comes late says nothing of what ended before", async () => {
  await begin();
  await ask("cal_1", "touch x");
  await end("cal_1");
  await snapshot("snp_1", null, [], "start");
  expect((await audit.find("cal_1"))?.diff).toEqual({ kind: "none", why: "not-yet" });
});

test("in an environment that cannot write there is no difference", async () => {
  await begin({ access: "read" });
  await ask("cal_1", "ls");
  await end("cal_1");
  expect((await audit.find("cal_1"))?.diff).toEqual({ kind: "none", why: "read-only" });
});

test("a call that nobody knows the end of, tried again on somebody's word, names them", async () => {
  await begin();
  await ask("cal_1", "deploy");
  await add(session, "corral", event("call.unknown", { id: "cal_1", reason: "The environment ended." }));
  expect(await audit.find("cal_1")).toMatchObject({ outcome: "unknown", reason: "The environment ended." });
  await add(session, "person:bob", event("call.decided", { id: "cal_1", decision: "retry" }));
  await add(session, `agent:${session}`, event("call.started", { id: "cal_1", attempt: 2 }));
  await end("cal_1");
  expect(await audit.find("cal_1")).toMatchObject({
    outcome: "ended",
    attempts: 2,
    onWordOf: ["person:ada", "person:bob"],
  });
});

test("entries come by session, project, time and outcome, in pages, or the newest", async () => {
  await begin();
  for (let n = 1; n <= 9; n++) {
    await ask(`cal_${n}`, `run ${n}`);
    await end(`cal_${n}`, { exitCode: n % 3 === 0 ? 1 : 0 });
  }
  const ids = async (query: object) => (await page(query)).entries.map(({ id }) => id);
  expect(await page({ limit: 2 })).toMatchObject({ next: null, hasEarlier: true });
  expect(await ids({ limit: 2 })).toEqual(["cal_8", "cal_9"]);
  expect(await ids({ failed: "1" })).toEqual(["cal_3", "cal_6", "cal_9"]);
  expect(await ids({ since: "2026-01-01T00:00:20.000Z" })).toEqual(["cal_7", "cal_8", "cal_9"]);
  expect(await ids({ project: "prj_2" })).toEqual([]);
  const first = await page({ session, limit: 4 });
  expect(first.entries.map(({ id }) => id)).toEqual(["cal_1", "cal_2", "cal_3", "cal_4"]);
  const rest = await page({ session, after: first.next, limit: 9 });
  expect([rest.entries.length, rest.next]).toEqual([5, null]);
  expect((await audit.page(auditQuery.parse({}), () => false)).entries).toEqual([]);
});

test("of an erased session nothing is left, also for whoever asked before", async () => {
  await begin();
  await ask("cal_1", "ls");
  expect((await entries()).length).toBe(1);
  await log.erase(session, { actor: "person:ada" });
  expect([await entries(), await audit.find("cal_1")]).toEqual([[], undefined]);
  expect(await audit.verify()).toMatchObject({ verdict: "intact", erased: 7 });
});

test("a very long command is cut in lists and whole alone", async () => {
  await begin();
  const command = "x".repeat(5000);
  await ask("cal_1", command);
  const [listed] = await entries();
  expect([listed?.command.length, listed?.isCut, (await audit.find("cal_1"))?.command]).toEqual([2000, true, command]);
});

test("a call is found by its id, made whenever", async () => {
  await begin();
  const id = newId("call");
  await ask(id, "ls");
  expect((await audit.find(id))?.command).toBe("ls");
  expect(await audit.find(newId("call"))).toBeUndefined();
});

test("the newest are found before and behind places that were passed over", async () => {
  await log.close();
  const given = Date.now();
  log = await openSqliteLog({ file: join(folder, "after.db"), projections: [shellCommands], given });
  audit = openAudit(log);
  await begin();
  await ask("cal_1", "ls");
  expect(await page({})).toMatchObject({ entries: [{ id: "cal_1" }], hasEarlier: false });
});

function page(query: object) {
  return audit.page(auditQuery.parse(query), () => true);
}

async function entries(): Promise<readonly AuditEntry[]> {
  return (await page({})).entries;
}

function add(stream: string, actor: string, ...events: readonly NewEvent[]) {
  return log.append({ stream, actor, events });
}

/** A session in which Ada has said something and a turn is prepared. */
async function begin(more: { access?: "read" } = {}): Promise<void> {
  await add(
    session,
    "person:ada",
    event("session.created", {
      projectId: "prj_1",
      title: "",
      model: "a/b",
      mode: "auto",
      environment: { kind: "jail", network: "allow", ...more },
      workspace: "copy",
      turnLimit: 25,
    }),
    event("input.admitted", { id: "inp_1", text: "go", attachments: [], delivery: "steer" }),
  );
  await add(
    session,
    `agent:${session satisfies SessionId}`,
    event("workspace.prepared", { path: "/home/ada/copy", branch: "b", base: "c", readable: [], variables: {} }),
    event("input.promoted", { id: "inp_1", activityId: "act_1" }),
    event("turn.prepared", { id: "trn_1", activityId: "act_1", model: "a/b", requestHash: "h" }),
  );
}

function requested(id: CallId, command: string): NewEvent {
  return event("call.requested", { id, turnId: "trn_1", providerCallId: "p", tool: "shell", arguments: { command } });
}

async function ask(id: CallId, command: string): Promise<void> {
  await add(session, `agent:${session}`, requested(id, command));
  await add(session, `agent:${session}`, event("call.started", { id, attempt: 1 }));
}

async function end(id: CallId, result: object = { exitCode: 0, timedOut: false }): Promise<void> {
  await add(session, `agent:${session}`, event("call.settled", { id, result }));
}

function commandStarted(id: `cmd_${string}`, text: string, more: { reads?: true } = {}): NewEvent {
  return event("shell.command-started", { id, text, timeoutMs: 1000, environment: "env_1", ...more });
}

async function snapshot(
  snapshotId: SnapshotId,
  previous: SnapshotId | null,
  calls: CallId[],
  reason: "calls" | "start" = "calls",
  more: { flagged?: FlaggedChange[] } = {},
): Promise<void> {
  const figures = { files: 3, insertions: 12, deletions: 4, skipped: [] };
  const tree = `tree-of-${snapshotId}`;
  await add(
    session,
    "corral",
    event("snapshot.taken", { snapshotId, tree, previous, reason, calls, commands: [], ...figures, ...more }),
  );
}
