import {
  type CallId,
  type CommandId,
  isEndOf,
  type NewEvent,
  type StoredEvent,
  type TerminalId,
} from "@corral/protocol";
import type { By } from "../../log/index.ts";
import { isShell, type Occupant } from "./occupant.ts";

/** What has ended and may have changed files: a call, or, in a person's shell, a command or a terminal. */
export type Ended = CallId | CommandId | TerminalId;

/**
 * Which calls and commands that could write run in a workspace, and which have ended and are in no snapshot yet.
 *
 * 1. When the last one that ran has ended, all that ended are handed over: calls that run side by side share a snapshot, and none
 *    is taken in the middle of another's writing. So does one that started in the commit in which the one before it ended.
 *    A terminal does not count as running: it may stay open for days.
 * 2. What was handed over and could not be kept comes back, and goes with the next.
 * 3. When the environment of a person's shell has closed, what ran on in the background there has ended, too.
 */
export class Ends {
  readonly #occupants = new Map<Occupant, { readonly running: Set<Ended>; readonly ended: Ended[] }>();
  readonly #onRest: (occupant: Occupant, ended: readonly Ended[], by: By) => void;

  constructor(onRest: (occupant: Occupant, ended: readonly Ended[], by: By) => void) {
    this.#onRest = onRest;
  }

  /** All that one commit recorded. */
  hear(commit: readonly StoredEvent[]): void {
    const resting = new Map<Occupant, By>();
    for (const stored of commit) {
      const occupant = stored.stream as Occupant;
      if (isEndOf("session", stored)) this.forget(occupant);
      const { traceId } = stored;
      if (this.#note(occupant, stored))
        resting.set(occupant, { actor: "corral", ...(traceId === undefined ? {} : { traceId }) });
      else if (startsWriting(stored)) resting.delete(occupant);
    }
    for (const [occupant, by] of resting) this.#rest(occupant, by);
  }

  /** Takes in what was recorded before: what ended since the last snapshot is due. */
  recall(occupant: Occupant, events: readonly StoredEvent[]): void {
    let isDue = false;
    for (const each of events) {
      if (this.#note(occupant, each)) isDue = true;
      if (!isLook(each)) continue;
      this.drain(occupant);
      isDue = false;
    }
    if (isDue && this.#of(occupant).running.size === 0) this.#rest(occupant, { actor: "corral" });
  }

  /** All that have ended, for a snapshot that is taken anyway. */
  drain(occupant: Occupant): readonly Ended[] {
    const known = this.#occupants.get(occupant);
    if (known?.running.size === 0) this.forget(occupant);
    return known?.ended.splice(0) ?? [];
  }

  put(occupant: Occupant, ended: readonly Ended[]): void {
    if (ended.length > 0) this.#of(occupant).ended.unshift(...ended);
  }

  forget(occupant: Occupant): void {
    this.#occupants.delete(occupant);
  }

  /** True: one has ended, and none runs any more. */
  #note(occupant: Occupant, told: NewEvent): boolean {
    if (startsWriting(told)) this.#of(occupant).running.add(told.data.id);
    if (isEndOf("call", told) || isEndOf("command", told)) {
      const known = this.#occupants.get(occupant);
      if (known?.running.delete(told.data.id) !== true) return false;
      known.ended.push(told.data.id);
      return known.running.size === 0;
    }
    if (!isShell(occupant)) return false;
    if (isEndOf("terminal", told)) {
      const { running, ended } = this.#of(occupant);
      ended.push(told.data.id);
      return running.size === 0;
    }
    return isEndOf("environment", told) && (this.#occupants.get(occupant)?.running.size ?? 0) === 0;
  }

  #rest(occupant: Occupant, by: By): void {
    this.#onRest(occupant, this.drain(occupant), by);
  }

  #of(occupant: Occupant): { readonly running: Set<Ended>; readonly ended: Ended[] } {
    let found = this.#occupants.get(occupant);
    if (found === undefined) this.#occupants.set(occupant, (found = { running: new Set(), ended: [] }));
    return found;
  }
}

/** All files were looked at. That of the beginning may be recorded later than calls that it does not cover. */
function isLook({ type, data }: NewEvent): boolean {
  return type === "snapshot.unchanged" || (type === "snapshot.taken" && data.reason !== "start");
}

type Start = Extract<NewEvent, { readonly type: "call.started" | "shell.command-started" }>;

function startsWriting(told: NewEvent): told is Start {
  return (told.type === "call.started" || told.type === "shell.command-started") && told.data.reads !== true;
}
