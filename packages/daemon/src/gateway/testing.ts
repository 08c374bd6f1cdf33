import { request as httpRequest } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CreatedToken,
  type CreateToken,
  type NewEvent,
  type ProjectView,
  type SessionView,
  type StoredEvent,
} from "@corral/protocol";
import { slices } from "../daemon.ts";
import { routesOf } from "../assembly/index.ts";
import { openAudit } from "../audit/index.ts";
import { artifactProjections, openArtifacts } from "../artifacts/index.ts";
import { openBackups } from "../backups/index.ts";
import { openConfig } from "../config/index.ts";
import { openCredentials } from "../credentials/index.ts";
import { egressProjections, openEgress } from "../egress/index.ts";
import { driversOf, type EnvironmentDriver, wishOf } from "../environments/index.ts";
import { openJailDriver } from "../environments/jail/index.ts";
import { isGap, type Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { modelProjections, openModels } from "../models/index.ts";
import { openUsage, usageProjections } from "../usage/index.ts";
import { openProjects, projectProjections } from "../projects/index.ts";
import { openQuestions, questionProjections } from "../questions/index.ts";
import { foundRules, openRules, projectRulesFile, ruleProjections } from "../rules/index.ts";
import { Secrets } from "../secrets/index.ts";
import { openSessions, sessionProjections } from "../sessions/index.ts";
import { openRemoval } from "../runner/index.ts";
import { openFolderStore } from "../storage/folder/index.ts";
import { makeRepository } from "../testing/repository.ts";
import { openShells, shellProjections } from "../shells/index.ts";
import { keepScrollbacks, openSessionTerminals, terminalProjections } from "../terminals/index.ts";
import { openTokens, tokenProjections } from "../tokens/index.ts";
import {
  isShell,
  openSnapshots,
  openSpares,
  openWorkspaces,
  snapshotProjections,
  workspaceProjections,
} from "../workspaces/index.ts";

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
    projections: [
      ...projectProjections,
      ...sessionProjections,
      ...shellProjections,
      ...terminalProjections,
      ...workspaceProjections,
      ...snapshotProjections,
      ...tokenProjections,
      ...modelProjections,
      ...usageProjections,
      ...requestProjections,
      ...egressProjections,
      ...artifactProjections,
      ...questionProjections,
      ...ruleProjections,
    ],
  });
  const secrets = changes.secrets ?? new Secrets();
  const meter = openMeter();
  const tokens = await openTokens(log, { ownerSecret: testToken, ...(changes.now && { now: changes.now }) });
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
    environment: (asked) => Promise.resolve(wishOf(asked)),
  });
  const drivers = driversOf(openJailDriver({ home: folder }));
  const onDefect = (what: string) => void logged.push({ what });
  const artifacts = await openArtifacts({
    log,
    store: await openFolderStore(join(folder, "storage", "artifacts")),
    home: folder,
    terms: () => ({ maxBytes: 1e9, sessionMaxBytes: 1e9, days: null }),
    onDefect,
  });
  const scrollbacks = keepScrollbacks(artifacts, { secrets });
  const shells = openShells({
    log,
    home: folder,
    drivers,
    scrollbacks,
    artifacts,
    secrets,
    waysOut: { hold: () => Promise.reject(new Error("there is no way out here")) },
    onDefect: (what) => logged.push({ what }),
  });
  await shells.begin();
  const terminals = openSessionTerminals({
    log,
    drivers,
    scrollbacks,
    onDefect: (what) => logged.push({ what }),
  });
  await terminals.begin();
  const spares = openSpares({ folder: join(folder, "spares"), newOwner: undefined, wanted: () => false, onDefect });
  const workspaces = openWorkspaces({
    log,
    home: folder,
    spares,
    endEnvironments: () => Promise.resolve(),
    terms: () => ({ idleDays: null, discardedDays: 1 }),
    onDefect,
  });
  const snapshots = openSnapshots({
    log,
    home: folder,
    store: await openFolderStore(join(folder, "storage", "snapshots")),
    terms: () => ({ days: null, most: 100, ignored: [], largestFile: 2 ** 20 }),
    atRest: (occupant, work) => (isShell(occupant) ? shells.atRest(occupant, "its files were restored", work) : work()),
    onDefect,
  });
  snapshots.takeTurnsVia(workspaces);
  shells.snapshotVia(snapshots);
  const egress = openEgress({
    log,
    home: folder,
    hasOtherUsers: false,
    onDefect,
  });
  const questions = openQuestions({ log, onDefect, ...(changes.now && { now: changes.now }) });
  await questions.begin();
  const watched = watchSubscribers(log);
  const stops: boolean[] = [];
  /** What was told of requests that were answered. */
  const told: object[] = [];
  const gateway = await openGateway({
    routes: routesOf(slices),
    log: watched.log,
    projects,
    config,
    sessions,
    workspaces,
    artifacts,
    snapshots,
    removal: openRemoval({
      log,
      drivers: driversOf(noDriver),
      closeTerminals: (session) => terminals.closeAll(session),
      removeFiles: (session) => workspaces.remove(session),
      onFailure: (name) => logged.push({ what: name }),
    }),
    shells,
    terminals,
    tokens,
    meter,
    egress,
    questions,
    rules: openRules({
      log,
      userFile: join(folder, "rules.json"),
      projectFile: async () => foundRules(projectRulesFile, { kind: "absent" }),
    }),
    models: await openModels({
      log,
      own: () => ({}),
      reachable: async () => new Set(["anthropic"]),
      listed: async () => new Map(),
    }),
    usage: openUsage({ log, projects: async () => new Map() }),
    credentials: openCredentials({
      log,
      file: join(folder, "credentials.json"),
      variables: {},
      settings: () => ({}),
      learn: () => undefined,
    }),
    secrets,
    audit: openAudit(log),
    backups: openBackups({ log, folder: join(folder, "backups") }),
    runners: () => 2,
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
    artifacts,
    stops,
    told,
    logged,
    gateway,
    request,
    post,
    subscribers: watched.count,
    /** All events, or those of one stream. */
    events: (stream?: string) => allEvents(log, stream),
    /** A token made by the owner, its secret and a way to use it. */
    async token(wish: Partial<CreateToken> & { name: string }) {
      const made: CreatedToken = await (await post("/api/tokens", wish)).json();
      const headers = { authorization: `Bearer ${made.token}` };
      const send = async (
        path: string,
        init: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
      ) => {
        const hasBody = "body" in init;
        return ask(gateway.url, {
          path,
          method: init.method ?? (hasBody ? "POST" : "GET"),
          headers: { ...headers, ...(hasBody ? { "content-type": "application/json" } : {}), ...init.headers },
          ...(hasBody ? { body: JSON.stringify(init.body) } : {}),
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
      for (const { id } of await shells.list()) await shells.close(id, { actor: "person:test" });
      shells.stop();
      await gateway.close();
      await workspaces.close();
      await artifacts.close();
      await snapshots.close();
      await spares.close();
      await egress.close();
      questions.close();
      tokens.close();
      meter.close();
      await config.close();
      await log.close();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Nothing runs the sessions, so none has an environment. */
const noDriver: EnvironmentDriver = {
  kind: "jail",
  newOwner: undefined,
  probe: () => Promise.reject(new Error("nothing runs here")),
  open: () => Promise.reject(new Error("nothing runs here")),
  reopen: () => Promise.reject(new Error("nothing runs here")),
  sweep: () => Promise.resolve(),
};

async function allEvents(log: Log, stream: string | undefined): Promise<readonly StoredEvent[]> {
  const page = await log.read({ after: 0, ...(stream === undefined ? {} : { stream }) });
  if (isGap(page)) throw new Error("events are missing");
  return page;
}

/** The log, telling how many listen to its live lane: a stream does once it has sent all history. */
function watchSubscribers(log: Log): { log: GatewayParts["log"]; count: () => number } {
  let subscribers = 0;
  return {
    count: () => subscribers,
    log: {
      append: (append) => log.append(append),
      head: () => log.head(),
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
