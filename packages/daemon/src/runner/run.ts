import { type ActivityId, CorralError, event, isEndOf, usualKind } from "@corral/protocol";
import { type AgentKinds, RunOver } from "../kinds/index.ts";
import { shortageIn } from "../descriptors/index.ts";
import type { EnvironmentDrivers } from "../environments/index.ts";
import type { Secrets } from "../secrets/index.ts";
import type { History, OpenActivity } from "../sessions/index.ts";
import { RunDesk } from "./desk.ts";
import { type Assignment, lostTo, type Office, type RunEnd, type Running } from "./port.ts";
import { cutOff } from "./set-aside.ts";
import { SessionSurroundings } from "./surroundings.ts";
import type { WarmRuns } from "./warm.ts";

/** What every run in this process shares. */
export interface RunWorld {
  readonly home: string;
  readonly kinds: AgentKinds;
  readonly drivers: EnvironmentDrivers;
  /** What is masked in all that runs record and say. */
  readonly secrets: Secrets;
  /** How long a run with nothing to do stays ready before it lets the session go. */
  readonly idleMs?: number;
  /** The same for one that waits for a person, who may take days. */
  readonly waitingMs?: number;
  /** How many runs with nothing to do stay ready. Without: as many as this process has room for. */
  readonly mostWarm?: number;
}

/** A run that its host can also bring to rest. */
export interface HostedRun extends Running {
  /** Stops at the next turn boundary; an idle run ends its environment. */
  drain(): void;
}

/**
 * Runs one session: takes what its inbox holds, turn by turn, until nothing is left, and then waits
 * a while for more.
 *
 * 1. One turn at a time; inputs join only between turns.
 * 2. What happens next is read off the history alone, so a run that begins after a crash and one that
 *    never stopped take the same way.
 */
export function startRun(
  world: RunWorld & { readonly warm: WarmRuns },
  assignment: Assignment,
  office: Office,
): HostedRun {
  const bell = new Bell();
  const { repository, limits } = assignment;
  const place = {
    ...world,
    repository,
    limits,
  };
  const desk = new RunDesk(assignment, office, world.secrets, (self) => new SessionSurroundings(self, place));
  return {
    wake: () => bell.ring(),
    tell: (told) => {
      // There is no session to run any more, and nothing is taken from it.
      if (isEndOf("session", told)) return bell.dismiss();
      desk.hear(told);
      if (told.type === "setup.decided" && told.data.decision === "cancel") desk.surroundings.cancelSetup();
      bell.ring();
    },
    forgetRules: () => desk.forgetRules(),
    async open() {
      await desk.surroundings.environment();
      await desk.durable();
    },
    drain: () => bell.drain(),
    ended: run().catch(lost),
  };

  async function run(): Promise<RunEnd> {
    try {
      for (;;) {
        if (bell.heard()) await work(world.kinds, desk, bell);
        if (bell.dismissed) return { kind: "drained" };
        if (bell.draining) return await rest();
        if (await bell.next(patience(), world.warm)) continue;
        // One that is being opened is on record before the run ends, or it would be ended again.
        await desk.surroundings.settled();
        if (!bell.isRung) return { kind: "idle", heard: bell.rings };
      }
    } catch (error) {
      // What was heard and done by then is not asked for again by the next run.
      await desk.durable().catch(() => undefined);
      throw error;
    } finally {
      desk.surroundings.detach();
    }
  }

  /** Whoever waits for a person is not held in memory meanwhile; one who is at hand answers at once. */
  function patience(): number {
    const { idleMs = 300_000, waitingMs = 2_000 } = world;
    return desk.history.activity === undefined ? idleMs : Math.min(idleMs, waitingMs);
  }

  /** Between two turns nothing runs in the environment but people's terminals; in the middle of one its command goes on without this run. */
  async function rest(): Promise<RunEnd> {
    const { activity } = desk.history;
    if (desk.history.terminals.size === 0 && (activity?.turn === undefined || activity.waitingOn !== undefined))
      await desk.surroundings.end("the daemon stopped");
    await desk.durable();
    return { kind: "drained" };
  }
}

type SessionDesk = RunDesk<SessionSurroundings>;

async function work(kinds: AgentKinds, desk: SessionDesk, bell: Bell): Promise<void> {
  if (needsPlace(desk.history) && !(await desk.claimPlace())) return;
  for (let look = true; ; look ||= bell.heard()) {
    if (mayPromote(desk.history) && (look || desk.history.activity === undefined)) {
      await desk.promote();
      look = false;
    }
    const activity = desk.history.activity;
    if (activity === undefined || waitsOn(activity)) break;
    if (activity.waitingOn !== undefined && !activity.interruptRequested)
      desk.record(event("activity.resumed", { id: activity.id }));
    if (!(await step(kinds, desk, activity)) || bell.draining) break;
  }
  await desk.durable();
}

