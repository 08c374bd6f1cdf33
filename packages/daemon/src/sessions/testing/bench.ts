import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AdmitInput, createSession, type Delivery, event, newId, type SessionId } from "@corral/protocol";
import { onTestFinished } from "vitest";
import { historyOf, type Log, type Projection } from "../../log/index.ts";
import { openSqliteLog } from "../../log/sqlite/index.ts";
import { sessionProjections } from "../projections.ts";
import { openSessions, type Sessions } from "../sessions.ts";

const projects = {
  table: "projects",
  version: 1,
  columns: { path: "text" as const },
  changes: () => [{ key: "prj_1", set: { path: "/repo" } }],
};

export const by = { actor: "test" };

export interface SessionBench {
  readonly log: Log;
  readonly sessions: Sessions;
  /** A session of the one project. */
  readonly id: SessionId;
  /** What listeners threw. */
  readonly defects: readonly unknown[];
  another(wish?: object): Promise<SessionId>;
  types(id?: SessionId): Promise<readonly string[]>;
}

/** A real log with a session on it, gone with the test. */
export async function openBench(more: readonly Projection[] = []): Promise<SessionBench> {
  const folder = mkdtempSync(join(tmpdir(), "corral-inbox-"));
  const defects: unknown[] = [];
  const log = await openSqliteLog({
    file: join(folder, "log.db"),
    projections: [projects, ...sessionProjections, ...more],
    onDefect: (defect) => void defects.push(defect),
  });
  onTestFinished(async () => {
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const sessions = openSessions(log, {
    defaults: () => Promise.resolve({ model: "anthropic/m", turnLimit: 25 }),
    environment: () => Promise.resolve({ kind: "jail", network: "off" }),
  });
  const registered = event("project.registered", { id: "prj_1", path: "/repo", name: "repo" });
  await log.append({ stream: "prj_1", ...by, events: [registered] });
  const another = async (wish = {}) =>
    (await sessions.create(createSession.parse({ projectId: "prj_1", ...wish }), by)).id;
  const id = await another();
  return {
    log,
    sessions,
    id,
    defects,
    another,
    types: async (of = id) => (await historyOf(log, of)).map(({ type }) => type),
  };
}

export function input(text: string, delivery: Delivery = "steer"): AdmitInput {
  return { id: newId("input"), text, attachments: [], delivery };
}
