import type { SessionId, TraceId } from "@corral/protocol";

/**
 * What a run can ask of the daemon, by name: the noun of the slice that owns it, a dot, and what it does. The slice declares it and
 * implements it:
 *
 *     declare module "../capabilities/port.ts" {
 *       interface Capabilities {
 *         "tasks.add": Capability<NewTask, TaskId>;
 *       }
 *     }
 *
 * Asks and answers are plain data, and bytes as `Uint8Array`: they travel between processes. `{}` is an ask or an answer with nothing in it.
 *
 * 1. Calls of one run reach their implementations in the order in which they were made. What an implementation does from its first
 *    `await` on is for it to order.
 * 2. A call is answered once, or rejects with the `CorralError` that its implementation threw.
 * 3. What nobody implements is refused with `capability.missing`.
 */
export interface Capabilities {}

export interface Capability<Ask, Answer> {
  readonly ask: Ask;
  readonly answer: Answer;
}

export type CapabilityName = keyof Capabilities;
export type AskOf<Name extends CapabilityName> = Capabilities[Name]["ask"];
export type AnswerOf<Name extends CapabilityName> = Capabilities[Name]["answer"];

/** An ask, or an answer, with nothing in it. */
export type Nothing = Readonly<Record<string, never>>;

/** Whoever can ask: the desk of a run, and its tools. */
export interface Caller {
  /** Rejects with the signal's reason once it is aborted; the implementation is told. */
  call<Name extends CapabilityName>(name: Name, ask: AskOf<Name>, how?: CallHow): Promise<AnswerOf<Name>>;
}

export interface CallHow {
  readonly signal?: AbortSignal;
}

/** How a slice answers. What it throws reaches whoever asked. */
export type Implementation<Name extends CapabilityName> = (
  session: SessionId,
  ask: AskOf<Name>,
  context: CallContext,
) => Promise<AnswerOf<Name>>;

export interface CallContext {
  readonly run: CallingRun;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The run that asks. The same object in all calls of one run. */
export interface CallingRun {
  readonly session: SessionId;
  /** Of the input that it works on now. */
  readonly traceId: TraceId | undefined;
  /** Settled when all that the run has sent to be recorded by now is durable, or was refused. Never rejects. */
  readonly recorded: Promise<void>;
  /** Aborted when it has ended. */
  readonly signal: AbortSignal;
  /** To be done when it has ended, before another run of the session begins; at once when it has. */
  onEnd(then: () => Promise<void> | void): void;
}

/** An implementation of every capability that is declared. */
export type Provisions = { readonly [Name in CapabilityName]: Implementation<Name> };
