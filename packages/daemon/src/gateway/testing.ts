import { request as httpRequest } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CorralError,
  type CreatedToken,
  type CreateToken,
  type NewEvent,
  type ProjectView,
  type SessionView,
  type StoredEvent,
} from "@corral/protocol";
import { type Given, openSlices } from "../assembly/index.ts";
import type { Parts } from "../assembly/port.ts";
import { openCapabilities } from "../capabilities/index.ts";
import { slices } from "../daemon.ts";
import { driversOf, wishOf } from "../environments/index.ts";
import { openJailDriver } from "../environments/jail/index.ts";
import { isGap, type Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import type { RunEnd, RunnerHost } from "../runner/port.ts";
import { openFolderStore } from "../storage/folder/index.ts";
import { makeRepository } from "../testing/repository.ts";
import { gateway as gatewaySlice, type GatewayManners, gatewayWith } from "./slice.ts";

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

/** What a test may have otherwise. */
interface Changes extends GatewayManners, Partial<Pick<Parts, "projects" | "secrets">> {
  readonly dashboard?: string;
  readonly now?: () => number;
}

/** The daemon's own slices in a folder of their own, on a free port. Nothing runs the sessions. */
export async function openTestGateway(changes: Changes = {}, kept?: string) {
  const folder = kept ?? mkdtempSync(join(tmpdir(), "corral-gateway-"));
  const { dashboard = join(folder, "not-built"), now = Date.now, projects: given, secrets, ...manners } = changes;
  /** What the gateway found wrong, and what all others did. */
  const [logged, defects]: [object[], string[]] = [[], []];
  /** What was told of requests that were answered. */
  const told: object[] = [];
  const stops: boolean[] = [];
  const watched = watchSubscribers();
  const daemon = await openSlices(
    slices.map((slice) => (slice === gatewaySlice ? gatewayWith(manners) : slice)) as unknown as typeof slices,
    {
      machine: {
        home: folder,
        port: undefined,
        version: "1.2.3",
        dashboard,
        variables: { CORRAL_MODEL: "rehearsal/any", CORRAL_CONFIG: join(folder, "config.json") },
        logger: {
          child: ({ component }) => ({
            debug: () => undefined,
            info: (context) => (component === "gateway" ? told.push(context) : undefined),
            error: (context, what) => (component === "gateway" ? logged.push(context) : defects.push(what)),
          }),
        },
        now,
        hide: () => undefined,
        setLevel: () => undefined,
        databaseTroubles: () => ({ isSuspect: false, damaged: [] }),
        doctor: () => Promise.resolve({ findings: [] }),
        stop: ({ now: atOnce = false }) => void stops.push(atOnce),
      },
      openLog: async (file, projections) => watched.log(await openSqliteLog({ file, projections })),
      openStore: (name) => openFolderStore(join(folder, "storage", name)),
      drivers: driversOf(openJailDriver({ home: folder })),
      openHost: () => Promise.resolve(idleHost()),
      capabilities: openCapabilities(),
      // Its token is known, and the folder may be opened again while another gateway has it.
      home: {
        folder,
        database: join(folder, "corral.db"),
        token: testToken,
        diskUse: () => ({ freeBytes: 0, databaseBytes: 0, logBytes: 0 }),
        announce: () => undefined,
        release: () => undefined,
      },
      // No jail is tried out.
      sites: { wishFor: (asked) => Promise.resolve(wishOf(asked)) },
      ...(given === undefined ? {} : { projects: given }),
      ...(secrets === undefined ? {} : { secrets }),
    } satisfies Given,
  );
  await daemon.begin();
  const { log, projects, tokens, artifacts, shells, gateway } = daemon.parts;
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
    defects,
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
      await daemon.stop(new AbortController().signal);
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Two processes, as it says, that take sessions and do nothing with them. */
function idleHost(): RunnerHost {
  const ended = Promise.withResolvers<RunEnd>();
  return {
    start: () => ({
      ended: ended.promise,
      wake: () => undefined,
      tell: () => undefined,
      forgetRules: () => undefined,
      open: () => Promise.reject(new CorralError("jail.unavailable", "nothing runs sessions here")),
    }),
    drain: () => Promise.resolve(),
    close: async () => ended.resolve({ kind: "drained" }),
    setLevel: () => undefined,
    forgetReaches: () => undefined,
    runners: () => [1, 2].map((pid) => ({ pid, sessions: 0 })),
  };
}

async function allEvents(log: Log, stream: string | undefined): Promise<readonly StoredEvent[]> {
  const page = await log.read({ after: 0, ...(stream === undefined ? {} : { stream }) });
  if (isGap(page)) throw new Error("events are missing");
  return page;
}

/** The same log, telling how many listen to its live lane: a stream does once it has sent all history. */
function watchSubscribers(): { log: (log: Log) => Log; count: () => number } {
  let subscribers = 0;
  return {
    count: () => subscribers,
    log: (log) =>
      new Proxy(log, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target);
          if (name !== "live") return typeof value === "function" ? (value.bind(target) as unknown) : value;
          return {
            emit: (delta) => target.live.emit(delta),
            subscribe(filter, listener) {
              const unsubscribe = target.live.subscribe(filter, listener);
              subscribers += 1;
              return () => {
                subscribers -= 1;
                unsubscribe();
              };
            },
          } satisfies Log["live"];
        },
      }),
  };
}
