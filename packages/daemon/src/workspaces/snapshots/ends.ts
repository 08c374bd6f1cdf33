import type { CallId, NewEvent, SessionId, StoredEvent } from "@corral/protocol";
import type { By } from "../../log/index.ts";

/**
 * Which calls that could write run in a session, and which have ended and are in no snapshot yet.
 *
 * 1. When the last one that ran has ended, all that ended are handed over: calls that run side by side share a snapshot, and none
 *    is taken in the middle of another's writing. So does one that started in the commit in which the one before it ended.
 * 2. What was handed over and could not be kept comes back, and goes with the next.
 */
export class Ends {
  readonly #sessions = new Map<SessionId, { readonly running: Set<CallId>; readonly ended: CallId[] }>();
  readonly #onRest: (session: SessionId, calls: readonly CallId[], by: By) => void;

  constructor(onRest: (session: SessionId, calls: readonly CallId[], by: By) => void) {
    this.#onRest = onRest;
  }

  /** All that one commit recorded. */
  hear(commit: readonly StoredEvent[]): void {
    const resting = new Map<SessionId, By>();
    for (const stored of commit) {
      const session = stored.stream as SessionId;
      if (stored.type === "session.expired" || stored.type === "stream.erased") this.#sessions.delete(session);
      const { traceId } = stored;
      if (this.#note(session, stored))
        resting.set(session, { actor: "corral", ...(traceId === undefined ? {} : { traceId }) });
      else if (stored.type === "call.started" && stored.data.reads !== true) resting.delete(session);
    }
    for (const [session, by] of resting) this.#rest(session, by);
  }

  /** Takes in what was recorded before: what ended since the last snapshot is due. */
  recall(session: SessionId, events: readonly StoredEvent[]): void {
    let isDue = false;
    for (const each of events) {
      if (this.#note(session, each)) isDue = true;
      // That of the beginning may be recorded later than calls that it does not cover.
      if (each.type !== "snapshot.taken" || each.data.reason === "start") continue;
      this.drain(session);
      isDue = false;
    }
    if (isDue && this.#of(session).running.size === 0) this.#rest(session, { actor: "corral" });
  }

  /** All that have ended, for a snapshot that is taken anyway. */
  drain(session: SessionId): readonly CallId[] {
    const known = this.#sessions.get(session);
    if (known?.running.size === 0) this.#sessions.delete(session);
    return known?.ended.splice(0) ?? [];
  }

  put(session: SessionId, calls: readonly CallId[]): void {
    if (calls.length > 0) this.#of(session).ended.unshift(...calls);
  }

  /** True: one has ended, and none runs any more. */
  #note(session: SessionId, { type, data }: NewEvent): boolean {
    switch (type) {
      case "call.started":
        if (data.reads !== true) this.#of(session).running.add(data.id);
        return false;
      case "call.settled":
      case "call.failed":
      case "call.declined":
      case "call.interrupted":
      case "call.unknown": {
        const known = this.#sessions.get(session);
        if (known?.running.delete(data.id) !== true) return false;
        known.ended.push(data.id);
        return known.running.size === 0;
      }
      default:
        return false;
    }
  }

  #rest(session: SessionId, by: By): void {
    this.#onRest(session, this.drain(session), by);
  }

  #of(session: SessionId): { readonly running: Set<CallId>; readonly ended: CallId[] } {
    let found = this.#sessions.get(session);
    if (found === undefined) this.#sessions.set(session, (found = { running: new Set(), ended: [] }));
    return found;
  }
}
