import type { Delta, Judgement, NewEvent, SessionId, StoredEvent } from "@corral/protocol";
import type { AnswerOf, AskOf, CallHow, CapabilityName } from "../capabilities/port.ts";
import { type Desk, RunOver, type Surroundings } from "../kinds/index.ts";
import { faultWith } from "../faults/index.ts";
import { judge, type Call as RuleCall, type StandingRules, stillStand } from "../rules/index.ts";
import { declinedFor, maskedEvent, type Secrets } from "../secrets/index.ts";
import { applyEvent, foldHistory, type History } from "../sessions/index.ts";
import { MaskedDeltas } from "./masked-deltas.ts";
import type { Assignment, Office } from "./port.ts";

/** What nobody waits for goes with what somebody does: one commit instead of two. */
const longestWaitMs = 20;

/**
 * The desk of one run: the session's history in memory, and the pipeline to the log.
 *
 * 1. An event is applied to the history when it is recorded; the log gets events in the same order.
 * 2. Events recorded until the next `durable` travel as one append, some milliseconds later at the latest.
 * 3. Calls are judged by the rules that hold at this moment: by those that stand here only as long as no file of rules is another and the daemon
 *    has not told of a change, which it does before anything that it answers afterwards. What it gave before that is not kept.
 * 4. What is recorded, and what is said meanwhile, holds no secret that is known here. A call that holds one is declined in the same append.
 * 5. After a refused append nothing is recorded any more: `record` and `durable` throw `RunOver`.
 */
export class RunDesk<S extends Surroundings = Surroundings> implements Desk {
  readonly session: SessionId;
  readonly history: History;
  readonly surroundings: S;
  readonly #office: Office;
  readonly #secrets: Secrets;
  readonly #deltas: MaskedDeltas;
  #interruption = new AbortController();
  #unsent: NewEvent[] = [];
  #afterUnsent: (() => void)[] = [];
  #sendSoon: NodeJS.Timeout | undefined;
  #sent: Promise<void> = Promise.resolve();
  #over: RunOver | undefined;
  #lastTold: number;
  readonly #listeners = new Set<() => void>();
  #rules: StandingRules | undefined;
  #rulesForgotten = 0;

  constructor(assignment: Assignment, office: Office, secrets: Secrets, openSurroundings: (desk: Desk) => S) {
    this.session = assignment.session;
    this.history = foldHistory(assignment.events);
    this.#lastTold = assignment.events.at(-1)?.seq ?? 0;
    this.#office = office;
    this.#secrets = secrets;
    this.#deltas = new MaskedDeltas(secrets);
    if (this.history.activity?.interruptRequested === true) this.#interruption.abort();
    this.surroundings = openSurroundings(this);
  }

  get signal(): AbortSignal {
    return this.#interruption.signal;
  }

  record(...events: readonly NewEvent[]): void {
    if (this.#over !== undefined) throw this.#over;
    for (const each of events.flatMap((given) => this.#recordable(given))) {
      for (const left of this.#deltas.endedBy(each)) this.#office.emit(left);
      applyEvent(this.history, each);
      this.#unsent.push(each);
    }
    if (this.history.activity === undefined && this.#interruption.signal.aborted)
      this.#interruption = new AbortController();
    this.#sendSoon ??= setTimeout(() => this.#send(), longestWaitMs);
  }

  async durable(): Promise<void> {
    this.#send();
    await this.#sent;
    if (this.#over !== undefined) throw this.#over;
  }

  afterDurable(then: () => void): void {
    if (this.#unsent.length === 0) void this.#sent.then(() => this.#over ?? then());
    else this.#afterUnsent.push(then);
  }

  emit(delta: Delta): void {
    for (const each of this.#deltas.take(delta)) this.#office.emit(each);
  }

  secretsIn(value: unknown): readonly string[] {
    return this.#secrets.namesIn(value);
  }

  call<Name extends CapabilityName>(name: Name, ask: AskOf<Name>, how?: CallHow): Promise<AnswerOf<Name>> {
    return this.#office.call(name, ask, how);
  }

  async judge(call: RuleCall): Promise<Judgement> {
    if (this.#rules !== undefined && stillStand(this.#rules)) return judge(call, this.#rules.rulebook);
    this.#rules = undefined;
    const forgotten = this.#rulesForgotten;
    const { judgement, standing } = await this.#office.call("rules.judge", call);
    if (this.#rulesForgotten === forgotten) this.#rules = standing;
    return judgement;
  }

  forgetRules(): void {
    this.#rulesForgotten += 1;
    this.#rules = undefined;
  }

  /** Takes eligible inputs in. The caller sees to it that no turn is open. */
  async promote(): Promise<void> {
    await this.durable();
    const place = { activity: this.history.activity?.id };
    const { events, inputs } = await this.#office.promote(place).catch((cause: unknown) => {
      throw this.#end(cause);
    });
    for (const input of inputs) this.history.inbox.set(input.id, input);
    for (const each of events) applyEvent(this.history, each);
  }

  /** Whether the open activity may go on now. */
  async claimPlace(): Promise<boolean> {
    return this.#office.claimPlace().catch((cause: unknown) => {
      throw this.#end(cause);
    });
  }

  /** Applies what another party recorded, unless the history held it from the start. */
  hear(told: StoredEvent): void {
    if (told.seq <= this.#lastTold) return;
    this.#lastTold = told.seq;
    applyEvent(this.history, told);
    if (this.history.activity?.interruptRequested === true) this.#interruption.abort();
    for (const listener of this.#listeners) listener();
  }

  onTold(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #recordable(given: NewEvent): readonly NewEvent[] {
    const masked = maskedEvent(given, this.#secrets);
    if (masked === given || given.type !== "call.requested") return [masked];
    return [masked, declinedFor(this.secretsIn(given.data), given.data.id)];
  }

  #send(): void {
    clearTimeout(this.#sendSoon);
    this.#sendSoon = undefined;
    if (this.#unsent.length === 0 || this.#over !== undefined) return;
    const events = this.#unsent;
    const after = this.#afterUnsent;
    this.#unsent = [];
    this.#afterUnsent = [];
    faultWith("desk.sending", events);
    const appended = this.#office.append(events).then(
      () => {
        faultWith("desk.durable", events);
        for (const then of after) then();
      },
      (cause: unknown) => void this.#end(cause),
    );
    this.#sent = Promise.all([this.#sent, appended]).then(() => undefined);
  }

  #end(cause: unknown): RunOver {
    return (this.#over ??= new RunOver(cause instanceof Error ? cause.message : String(cause), { cause }));
  }
}
