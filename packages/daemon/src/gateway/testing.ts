import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewEvent, ProjectView, SessionView } from "@corral/protocol";
import { openConfig } from "../config/index.ts";
import type { Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { openProjects, projectProjections } from "../projects/index.ts";
import { openSessions, sessionProjections } from "../sessions/index.ts";
import { makeRepository } from "../testing/repository.ts";
import { type GatewayParts, openGateway } from "./server.ts";

export const testToken = "a-token-for-tests";

/** A gateway on a free port over the real slices, with a log in a folder of its own. Nothing runs the sessions. */
export async function openTestGateway(changes: Partial<GatewayParts> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "corral-gateway-"));
  const log = await openSqliteLog({
    file: join(folder, "corral.db"),
    projections: [...projectProjections, ...sessionProjections],
  });
  const logged: object[] = [];
  const projects = openProjects(log);
  const config = await openConfig({
    log,
    projects,
    home: folder,
    userFile: join(folder, "config.json"),
    variables: { CORRAL_MODEL: "rehearsal/any" },
    onDefect: (what) => logged.push({ what }),
  });
  const sessions = openSessions(log, {
    defaults: (project) => config.valuesFor(project),
    mayOpen: () => Promise.resolve(),
  });
  const watched = watchSubscribers(log);
  const stops: boolean[] = [];
  /** What was told of requests that were answered. */
  const told: object[] = [];
  const gateway = await openGateway({
    log: watched.log,
    projects,
    config,
    sessions,
    token: testToken,
    version: "1.2.3",
    dashboard: join(folder, "not-built"),
    port: 0,
    onStop: (now) => stops.push(now),
    status: () => Promise.reject(new Error("there is no daemon")),
    doctor: () => Promise.resolve({ findings: [] }),
    logger: {
      debug: () => undefined,
      info: (context) => told.push(context),
      error: (context) => logged.push(context),
    },
    ...changes,
  });
  const request = (path: string, init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {}) =>
    fetch(gateway.url + path, { ...init, headers: { authorization: `Bearer ${testToken}`, ...init.headers } });
  const post = (path: string, body: unknown) =>
    request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  let repository: string | undefined;

  return {
    folder,
    log,
    projects,
    stops,
    told,
    logged,
    gateway,
    request,
    post,
    subscribers: watched.count,
    /** As a runner would. */
    add: (stream: string, ...events: readonly NewEvent[]) => log.append({ stream, actor: "agent", events }),
    /** A session of the one project there is. */
    async newSession(): Promise<{ project: ProjectView; session: SessionView }> {
      repository ??= makeRepository(join(folder, "demo"));
      const project = await (await post("/api/projects", { path: repository })).json();
      const session = await (await post("/api/sessions", { projectId: project.id })).json();
      return { project, session };
    },
    async close() {
      await gateway.close();
      await log.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The log, telling how many listen to its live lane: a stream does once it has sent all history. */
function watchSubscribers(log: Log): { log: GatewayParts["log"]; count: () => number } {
  let subscribers = 0;
  return {
    count: () => subscribers,
    log: {
      read: (range) => log.read(range),
      tail: (cursor, signal) => log.tail(cursor, signal),
      live: {
        emit: (delta) => log.live.emit(delta),
        subscribe(filter, listener) {
          const unsubscribe = log.live.subscribe(filter, listener);
          subscribers += 1;
          return () => {
            subscribers -= 1;
            unsubscribe();
          };
        },
      },
    },
  };
}
