import type { PlaceInLine, PlaceLimit, ProjectId, SessionId } from "@corral/protocol";
import { nextInLine, orderOfLine, type Share, type Waiter } from "./line.ts";
import type { PlaceLimits } from "./limits.ts";

export interface PlacesWorld {
  readonly limits: () => PlaceLimits;
  /** It was in line, and has a place now. */
  readonly onGiven: (session: SessionId) => void;
  /** Closes the environment of a session at rest. False: it is in use after all, or cannot be closed. */
  readonly close: (session: SessionId) => Promise<boolean>;
}

/**
 * Who is at work, and who waits in line for a place.
 *
 * 1. A session at work has a place until it gives it back: when its activity has ended or waits for a person.
 * 2. Limits of environments count sessions that are at work and those at rest that have one open, so that whoever has a
 *    place never waits for an environment. What a person opens by hand is counted and does not wait.
 * 3. Places go in the order of the line (`line.ts`). Whoever gave one back stands at the end when it wants another, so none that
 *    keeps itself busy holds others up, and nobody overtakes the first in line as long as room can be made for it.
 * 4. Room for an environment is made by closing one at rest, the one that rested longest first, one at a time. Its session gets no
 *    place before that is over.
 * 5. Nothing here waits or is written down; that is the foreman's part.
 */
export class Places {
  readonly #world: PlacesWorld;
  readonly #atWork = new Map<SessionId, ProjectId>();
  /** Sessions with an environment, those that rested longest first. */
  readonly #open = new Map<SessionId, ProjectId>();
  readonly #line = new Map<SessionId, InLine>();
  readonly #lastGiven = new Map<ProjectId, number>();
  /** At rest, and not to be closed: a person is at a terminal in it, for instance. */
  readonly #kept = new Set<SessionId>();
  #closing: { readonly session: SessionId; readonly over: Promise<void> } | undefined;
  #given = 0;

  constructor(world: PlacesWorld) {
    this.#world = world;
  }

