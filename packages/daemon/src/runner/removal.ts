import { CorralError, event, type SessionId } from "@corral/protocol";
import type { EnvironmentDrivers } from "../environments/index.ts";
import { type By, historyOf, type Log } from "../log/index.ts";
import { countWaiting } from "../sessions/index.ts";
import { endEnvironmentsOf } from "./leftovers.ts";

/**
 * Takes sessions away, with their environments, workspaces and artifacts.
 *
 * 1. Nothing of a session is taken while it has something to do.
 * 2. Its processes end before its record does, and its files go after it: a crash in between leaves files that `sweep`
 *    finds by the log, and never a session whose files are gone.
 */
export interface Removal {
  /** Makes all that it said and did unreadable for good. Throws `not-found`, `session.busy`. Can be repeated. */
  erase(session: SessionId, by: By): Promise<void>;
  /** Lets it go for its age; its events are left to be trimmed. `in-use`: there is something to do in it after all. */
  expire(session: SessionId): Promise<"expired" | "in-use">;
  /** Removes the workspaces of sessions that are no more. Never rejects. */
  sweep(): Promise<void>;
  /** Breaks off the sweep. */
  close(): Promise<void>;
}

export interface RemovalOptions {
  readonly log: Log;
  readonly drivers: Pick<EnvironmentDrivers, "reopen">;
  /** Ends people's terminals in its environment. */
  readonly closeTerminals: (session: SessionId) => Promise<void>;
  /** Takes its workspace and artifacts away, when nothing else is done with them. */
  readonly removeFiles: (session: SessionId) => Promise<void>;
  readonly onFailure: (name: string, error: unknown) => void;
}

export function openRemoval({ log, drivers, closeTerminals, removeFiles, onFailure }: RemovalOptions): Removal {
  const enough = new AbortController();
  let swept = Promise.resolve();
  return {
    async erase(session, by) {
      const row = await log.row("sessions", session);
      if (row === undefined && (await log.row("removed_sessions", session)) === undefined) throw missing(session);
      if (row?.["open"] === 1) throw busy(session);
      await closeTerminals(session);
      await endEnvironmentsOf(session, log, drivers);
      await log.erase(session, by);
      await clear(session);
    },

    async expire(session) {
      if (await hasWork(session)) return "in-use";
      await endEnvironmentsOf(session, log, drivers);
      const events = await historyOf(log, session);
      const inputs = events.flatMap((each) => (each.type === "input.admitted" ? [each.data.id] : []));
      const artifacts = [
        ...new Set(events.flatMap((each) => (each.type === "artifact.announced" ? [each.data.id] : []))),
      ];
      try {
        await log.append({
          stream: session,
          actor: "corral",
          expectedVersion: events.at(-1)?.version ?? 0,
          events: [event("session.expired", { inputs, ...(artifacts.length === 0 ? {} : { artifacts }) })],
          guards: [{ table: "sessions", key: session, is: { open: 0 } }],
        });
      } catch (error) {
        if (error instanceof CorralError && error.code === "append.conflict") return "in-use";
        throw error;
      }
      await clear(session);
      return "expired";
    },

    sweep: () => (swept = sweep()),

    async close() {
      enough.abort();
      await swept;
    },
  };

  async function sweep(): Promise<void> {
    try {
      for (const row of await log.rows("removed_sessions")) {
        if (enough.signal.aborted) return;
        await clear(row["key"] as SessionId);
      }
    } catch (error) {
      onFailure("removed sessions", error);
    }
  }

  async function hasWork(session: SessionId): Promise<boolean> {
    const row = await log.row("sessions", session);
    const terminals = await log.rows("terminals", {
      where: { place: session, state: "open" },
      orderBy: "seq",
      limit: 1,
    });
    const waiting = await countWaiting(log, session);
    return row === undefined || row["open"] === 1 || waiting > 0 || terminals.length > 0;
  }

  async function clear(session: SessionId): Promise<void> {
    await removeFiles(session).catch((error: unknown) => onFailure(`the files of ${session}`, error));
  }
}

function missing(session: SessionId): CorralError {
  return new CorralError("not-found", `There is no session ${session}.`);
}

function busy(session: SessionId): CorralError {
  return new CorralError("session.busy", `${session} is in the middle of an activity.`, {
    retry: "later",
    hint: "Let it finish, or interrupt it first.",
  });
}
