import {
  CorralError,
  type Delta,
  type EnvironmentLimits,
  type NewEvent,
  type SessionId,
  type StoredEvent,
} from "@corral/protocol";
import type { Caller } from "../capabilities/port.ts";
import { shortageIn } from "../descriptors/index.ts";
import type { Promotion, PromotionPlace } from "../sessions/index.ts";

/**
 * Where sessions run. A host is given sessions with their leases and runs each until it is told to
 * let go or its place is lost; what it may do to the log goes through the session's office.
 */
export interface RunnerHost {
  start(assignment: Assignment, office: Office): Running;
  /** Lets every run stop at its next turn boundary, by the deadline; running commands go on without it. */
  drain(deadlineMs: number): Promise<void>;
  /** Ends at once. */
  close(): Promise<void>;
  /** How much the runners say of themselves from now on. */
  setLevel(level: string): void;
  /** What runners know of how providers are reached is old: they ask anew before the next request. */
  forgetReaches(): void;
  /** The processes that sessions run in, and how many each has in its hands. */
  runners(): readonly { readonly pid: number; readonly sessions: number }[];
}

/** All a run needs to know at its start. */
export interface Assignment {
  readonly session: SessionId;
  readonly fence: number;
  /** The repository the session works on. */
  readonly repository: string;
  /** Every event of the session up to now. */
  readonly events: readonly StoredEvent[];
  /** Its runs broke off before: it is to take nobody else down with it. */
  readonly company: "others" | "none";
  /** What its environment may use. */
  readonly limits: EnvironmentLimits;
}

/**
 * What the daemon does for one run, under the fence of its lease. Requests reach it in the order in which they were made. What slices do
 * for runs is asked for by `call`.
 */
export interface Office extends Caller {
  /** Resolves when durable; after one refusal all later ones are refused. */
  append(events: readonly NewEvent[]): Promise<void>;
  /** Promotes what may run now; nothing that opens an activity as long as the session has no place: then it is in line, and is woken. */
  promote(place: PromotionPlace): Promise<Promotion>;
  /** Before an activity goes on that was opened earlier. False: the session is in line for a place, and is woken. */
  claimPlace(): Promise<boolean>;
  emit(delta: Delta): void;
}

export interface Running {
  /** There may be something new in the inbox. A hint: any number of them make one look. */
  wake(): void;
  /** Something another party recorded in the session. */
  tell(event: StoredEvent): void;
  /** What it was given to judge by may be old: it asks anew. */
  forgetRules(): void;
  /** Opens the session's environment, unless it is open; it is on record when this resolves. Rejects with why it cannot, or with the run's end. */
  open(): Promise<void>;
  /** Settles once: `idle` with nothing left to do, `drained` at a boundary, `lost` when the run broke off. */
  readonly ended: Promise<RunEnd>;
}

export type RunEnd =
  /** `heard`: how many wakes it had heard; a later one calls for another run. */
  | { readonly kind: "idle"; readonly heard: number }
  | { readonly kind: "drained" }
  /** `lacks`: it broke off for want of something that will be there again, and is no trouble of its session's. */
  | { readonly kind: "lost"; readonly reason: string; readonly lacks?: Shortage };

/** What a person is told of something that has run out, and what to do about it. */
export interface Shortage {
  readonly message: string;
  readonly hint?: string;
}

/** The end of a run that an error has broken off. */
export function lostTo(error: unknown, reason: string): RunEnd {
  const shortage = shortageIn(error);
  if (shortage === undefined) return { kind: "lost", reason };
  const { message, hint } = shortage;
  return { kind: "lost", reason, lacks: { message, ...(hint === undefined ? {} : { hint }) } };
}

/** What a host gives that starts nothing any more. */
export function endedRun(end: RunEnd): Running {
  return {
    wake: () => undefined,
    tell: () => undefined,
    forgetRules: () => undefined,
    open: () => Promise.reject(notOpened(end)),
    ended: Promise.resolve(end),
  };
}

export function notOpened(end: RunEnd): CorralError {
  const why = end.kind === "lost" ? end.reason : "its run came to rest";
  return new CorralError("environment.gone", `The environment could not be opened: ${why}.`, { retry: "later" });
}