/** One that an earlier run or a person's absence left in the middle; those that are opened here have a place. */
function needsPlace({ activity }: History): boolean {
  return activity !== undefined && !waitsOn(activity) && !activity.endRequested;
}

/** Whether nothing can be done before a person has spoken. */
function waitsOn({ waitingOn, interruptRequested, turn }: OpenActivity): boolean {
  if (waitingOn === undefined || interruptRequested) return false;
  const calls = turn?.calls ?? [];
  switch (waitingOn) {
    case "continue":
      return true;
    case "question":
      return !calls.some((call) => call.end === undefined && call.question?.end !== undefined);
    case "recovery":
      return calls.some((call) => call.end?.kind === "unknown");
  }
}

/** Inputs join between turns, and never an activity that is about to end: what is said after an interrupt opens the next. */
function mayPromote({ activity }: History): boolean {
  return activity?.turn === undefined && activity?.endRequested !== true;
}

/** One step of an activity. False: it waits for a person. */
async function step(kinds: AgentKinds, desk: SessionDesk, activity: OpenActivity): Promise<boolean> {
  const { id } = activity;
  if (activity.turn === undefined) {
    if (activity.endRequested) return settle(desk, event("activity.settled", { id, outcome: "interrupted" }));
    if (!activity.unanswered) return settle(desk, event("activity.settled", { id, outcome: "done" }));
    if (activity.turns >= (desk.history.settings?.turnLimit ?? 25)) {
      desk.record(event("activity.waiting", { id, on: "continue" }));
      return false;
    }
  }
  const { kind = usualKind } = desk.history.settings ?? {};
  const agent = kinds.find(kind);
  if (agent === undefined) {
    desk.record(...cutOff(desk.history, unknownKind(kind, kinds.names)));
    return true;
  }
  const opening = activity.interruptRequested ? Promise.resolve() : openingOf(desk);
  const end = await agent.turn(desk, activity);
  switch (end.kind) {
    case "settled": {
      // A model can do nothing about a place that cannot be had; a person can.
      const trouble = activity.unanswered && !activity.interruptRequested ? await opening : undefined;
      const isLasting = trouble instanceof CorralError && shortageIn(trouble) === undefined;
      return isLasting ? settleFailed(desk, id, trouble) : true;
    }
    case "waits":
      desk.record(event("activity.waiting", { id, on: end.on }));
      // The run may end now, and leaves nothing half opened to the next.
      await opening;
      return false;
    case "failed":
      return settleFailed(desk, id, end);
  }
}

function unknownKind(kind: string, known: readonly string[]): CorralError {
  return new CorralError("kind.unknown", `There is no agent of the kind ${kind} here, only ${known.join(", ")}.`, {
    hint: "Continue the session with a version of Corral that has it, or begin another session.",
  });
}

/** What keeps it from being opened, if anything does. */
function openingOf({ surroundings }: SessionDesk): Promise<unknown> {
  return surroundings.environment().then(
    () => undefined,
    (error: unknown) => error,
  );
}

function settleFailed(
  desk: SessionDesk,
  id: ActivityId,
  { code, message, hint }: { code: string; message: string; hint: string | undefined },
): Promise<true> {
  const error = { code, message, ...(hint === undefined ? {} : { hint }) };
  return settle(desk, event("activity.settled", { id, outcome: "failed", error }));
}

async function settle(desk: SessionDesk, settled: ReturnType<typeof event>): Promise<true> {
  // What cannot be looked at now is looked at when the environment ends.
  await desk.surroundings.look().catch(() => undefined);
  desk.record(settled);
  return true;
}

function lost(error: unknown): RunEnd {
  const reason = error instanceof Error ? error.message : String(error);
  return lostTo(error, error instanceof RunOver ? reason : `defect: ${reason}`);
}

/** Wakes, coalesced: however often it rings, the run looks once. */
class Bell {
  draining = false;
  dismissed = false;
  /** How often it rang since the run began. */
  rings = 0;
  #rung = true;
  #waiter: (() => void) | undefined;

  ring(): void {
    this.rings += 1;
    this.#rung = true;
    this.#waiter?.();
  }

  drain(): void {
    this.draining = true;
    this.#waiter?.();
  }

  dismiss(): void {
    this.dismissed = true;
    this.drain();
  }

  heard(): boolean {
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }

  /** Something calls for a look, or for rest. */
  get isRung(): boolean {
    return this.#rung || this.draining;
  }

  /** True when it rang (or the run is to rest) within the time, and before its room was needed. */
  async next(ms: number, warm: WarmRuns): Promise<boolean> {
    if (this.isRung) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms).unref();
    const leave = warm.enter(resolve);
    this.#waiter = resolve;
    await promise;
    clearTimeout(timer);
    leave();
    this.#waiter = undefined;
    return this.isRung;
  }
}
