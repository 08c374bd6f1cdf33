import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession, type Delta, event, newId, type SessionId, type StoredEvent } from "@corral/protocol";
import { openCapabilities, RunScope } from "../../capabilities/index.ts";
import type { AskOf, Nothing } from "../../capabilities/port.ts";
import { defaultLimits } from "../../environments/index.ts";
import { historyOf, isGap, type Lease, type Log } from "../../log/index.ts";
import { openSqliteLog } from "../../log/sqlite/index.ts";
import { openSessions, promote, type Sessions, sessionProjections } from "../../sessions/index.ts";
import { allowsEverything } from "../../testing/capabilities.ts";
import type { Assignment, Office, RunnerHost, Running } from "../port.ts";

/** Where a host under test works. */
export interface HostPlace {
  readonly home: string;
  /** What hosts that meet defects tell. */
  readonly onDefect: (what: string) => void;
  readonly idleMs: number;
}

/** A real log with sessions in it, and a host to run them. */
export interface Stage extends AsyncDisposable {
  readonly log: Log;
  readonly host: RunnerHost;
  readonly defects: readonly string[];
  /** A session with these inputs waiting, each a list of orders. */
  session(...inputs: readonly string[]): Promise<StagedSession>;
}

export interface StagedSession {
  readonly id: SessionId;
  admit(orders: string): Promise<void>;
  /** Takes the lease and gives the session to the host, as the foreman does. */
  start(how?: { readonly company?: Assignment["company"] }): Promise<StagedRun>;
  /** Records an interrupt of the open activity, for `tell`. */
  interrupt(): Promise<StoredEvent>;
  /** Resolves with all texts said so far when there are that many. */
  said(count: number): Promise<readonly string[]>;
  types(): Promise<readonly string[]>;
}

export interface StagedRun extends Running {
  readonly assignment: Assignment;
  readonly office: Office;
  /** What reached the office, in the order it did. */
  readonly reached: readonly Reached[];
}

export type Reached =
  | { readonly what: "delta"; readonly delta: Delta }
  | { readonly what: "event"; readonly event: Parameters<Office["append"]>[0][number] }
  | { readonly what: "promote" }
  | { readonly what: "given up" }
  | { readonly what: "keep"; readonly step: AskOf<"artifacts.keep"> };

export async function openStage(
  open: (place: HostPlace) => RunnerHost,
  { idleMs = 60_000 }: { readonly idleMs?: number } = {},
): Promise<Stage> {
  const home = mkdtempSync(join(tmpdir(), "corral-host-"));
  const log = await openSqliteLog({ file: join(home, "corral.db"), projections: sessionProjections });
  const defects: string[] = [];
  const host = open({ home, idleMs, onDefect: (what) => void defects.push(what) });
  const sessions = openSessions(log, {
    defaults: () => Promise.resolve({ model: "rehearsed/rehearsed", turnLimit: 25 }),
    environment: () => Promise.resolve({ kind: "jail", network: "off" }),
  });
  return {
    log,
    host,
    defects,
    async session(...inputs) {
      const id = newId("session");
      await log.append({ stream: id, actor: "person:test", events: [created()] });
      const staged = stageSession(log, sessions, host, id);
      for (const orders of inputs) await staged.admit(orders);
      return staged;
    },
    async [Symbol.asyncDispose]() {
      await host.close();
      await log.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function created() {
  const wish = createSession.parse({ projectId: newId("project") });
  const { projectId, mode, workspace, turnLimit = 25 } = wish;
  const environment = { kind: "jail", network: "off" } as const;
  const model = "rehearsed/rehearsed";
  return event("session.created", { projectId, title: "A rehearsal", model, mode, environment, workspace, turnLimit });
}

function stageSession(log: Log, sessions: Sessions, host: RunnerHost, id: SessionId): StagedSession {
  const events = () => historyOf(log, id);
  return {
    id,
    async admit(text) {
      await sessions.admit(
        id,
        { id: newId("input"), text, attachments: [], delivery: "queue" },
        { actor: "person:test" },
      );
    },
    async start({ company = "others" } = {}) {
      const lease = await log.takeLease(id, "runner");
      const assignment: Assignment = {
        session: id,
        fence: lease.fence,
        repository: "/nonexistent",
        events: await events(),
        company,
        limits: defaultLimits,
      };
      const reached: Reached[] = [];
      const office = watchedOffice(log, id, lease, reached);
      return Object.assign(host.start(assignment, office), { assignment, office, reached });
    },
    async interrupt() {
      const opened = (await events()).findLast((each) => each.type === "activity.opened");
      if (opened === undefined) throw new Error("no activity is open");
      const data = { id: opened.data.id };
      const [stored] = await log.append({
        stream: id,
        actor: "person:test",
        events: [event("activity.interrupt-requested", data)],
      });
      return stored!;
    },
    said: (count) => saidIn(log, id, count),
    types: async () => (await events()).map((each) => each.type),
  };
}

function watchedOffice(log: Log, session: SessionId, lease: Lease, reached: Reached[]): Office {
  const capabilities = openCapabilities({
    ...allowsEverything,
    // Nobody is answered who does not give up.
    async "workspaces.snapshotted"(_, __, { signal }) {
      const { promise, resolve } = Promise.withResolvers<Nothing>();
      signal.addEventListener("abort", () => {
        reached.push({ what: "given up" });
        resolve({});
      });
      return promise;
    },
    async "artifacts.keep"(_, step) {
      reached.push({ what: "keep", step });
      if (step.step === "append" && step.bytes.byteLength === 0) throw new Error("nothing to keep");
      const bytes = step.step === "append" ? step.bytes.byteLength : 0;
      return { id: step.id, url: "file:///artifact", bytes };
    },
  });
  return {
    ...capabilities.for(new RunScope(session, () => undefined)),
    async append(events) {
      reached.push(...events.map((each) => ({ what: "event", event: each }) as const));
      await log.append({ stream: session, actor: `agent:${session}`, fence: lease.fence, events });
    },
    promote(place) {
      reached.push({ what: "promote" });
      return promote(log, lease, place);
    },
    claimPlace: () => Promise.resolve(true),
    emit: (delta) => void reached.push({ what: "delta", delta }),
  };
}

async function saidIn(log: Log, session: SessionId, count: number): Promise<readonly string[]> {
  const enough = new AbortController();
  const texts: string[] = [];
  for await (const batch of log.tail({ after: 0, stream: session }, enough.signal)) {
    for (const each of isGap(batch) ? [] : batch) if (each.type === "turn.said") texts.push(each.data.text);
    if (texts.length >= count) break;
  }
  enough.abort();
  return texts;
}
