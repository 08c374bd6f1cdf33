import type { Delta, Judgement, NewEvent, SessionId } from "@corral/protocol";
import type { Caller } from "../capabilities/port.ts";
import type { Call as RuleCall } from "../rules/index.ts";
import type { History, OpenActivity } from "../sessions/index.ts";
import type { Surroundings } from "../tools/index.ts";

/** A way of getting a turn done: Corral's own loop, or an agent program driven from outside. */
export interface AgentKind {
  /**
   * Takes the activity's open turn to its end, or a new one when none is open. A turn left over by
   * a crash is picked up where its record ends; nothing that may have had an effect is done twice.
   * Throws only `RunOver`.
   */
  turn(desk: Desk, activity: OpenActivity): Promise<TurnEnd>;
}

export type TurnEnd =
  | { readonly kind: "settled" }
  /** For a person: to decide on a call whose end is unknown, or to answer what is asked on behalf of one. */
  | { readonly kind: "waits"; readonly on: "recovery" | "question" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly hint: string | undefined };

/** Recording failed (the lease is lost, the log is closed): whatever is in progress stops, and nothing more is recorded. */
export class RunOver extends Error {
  override readonly name = "RunOver";
}

/** What a turn works with: the session's past, the only ways to add to it, and what the daemon does for it (`call`). */
export interface Desk extends Caller {
  readonly session: SessionId;
  /** Holds everything recorded, also what is still on its way to the disk. */
  readonly history: History;
  /** Aborted when the activity is interrupted. */
  readonly signal: AbortSignal;
  readonly surroundings: Surroundings;
  /** Adds events, in order; throws `RunOver` once recording has failed. They share a commit with what is recorded until the next `durable`. */
  record(...events: readonly NewEvent[]): void;
  /** Resolves when all that was recorded is durable: to be awaited before anything leaves the machine or starts. */
  durable(): Promise<void>;
  /** Runs when all that was recorded so far has become durable, without hurrying it; never when recording fails. */
  afterDurable(then: () => void): void;
  /** Calls whenever another party recorded something in the session, an answer for instance. Returns the way to stop. */
  onTold(listener: () => void): () => void;
  emit(delta: Delta): void;
  /** What the secrets are called that turn up in it. What is recorded and emitted holds none: it is masked, and a call that does is declined. */
  secretsIn(value: unknown): readonly string[];
  /** What the rules say of a call at this moment; the daemon is asked only when that may have changed. */
  judge(call: RuleCall): Promise<Judgement>;
}
