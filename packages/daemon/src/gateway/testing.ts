import { request as httpRequest } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CreatedToken, CreateToken, NewEvent, ProjectView, SessionView } from "@corral/protocol";
import type { Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { openProjects, projectProjections } from "../projects/index.ts";
import { openSessions, sessionProjections } from "../sessions/index.ts";
import { makeRepository } from "../testing/repository.ts";
import { openTokens, tokenProjections } from "../tokens/index.ts";
import { requestProjections } from "./idempotency.ts";
import { openMeter } from "./meter.ts";
import { type GatewayParts, openGateway } from "./server.ts";

export const testToken = "a-token-for-tests";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed, where it is JSON. */
  readonly body: any; // oxlint-disable-line typescript/no-explicit-any
}

/** A request with exactly this path and these headers, on a connection of its own. */
export function ask(
  url: string,
  { method = "GET", path = "/", headers = {}, body = "" }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, method, path, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed(text) }),
      );
    });
    sent.on("error", reject).end(body);
  });
}

interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A gateway on a free port over the real slices, with a log in a folder of its own. Nothing runs the sessions. */
export async function openTestGateway(changes: Partial<GatewayParts> = {}, kept?: string) {
  const folder = kept ?? mkdtempSync(join(tmpdir(), "corral-gateway-"));
  const log = await openSqliteLog({
    file: join(folder, "corral.db"),
    projections: [...projectProjections, ...sessionProjections, ...tokenProjections, ...requestProjections],
  });
  const meter = openMeter();
  const tokens = await openTokens(log, { ownerSecret: testToken, ...(changes.now && { now: changes.now }) });
  const projects = openProjects(log);
  const sessions = openSessions(log, { defaultModel: "rehearsal/any", mayOpen: () => Promise.resolve() });
  const watched = watchSubscribers(log);
  const stops: boolean[] = [];
  const logged: object[] = [];
  const gateway = await openGateway({
    log: watched.log,
    projects,
    sessions,
    tokens,
    meter,
    runners: () => 2,
    version: "1.2.3",
    dashboard: join(folder, "not-built"),
    port: 0,
    onStop: (now) => stops.push(now),
    logger: { info: () => undefined, error: (context) => logged.push(context) },
    ...changes,
  });
  const request = (path: string, init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {}) =>
    fetch(gateway.url + path, { ...init, headers: { authorization: `Bearer ${testToken}`, ...init.headers } });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    request(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const repositories = new Map<string, string>();

  return {
    folder,
    log,
    projects,
    tokens,
    stops,
    logged,
    gateway,
    request,
    post,
    subscribers: watched.count,
    /** A token made by the owner, its secret and a way to use it. */
    async token(wish: Partial<CreateToken> & { name: string }) {
      const made: CreatedToken = await (await post("/api/tokens", wish)).json();
      const headers = { authorization: `Bearer ${made.token}` };
      const send = async (path: string, init: { body?: unknown; headers?: Record<string, string> } = {}) => {
        const isPost = "body" in init;
        return ask(gateway.url, {
          path,
          method: isPost ? "POST" : "GET",
          headers: { ...headers, ...(isPost ? { "content-type": "application/json" } : {}), ...init.headers },
          ...(isPost ? { body: JSON.stringify(init.body) } : {}),
        });
      };
      return { ...made, headers, send };
    },
    /** As a runner would. */
    add: (stream: string, ...events: readonly NewEvent[]) => log.append({ stream, actor: "agent", events }),
    /** A session of the project with this name. */
    async newSession(name = "demo"): Promise<{ project: ProjectView; session: SessionView }> {
      if (!repositories.has(name)) repositories.set(name, makeRepository(join(folder, name)));
      const project = await (await post("/api/projects", { path: repositories.get(name) })).json();
      const session = await (await post("/api/sessions", { projectId: project.id })).json();
      return { project, session };
    },
    async close({ keep = false } = {}) {
      await gateway.close();
      tokens.close();
      meter.close();
      await log.close();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The log, telling how many listen to its live lane: a stream does once it has sent all history. */
function watchSubscribers(log: Log): { log: GatewayParts["log"]; count: () => number } {
  let subscribers = 0;
  return {
    count: () => subscribers,
    log: {
      append: (append) => log.append(append),
      rows: (table, query) => log.rows(table, query),
      onCommit: (listener) => log.onCommit(listener),
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