  /** True: it has a place. False: it is in line, and will be told. */
  claim(session: SessionId, project: ProjectId): boolean {
    if (this.#atWork.has(session)) return true;
    const waiter = this.#line.get(session) ?? { session, project, isTold: false };
    this.#line.set(session, waiter);
    this.look();
    if (this.#atWork.has(session)) return true;
    waiter.isTold = true;
    return false;
  }

  /** Places are given as far as there are any: called whenever there may be more of them, as after a change of limits. */
  look(): void {
    const full = { sessions: new Set<ProjectId>(), environments: new Set<ProjectId>() };
    const mayBe = ({ session, project }: Waiter) =>
      this.#closing?.session !== session &&
      !full.sessions.has(project) &&
      (this.#open.has(session) || !full.environments.has(project));
    while (this.#line.size > 0) {
      const next = nextInLine(this.#line.values(), (project) => this.#shareOf(project), mayBe);
      if (next === undefined) return;
      const obstacle = this.#obstacle(next);
      if (obstacle === undefined) this.#give(next);
      else if (obstacle === "sessions.atOnce") return;
      else if (obstacle === "sessions.atOncePerProject") full.sessions.add(next.project);
      else if (this.#makeRoom(next, obstacle)) return;
      else full.environments.add(next.project);
    }
  }

  /** Whether it would have a place at once. */
  couldHave(session: SessionId, project: ProjectId): boolean {
    if (this.#atWork.has(session)) return true;
    return this.#line.size === 0 && this.#obstacle({ session, project }) === undefined;
  }

  /** False when it was not in line. */
  leave(session: SessionId): boolean {
    const wasInLine = this.#line.delete(session);
    this.look();
    return wasInLine;
  }

  release(session: SessionId): void {
    if (!this.#atWork.delete(session)) return;
    this.#kept.delete(session);
    this.#restedNow(session);
    this.look();
  }

  opened(session: SessionId, project: ProjectId): void {
    this.#open.delete(session);
    this.#open.set(session, project);
  }

  closed(session: SessionId): void {
    this.#open.delete(session);
    this.#kept.delete(session);
    this.look();
  }

  /** Something about an environment at rest has changed: it may be closed now, or it was just used. */
  touched(session: SessionId): void {
    this.#kept.delete(session);
    this.#restedNow(session);
    this.look();
  }

  isInLine(session: SessionId): boolean {
    return this.#line.has(session);
  }

  /** Resolves when the session's environment is not being closed. */
  async settled(session: SessionId): Promise<void> {
    if (this.#closing?.session === session) await this.#closing.over;
  }

  /** Of everybody in line. */
  standings(): ReadonlyMap<SessionId, PlaceInLine> {
    const order = orderOfLine(this.#line.values(), (project) => this.#shareOf(project));
    return new Map(order.map((waiter, at) => [waiter.session, { ...this.#reached(waiter), position: at + 1 }]));
  }

  get taken(): { readonly sessions: number; readonly environments: number; readonly inLine: number } {
    return {
      sessions: this.#atWork.size,
      environments: this.#inUse().size,
      inLine: this.#line.size,
    };
  }

  #give(waiter: InLine): void {
    const { session, project } = waiter;
    this.#line.delete(session);
    this.#atWork.set(session, project);
    this.#lastGiven.set(project, (this.#given += 1));
    if (waiter.isTold) this.#world.onGiven(session);
  }

  /** The limit that keeps it from a place. */
  #obstacle({ session, project }: Waiter): PlaceLimit | undefined {
    const limits = this.#world.limits();
    const mine = (all: ReadonlyMap<SessionId, ProjectId>) => [...all.values()].filter((each) => each === project);
    if (this.#atWork.size >= limits["sessions.atOnce"]) return "sessions.atOnce";
    if (mine(this.#atWork).length >= limits["sessions.atOncePerProject"]) return "sessions.atOncePerProject";
    const inUse = this.#inUse();
    if (inUse.has(session)) return undefined;
    if (inUse.size >= limits["environments.atOnce"]) return "environments.atOnce";
    if (mine(inUse).length >= limits["environments.atOncePerProject"]) return "environments.atOncePerProject";
    return undefined;
  }

  #reached(waiter: Waiter): Pick<PlaceInLine, "limit" | "most"> {
    const limit = this.#obstacle(waiter) ?? "sessions.atOnce";
    return { limit, most: this.#world.limits()[limit] };
  }

  /** True: an environment is being closed, and it is to be looked again afterwards. */
  #makeRoom({ project }: Waiter, limit: PlaceLimit): boolean {
    if (this.#closing !== undefined) return true;
    const atRest = [...this.#open].filter(
      ([session, its]) =>
        !this.#atWork.has(session) && !this.#kept.has(session) && (limit === "environments.atOnce" || its === project),
    );
    const [victim] = atRest.find(([session]) => !this.#line.has(session)) ?? atRest[0] ?? [];
    if (victim === undefined) return false;
    this.#closing = { session: victim, over: this.#close(victim) };
    return true;
  }

  async #close(session: SessionId): Promise<void> {
    const isClosed = await this.#world.close(session).catch(() => false);
    this.#closing = undefined;
    if (isClosed) this.#open.delete(session);
    else this.#kept.add(session);
    this.look();
  }

  #restedNow(session: SessionId): void {
    const project = this.#open.get(session);
    if (project !== undefined) this.opened(session, project);
  }

  #inUse(): ReadonlyMap<SessionId, ProjectId> {
    return new Map([...this.#open, ...this.#atWork]);
  }

  #shareOf(project: ProjectId): Share {
    let atWork = 0;
    for (const each of this.#atWork.values()) if (each === project) atWork += 1;
    return { atWork, lastGiven: this.#lastGiven.get(project) ?? 0 };
  }
}

interface InLine extends Waiter {
  /** Whether it waits for word. */
  isTold: boolean;
}
