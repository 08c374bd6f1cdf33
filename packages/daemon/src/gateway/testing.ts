import { EventEmitter, on } from "node:events";
import {
  CorralError,
  type Delta,
  type InputView,
  type NewEvent,
  newId,
  type ProjectView,
  type SessionId,
  type SessionView,
  type StoredEvent,
} from "@corral/protocol";
import type { Log } from "../log/port.ts";
import { type Gateway, type GatewayParts, openGateway } from "./server.ts";
import type { Projects } from "../projects/index.ts";
import type { Sessions } from "../sessions/index.ts";

export const testToken = "a-token-for-tests";

/** A gateway on a free port over slices in memory. */
export async function openTestGateway(changes: Partial<GatewayParts> = {}) {
  const log = memoryLog();
  const slices = memorySlices(log);
  const stops: boolean[] = [];
  const logged: object[] = [];
  const gateway: Gateway = await openGateway({
    log,
    ...slices,
    token: testToken,
    version: "1.2.3",
    port: 0,
    onStop: (now) => stops.push(now),
    logger: { error: (context) => logged.push(context) },
    ...changes,
  });
  const request = (path: string, init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {}) =>
    fetch(gateway.url + path, { ...init, headers: { authorization: `Bearer ${testToken}`, ...init.headers } });
  const post = (path: string, body: unknown) =>
    request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return { log, ...slices, stops, logged, gateway, request, post };
}

export interface MemoryLog extends Pick<Log, "read" | "tail" | "live"> {
  add(stream: string, ...events: NewEvent[]): StoredEvent[];
  emit(...deltas: Delta[]): void;
  /** What `live.subscribe` begins with. */
  readonly open: Delta[];
  readonly subscribers: number;
}

export function memoryLog(): MemoryLog {
  const events: StoredEvent[] = [];
  const open: Delta[] = [];
  const hub = new EventEmitter().setMaxListeners(0);
  const listeners = new Set<(deltas: readonly Delta[]) => void>();
  const after = (seq: number, stream: string | undefined) =>
    events.filter((event) => event.seq > seq && (stream === undefined || event.stream === stream));
  return {
    open,
    get subscribers() {
      return listeners.size;
    },
    add(stream, ...added) {
      const stored = added.map((event, index) => ({
        ...event,
        seq: events.length + index + 1,
        stream,
        version: after(0, stream).length + index + 1,
        typeVersion: 1,
        actor: "operator",
        approximateCreationTime: "2026-01-01T00:00:00.000Z",
      }));
      events.push(...stored);
      hub.emit("commit");
      return stored;
    },
    emit(...deltas) {
      for (const listener of listeners) listener(deltas);
    },
    read: async (range) => after(range.after, range.stream).slice(0, range.limit ?? 1000),
    async *tail(cursor, signal) {
      let seen = cursor.after;
      const commits = on(hub, "commit", { signal });
      try {
        for (;;) {
          const fresh = after(seen, cursor.stream);
          if (fresh.length > 0) yield fresh;
          seen = Math.max(seen, events.length);
          await commits.next();
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    live: {
      emit: () => undefined,
      subscribe(_filter, listener) {
        listeners.add(listener);
        if (open.length > 0) listener(open);
        return () => listeners.delete(listener);
      },
    },
  };
}

function memorySlices(log: MemoryLog): { sessions: Sessions; projects: Projects } {
  const projects = new Map<string, ProjectView>();
  const sessions = new Map<string, SessionView>();
  const inputs = new Map<string, { input: InputView; seq: number }>();
  const known = (id: SessionId) => {
    if (!sessions.has(id)) throw new CorralError("not-found", `There is no session ${id}`);
  };
  return {
    projects: {
      async register({ path }) {
        const id = newId("project");
        const [stored] = log.add(id, { type: "project.registered", data: { id, path, name: "demo" } });
        const view = { id, path, name: "demo", seq: stored?.seq ?? 0 };
        projects.set(id, view);
        return view;
      },
      get: async (id) => projects.get(id),
      list: async () => [...projects.values()],
    },
    sessions: {
      async create({ projectId, model = "rehearsal/any", ...rest }) {
        if (!projects.has(projectId)) throw new CorralError("not-found", `There is no project ${projectId}`);
        const id = newId("session");
        const data = { projectId, title: "", model, ...rest };
        const [stored] = log.add(id, { type: "session.created", data });
        const view: SessionView = { id, ...data, state: { state: "idle" }, seq: stored?.seq ?? 0 };
        sessions.set(id, view);
        return view;
      },
      get: async (id) => sessions.get(id),
      list: async () => [...sessions.values()],
      async admit(id, input) {
        known(id);
        const before = inputs.get(input.id);
        if (before !== undefined && before.input.text !== input.text)
          return { kind: "conflict", reason: "This input id was used for another text" };
        if (before !== undefined) return { kind: "duplicate", ...before };
        const [stored] = log.add(id, { type: "input.admitted", data: input });
        const admitted = { input: { ...input, state: "waiting" as const, activityId: null }, seq: stored?.seq ?? 0 };
        inputs.set(input.id, admitted);
        return { kind: "admitted", ...admitted };
      },
      async interrupt(id) {
        known(id);
        return { kind: "nothing-running" };
      },
      async decide(id, { call }) {
        known(id);
        return { kind: call === "cal_lost" ? "decided" : "nothing-to-decide" };
      },
    },
  };
}
