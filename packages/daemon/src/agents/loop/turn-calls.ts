import { type CallId, event, newId } from "@corral/protocol";
import type { ReplyPiece } from "../../providers/index.ts";
import type { Call, Turn } from "../../sessions/index.ts";
import type { Tool } from "../../tools/index.ts";
import type { Desk } from "../port.ts";
import { type CallTerms, resumeCall } from "./calls.ts";
import { Lanes } from "./lanes.ts";

/** So many run at once; more than these have to wait, so that no session crowds out the others. */
const callsAtOnce = 8;

/** The calls of one turn, side by side. */
export class TurnCalls implements Disposable {
  readonly #desk: Desk;
  readonly #turn: Turn;
  readonly #terms: CallTerms;
  readonly #lanes = new Lanes(callsAtOnce);
  readonly #running = new Map<CallId, Promise<void>>();
  readonly #unlisten: () => void;
  #failure: { readonly error: unknown } | undefined;

  constructor(desk: Desk, turn: Turn, terms: CallTerms) {
    this.#desk = desk;
    this.#turn = turn;
    this.#terms = terms;
    // One that a person has spoken of need not wait for the others.
    this.#unlisten = desk.onTold(() =>
      this.#startReady((call) => call.retryDecided || call.question?.end !== undefined),
    );
  }

  /** Records a call as the model made it and starts it. */
  take(asked: Extract<ReplyPiece, { kind: "call" }>): void {
    const id = newId("call");
    const { id: providerCallId, tool, providerMetadata } = asked;
    const read = { ...readArguments(this.#terms.toolbox.get(tool), asked), ...this.#overLimit() };
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

  /** A model that never stops calling gets its earlier calls' results before it may go on. */
  #overLimit(): { malformed?: string } {
    const limit = this.#desk.history.settings?.callLimit ?? usualCallLimit;
    if (this.#turn.calls.length < limit) return {};
    const why = `Only ${limit} calls of one reply are carried out, and this is one more.`;
    return { malformed: `${why} Make it again in the next, if it is needed.` };
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
    const work = this.#lanes
      .run(() => resumeCall(this.#desk, this.#terms, call))
      .catch((error: unknown) => {
        this.#failure ??= { error };
      });
    this.#running.set(
      call.id,
      work.finally(() => this.#running.delete(call.id)),
    );
  }
}

const usualCallLimit = 50;

function readArguments(
  tool: Tool | undefined,
  asked: { readonly tool: string; readonly json: string },
): { arguments: Record<string, unknown>; malformed?: string } {
  let given: unknown;
  try {
    given = asked.json.trim() === "" ? {} : JSON.parse(asked.json);
  } catch {
    return { arguments: {}, malformed: `The arguments were not valid JSON: ${asked.json.slice(0, 500)}` };
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return { arguments: {}, malformed: "The arguments must be a JSON object." };
  }
  const kept = given as Record<string, unknown>;
  const checked = tool?.parameters.safeParse(given);
  if (checked === undefined || checked.success) return { arguments: kept };
  const issues = checked.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  return { arguments: kept, malformed: `The arguments do not fit the tool: ${issues}` };
}
