import { type CallId, event, newId } from "@corral/protocol";
import type { ReplyPiece } from "../../providers/index.ts";
import type { Call, Turn } from "../../sessions/index.ts";
import type { Desk } from "../port.ts";
import { readArguments } from "./arguments.ts";
import { CallOrder } from "./call-order.ts";
import { type CallTerms, resumeCall } from "./calls.ts";
import { Lanes } from "./lanes.ts";

/** So many run at once; more than these have to wait, so that no session crowds out the others. */
const callsAtOnce = 8;

/** Of the calls past the limit, so many are recorded and refused one by one. The last of them stands for all that follow. */
const mostRefused = 20;

type AskedCall = Extract<ReplyPiece, { kind: "call" }>;

/** The calls of one turn, each in its order. */
export class TurnCalls implements Disposable {
  readonly #desk: Desk;
  readonly #turn: Turn;
  readonly #terms: CallTerms;
  readonly #lanes = new Lanes(callsAtOnce);
  readonly #order: CallOrder;
  readonly #running = new Map<CallId, Promise<void>>();
  readonly #unlisten: () => void;
  #failure: { readonly error: unknown } | undefined;
  /** The last call that will be recorded, and how many came after it. */
  #last: { readonly asked: AskedCall; followers: number } | undefined;

  constructor(desk: Desk, turn: Turn, terms: CallTerms) {
    this.#desk = desk;
    this.#turn = turn;
    this.#terms = terms;
    this.#order = new CallOrder(desk, terms.toolbox);
    // One that a person has spoken of need not wait for the others.
    this.#unlisten = desk.onTold(() =>
      this.#startReady((call) => call.retryDecided || call.question?.end !== undefined),
    );
  }

  /** Records a call as the model made it and starts it. */
  take(asked: AskedCall): void {
    const over = this.#turn.calls.length - this.#limit;
    if (this.#last !== undefined) this.#last.followers += 1;
    else if (over === mostRefused - 1) this.#last = { asked, followers: 0 };
    else this.#record(asked, over < 0 ? {} : { malformed: this.#refusal(0) });
  }

  /** No more calls come. */
  endReply(): void {
    const last = this.#last;
    this.#last = undefined;
    if (last !== undefined) this.#record(last.asked, { malformed: this.#refusal(last.followers) });
  }

  #record(asked: AskedCall, refused: { readonly malformed?: string }): void {
    const id = newId("call");
    const { id: providerCallId, tool, providerMetadata } = asked;
    const read = { ...readArguments(this.#terms.toolbox.get(tool), asked.json), ...refused };
    const { id: turnId } = this.#turn;
    const data = { id, turnId, providerCallId, tool, ...read, ...(providerMetadata && { providerMetadata }) };
    this.#desk.record(event("call.requested", data));
    const call = this.#turn.calls.find((each) => each.id === id);
    if (call !== undefined && call.end === undefined) this.#start(call);
  }

  /** Takes every call to its end, or as far as it comes without the operator; those that a crash has left, too. */
  async rest(): Promise<void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      this.#startReady(() => true);
      if (this.#running.size === 0) return;
      await Promise.race(this.#running.values());
    }
  }

  /** What a person has to do before the turn can end. */
  waitOn(): "recovery" | "question" | undefined {
    if (this.#turn.calls.some((call) => call.end?.kind === "unknown")) return "recovery";
    return this.#turn.calls.some((call) => call.end === undefined) ? "question" : undefined;
  }

  [Symbol.dispose](): void {
    this.#unlisten();
  }

  get #limit(): number {
    return this.#desk.history.settings?.callLimit ?? usualCallLimit;
  }

  /** A model that never stops calling gets its earlier calls' results before it may go on. */
  #refusal(followers: number): string {
    const why = `Only ${this.#limit} calls of one reply are carried out, and this is one more.`;
    if (followers === 0) return `${why} Make it again in the next, if it is needed.`;
    const rest = `Calls that came after it and are left out here: ${followers}.`;
    return `${why} ${rest} Make them again in later replies, if they are needed.`;
  }

  #startReady(which: (call: Call) => boolean): void {
    for (const call of this.#turn.calls) if (this.#isReady(call) && which(call)) this.#start(call);
  }

  #isReady({ id, end, question }: Call): boolean {
    const asks = question !== undefined && question.end === undefined && !this.#desk.signal.aborted;
    return end === undefined && !asks && !this.#running.has(id) && this.#failure === undefined;
  }

  /** Its failure is looked at when the others are, which may be after it happened. */
  #start(call: Call): void {
    const ticket = this.#order.enter(call);
    const work = this.#lanes
      .run(() => resumeCall(this.#desk, this.#terms, call, ticket))
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => ticket.leave());
    this.#running.set(
      call.id,
      work.finally(() => this.#running.delete(call.id)),
    );
  }
}

const usualCallLimit = 50;
