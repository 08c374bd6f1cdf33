import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession, event, newId } from "@corral/protocol";
import { expect, onTestFinished, test, vi } from "vitest";
import { isGap, type Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { openSessions, sessionProjections } from "../sessions/index.ts";
import { openForeman } from "./foreman.ts";
import type { Assignment, Office, RunnerHost } from "./port.ts";
import { openRehearsedHost } from "./process/testing/rehearsal.ts";

const projects = {
  table: "projects",
  version: 1,
  columns: { path: "text" as const },
  changes: () => [{ key: "prj_1", set: { path: "/repo" } }],
};

/** What was said in the session, when there is that much. */
async function said(log: Log, stream: string, count: number): Promise<readonly string[]> {
  const enough = new AbortController();
  const texts: string[] = [];
  for await (const page of log.tail({ after: 0, stream }, enough.signal)) {
    for (const each of isGap(page) ? [] : page) if (each.type === "turn.said") texts.push(each.data.text);
    if (texts.length >= count) break;
  }
  enough.abort();
  return texts;
}

test("a runner stopped for too long loses its sessions to another, and neither it nor its lease comes back", async () => {
  const home = mkdtempSync(join(tmpdir(), "corral-takeover-"));
  const log = await openSqliteLog({ file: join(home, "log.db"), projections: [projects, ...sessionProjections] });
  const starts: { readonly assignment: Assignment; readonly office: Office }[] = [];
  const pulse = { everyMs: 1_000, missed: 20, missedAtStart: 60 };
  // Questions are asked when the test says so: one that is only slow, on a busy machine, must not be taken for stopped.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const inner = openRehearsedHost({ home, idleMs: 60_000, onDefect: () => undefined }, { pulse });
  const host: RunnerHost = {
    ...inner,
    start(assignment, office) {
      starts.push({ assignment, office });
      return inner.start(assignment, office);
    },
  };
  const foreman = openForeman({ log, host, pauseMs: () => 0, onDefect: () => undefined });
  onTestFinished(async () => {
    await foreman.stop(0);
    await log.close();
    rmSync(home, { recursive: true, force: true });
  });
  const sessions = openSessions(log, {
    defaults: () => Promise.resolve({ model: "anthropic/m", turnLimit: 25 }),
    environment: () => Promise.resolve({ kind: "jail", network: "off" }),
  });
  const registered = event("project.registered", { id: "prj_1", path: "/repo", name: "repo" });
  await log.append({ stream: "prj_1", actor: "test", events: [registered] });
  const { id } = await sessions.create(createSession.parse({ projectId: "prj_1" }), { actor: "test" });
  const text = "pid\nhold";
  await sessions.admit(id, { id: newId("input"), text, attachments: [], delivery: "steer" }, { actor: "test" });

  const [first] = await said(log, id, 1);
  process.kill(Number(first), "SIGSTOP");
  vi.advanceTimersByTime(pulse.everyMs * (pulse.missed + 1));
  const [, second] = await said(log, id, 2);

  expect(second).not.toBe(first);
  const [lost, taken] = starts;
  expect(taken?.assignment.fence).toBeGreaterThan(lost?.assignment.fence ?? Infinity);
  // What it had sent and nobody had read yet comes under the old fence.
  await expect(
    lost?.office.append([event("activity.settled", { id: "act_1", outcome: "done" })]),
  ).rejects.toMatchObject({
    code: "lease.stale",
  });
  await expect.poll(() => signalled(Number(first), "SIGCONT")).toBe("gone");
  expect(starts).toHaveLength(2);
});

function signalled(pid: number, signal: NodeJS.Signals): "sent" | "gone" {
  try {
    process.kill(pid, signal);
    return "sent";
  } catch {
    return "gone";
  }
}
