import {
  type ActivityState,
  type DaemonStatus,
  event,
  isEndOf,
  type NewEvent,
  type PlaceInLine,
  type ProjectId,
  type SessionId,
  type StoredEvent,
} from "@corral/protocol";
import { fault } from "../../faults/index.ts";
import type { Log, Row } from "../../log/index.ts";
import { hasEligible } from "../../sessions/index.ts";
import type { PlaceLimits } from "./limits.ts";
import { Places } from "./places.ts";

export interface UsherWorld {
  readonly log: Log;
  readonly limits: () => PlaceLimits;
  /** Closes the environment of a session at rest. False: it is in use after all. */
  readonly close: (session: SessionId) => Promise<boolean>;
  /** The session has a place, or has something to do. */
  readonly wake: (session: SessionId) => void;
  readonly onDefect: (what: string, error?: unknown) => void;
}

/**
 * The usher keeps the record of the line for places: who waits is told there, so that everybody can see it and the line is the same
 * after a restart.
 *
 * 1. A session that gets a place at once leaves no trace of it.
 * 2. What is recorded of one session is recorded in order; a session is woken when it is on record that its turn has come. A
 *    record that fails holds nobody up.
 * 3. A session in line that has nothing left to do leaves it; should something come at that very moment, it is woken.
 */
export class Usher {
  readonly #world: UsherWorld;
  readonly #places: Places;
  readonly #projects = new Map<SessionId, ProjectId>();
  readonly #told = new Map<SessionId, Promise<void>>();

  constructor(world: UsherWorld) {
    this.#world = world;
    this.#places = new Places({
      limits: world.limits,
      close: world.close,
      onGiven: (session) => this.#given(session),
    });
  }

  /** As it was when the daemon ended: those at work first, then the line as it stood. */
  async begin(): Promise<void> {
    const { log } = this.#world;
    const rows = new Map((await log.rows("sessions")).map((row) => [row["key"] as SessionId, row]));
    const projectOf = (session: unknown) => rows.get(session as SessionId)?.["project"] as ProjectId | undefined;
    for (const row of await log.rows("environments")) {
      const project = projectOf(row["session"]);
      if (project !== undefined) this.#places.opened(row["session"] as SessionId, project);
    }
    const line = await log.rows("line", { orderBy: "seq" });
    const inLine = new Set(line.map((row) => row["key"] as SessionId));
    for (const [session, row] of rows)
      if (isAtWork(row) && !inLine.has(session)) await this.claim(session, row["project"] as ProjectId);
    for (const session of inLine) {
      const project = projectOf(session);
      if (project !== undefined && this.#claimed(session, project)) this.#given(session);
    }
    for (const session of inLine) void this.#leaveIfDone(session);
  }

  /** Who it is that runs, so that its environment is counted whoever opens it. */
  meet(session: SessionId, project: ProjectId): void {
    this.#projects.set(session, project);
  }

  /** It runs no more. */
  part(session: SessionId): void {
    this.#projects.delete(session);
  }

  /** For a session in the middle of an activity. False: it is in line, on record, and will be woken. */
  async claim(session: SessionId, project: ProjectId): Promise<boolean> {
    const wasInLine = this.#places.isInLine(session);
    if (this.#claimed(session, project)) return true;
    const standing = this.#places.standings().get(session);
    if (!wasInLine && standing !== undefined) await this.#tell(session, event("place.awaited", standing));
    return false;
  }

  /** For a session that may open an activity; it does not stand in line for nothing. */
  async mayOpen(session: SessionId, project: ProjectId): Promise<boolean> {
    const isSure = this.#places.couldHave(session, project) || this.#places.isInLine(session);
    if (!isSure && !(await hasEligible(this.#world.log, session))) return false;
    return this.claim(session, project);
  }

  release(session: SessionId): void {
    this.#places.release(session);
  }

  isInLine(session: SessionId): boolean {
    return this.#places.isInLine(session);
  }

  /** Before a person uses its environment. */
  async ready(session: SessionId): Promise<void> {
    this.#places.touched(session);
    await this.#places.settled(session);
  }

  /** The limits have changed. */
  look(): void {
    this.#places.look();
  }

  standings(): ReadonlyMap<SessionId, PlaceInLine> {
    return this.#places.standings();
  }

  status(): DaemonStatus["places"] {
    const { sessions, environments, inLine } = this.#places.taken;
    const limits = this.#world.limits();
    return {
      sessions: { taken: sessions, most: limits["sessions.atOnce"] },
      environments: { taken: environments, most: limits["environments.atOnce"] },
      inLine,
    };
  }

  notice(stored: StoredEvent): void {
    const session = stored.stream as SessionId;
    if (isEndOf("session", stored)) return this.#forget(session);
    switch (stored.type) {
      case "activity.settled":
      case "activity.waiting":
        return this.#places.release(session);
      case "environment.opened": {
        const project = this.#projects.get(session);
        return project === undefined ? undefined : this.#places.opened(session, project);
      }
      case "environment.closed":
        return this.#places.closed(session);
      case "terminal.closed":
        return this.#places.touched(session);
      case "input.cancelled":
      case "input.flipped":
      case "queue.parked":
      case "session.archived":
      case "activity.interrupt-requested":
        return void this.#leaveIfDone(session);
      default:
      // Other events neither need a place nor give one back.
    }
  }

  #claimed(session: SessionId, project: ProjectId): boolean {
    this.meet(session, project);
    return this.#places.claim(session, project);
  }

  #given(session: SessionId): void {
    void this.#tell(session, event("place.given", {})).then(() => {
      fault("place.given");
      this.#world.wake(session);
    });
  }

  async #leaveIfDone(session: SessionId): Promise<void> {
    if (!this.#places.isInLine(session) || (await this.#wantsPlace(session)) || !this.#places.leave(session)) return;
    await this.#tell(session, event("place.left", {}));
    if (await this.#wantsPlace(session)) this.#world.wake(session);
  }

  /** An activity that is open wants to go on, whatever it waited for, until a person stops it. When that cannot be told it stays where it is. */
  async #wantsPlace(session: SessionId): Promise<boolean> {
    const { log } = this.#world;
    try {
      const row = await log.row("sessions", session);
      if (row?.["open"] === 1) return row["parked_by_interrupt"] === null;
      return row !== undefined && (await hasEligible(log, session));
    } catch {
      return true;
    }
  }

  #forget(session: SessionId): void {
    this.#projects.delete(session);
    this.#told.delete(session);
    this.#places.closed(session);
    this.#places.release(session);
    this.#places.leave(session);
  }

  #tell(session: SessionId, told: NewEvent): Promise<void> {
    const { log, onDefect } = this.#world;
    const guards = [{ table: "sessions", key: session, is: {} }];
    const before = this.#told.get(session) ?? Promise.resolve();
    const done = before
      .then(() => log.append({ stream: session, actor: "corral", events: [told], guards }))
      .then(
        () => undefined,
        (error: unknown) => onDefect(`${told.type} of ${session} is not on record`, error),
      );
    this.#told.set(session, done);
    void done.then(() => this.#told.get(session) === done && this.#told.delete(session));
    return done;
  }
}

/** In the middle of an activity that is to go on by itself. One that was interrupted needs no place to end. */
function isAtWork(row: Row): boolean {
  const { state } = JSON.parse(row["state"] as string) as ActivityState;
  return state === "thinking" && row["parked_by_interrupt"] === null;
}
