import type { CallId, EventAbout, EventData, NewEvent, QuestionId, StoredEvent, TurnId } from "@corral/protocol";
import { isAbout } from "@corral/protocol/event-types";
import { IdNames, steadied } from "./varying.ts";

/**
 * A session as far as another one can do the same: each fact by where it belongs, so that what ran side by side may have ended in any
 * order. Of every event that tells what was done, all is in it but what is left out here by name. It reads the events and not the
 * transcript, which leaves out what people do not read.
 */
export interface Performance {
  readonly turns: number;
  readonly facts: ReadonlyMap<string, string>;
}

export interface PerformanceWish {
  /** What else is left aside in what came of calls. */
  readonly ignored?: RegExp | undefined;
}

export function performanceOf(
  events: Iterable<NewEvent | StoredEvent>,
  { ignored }: PerformanceWish = {},
): Performance {
  const watching = new Watching();
  for (const each of events) watching.hear(each);
  const names = new IdNames();
  const facts = watching.facts().map(({ where, what, from }): [string, string] => {
    // What the model said is the same to the letter, the names of things of another session included.
    return [where, from === "model" ? JSON.stringify(what) : names.in(steadied(what, ignored))];
  });
  return { turns: watching.turns, facts: new Map(facts) };
}

interface Fact {
  readonly where: string;
  readonly what: unknown;
  readonly from: "model" | "world";
}

class Watching {
  #settings: unknown;
  readonly #turns: WatchedTurn[] = [];
  readonly #calls = new Map<CallId, WatchedCall>();
  readonly #asked = new Map<QuestionId, { about: EventData<"question.asked">; end: unknown }>();
  readonly #inputs = new Map<string, unknown>();
  #before: unknown[] = [];
  readonly #trees: string[] = [];

  hear(told: NewEvent): void {
    if (isAbout("call", told)) return this.#hearCall(told);
    if (isAbout("question", told)) return this.#hearQuestion(told);
    if (isAbout("turn", told)) return this.#hearTurn(told);
    const { type, data } = told;
    switch (type) {
      case "session.created": {
        // `fork` and `base` say how the files came to be what they were; the first tree says what they were.
        const { projectId: _p, worktree: _w, title: _t, model: _m, fork: _f, base: _b, ...settings } = data;
        this.#settings = settings;
        return;
      }
      case "input.admitted":
        return void this.#inputs.set(data.id, { text: data.text, attachments: data.attachments });
      case "input.edited":
        return void this.#inputs.set(data.id, { ...(this.#inputs.get(data.id) as object), text: data.text });
      case "input.promoted":
        return void this.#before.push({ said: this.#inputs.get(data.id) });
      case "context.set":
        return void this.#before.push({ system: data.system });
      case "context.told":
        return void this.#before.push({ told: data.text });
      case "tools.offered":
      case "snapshot.restored":
      case "todo.changed":
        return void this.#before.push({ [type]: data });
      case "activity.waiting":
        // Whoever answers at once is not waited for.
        if (data.on !== "question") this.#before.push({ waits: data.on });
        return;
      case "activity.settled":
        return void this.#before.push({ ends: data.outcome, error: data.error });
      case "snapshot.taken":
        return void this.#trees.push(data.tree);
      default:
      // Other events are of this time and this machine, or repeat what these tell.
    }
  }

  #hearTurn({ type, data }: EventAbout<"turn", NewEvent>): void {
    switch (type) {
      case "turn.prepared":
        this.#turns.push({ id: data.id, before: this.#before, failures: [], said: [], calls: [], end: {} });
        this.#before = [];
        return;
      case "turn.dispatched":
        // What a crash cut off was said to nobody.
        this.#turn(data.id).said = [];
        return;
      case "turn.attempt-failed":
        return void this.#turn(data.id).failures.push(data.error);
      case "turn.said":
        return void this.#turn(data.id).said.push({ [data.kind]: data.text, cut: data.cut });
      case "turn.replied":
        return void Object.assign(this.#turn(data.id).end, { finish: data.finish, usage: data.usage });
      case "turn.settled":
        return void Object.assign(this.#turn(data.id).end, { outcome: data.outcome });
    }
  }

  #hearCall({ type, data }: EventAbout<"call", NewEvent>): void {
    switch (type) {
      case "call.requested": {
        const { tool, arguments: given, malformed, providerCallId } = data;
        const call = {
          tool,
          asked: { tool, arguments: given, malformed, providerCallId },
          question: undefined,
          end: {},
        };
        this.#calls.set(data.id, call);
        return void this.#turn(data.turnId).calls.push(call);
      }
      case "call.started":
        return void Object.assign(this.#call(data.id).end, { started: { reads: data.reads, changes: data.changes } });
      case "call.settled":
        return void Object.assign(this.#call(data.id).end, { settled: data.result });
      case "call.failed":
        return void Object.assign(this.#call(data.id).end, { failed: data.error });
      case "call.declined":
        return void Object.assign(this.#call(data.id).end, { declined: data.reason, by: data.by });
      case "call.interrupted":
        return void Object.assign(this.#call(data.id).end, { interrupted: data.result });
      case "call.unknown":
        return void Object.assign(this.#call(data.id).end, { unknown: data.reason });
      case "call.decided":
        return void Object.assign(this.#call(data.id).end, { decided: data.decision });
    }
  }

  #hearQuestion({ type, data }: EventAbout<"question", NewEvent>): void {
    switch (type) {
      case "question.asked":
        this.#asked.set(data.id, { about: data, end: undefined });
        if ("callId" in data.about) this.#call(data.about.callId).question = data.id;
        return;
      case "question.answered":
      case "question.defaulted":
        return this.#questionEnds(data.id, data.answer);
      case "question.expired":
        return this.#questionEnds(data.id, "expired");
      case "question.cancelled":
        return this.#questionEnds(data.id, { cancelled: data.reason });
    }
  }

  #questionEnds(id: QuestionId, end: unknown): void {
    const asked = this.#asked.get(id);
    if (asked !== undefined) asked.end = end;
  }

  get turns(): number {
    return this.#turns.length;
  }

  facts(): readonly Fact[] {
    const hosts = [...this.#asked.values()].flatMap(({ about: { about }, end }) =>
      about.kind === "host" ? [{ where: `the question about ${about.host}:${about.port}`, what: end }] : [],
    );
    return [
      world("the settings", this.#settings),
      world("the files at the beginning", this.#trees.at(0)),
      ...this.#turns.flatMap((turn, index) => this.#factsOf(turn, `turn ${index + 1}`)),
      world("what came after the last turn", this.#before),
      ...hosts.toSorted((a, b) => a.where.localeCompare(b.where)).map(({ where, what }) => world(where, what)),
      world("the files at the end", this.#trees.at(-1)),
    ];
  }

  #factsOf({ before, failures, said, calls, end }: WatchedTurn, turn: string): readonly Fact[] {
    return [
      world(`${turn}: what was said before it`, before),
      ...failures.map((failure, index) => world(`${turn}: failed attempt ${index + 1}`, failure)),
      ...said.map((words, index): Fact => ({ where: `${turn}: words ${index + 1}`, what: words, from: "model" })),
      ...calls.flatMap((call, index) => this.#factsOfCall(call, `${turn}: call ${index + 1} (${call.tool})`)),
      world(`${turn}: how it ended`, end),
    ];
  }

  #factsOfCall({ asked, question, end }: WatchedCall, call: string): readonly Fact[] {
    const found = question === undefined ? undefined : this.#asked.get(question);
    return [
      { where: call, what: asked, from: "model" },
      ...(found === undefined ? [] : [world(`${call}: its question`, questionFacts(found))]),
      world(`${call}: what came of it`, end),
    ];
  }

  /** The beginning may be trimmed. */
  #turn(id: TurnId): WatchedTurn {
    const known = this.#turns.findLast((turn) => turn.id === id);
    return known ?? { id, before: [], failures: [], said: [], calls: [], end: {} };
  }

  #call(id: CallId): WatchedCall {
    return this.#calls.get(id) ?? { tool: "", asked: undefined, question: undefined, end: {} };
  }
}

interface WatchedTurn {
  readonly id: TurnId;
  readonly before: readonly unknown[];
  readonly failures: unknown[];
  said: unknown[];
  readonly calls: WatchedCall[];
  readonly end: object;
}

interface WatchedCall {
  readonly tool: string;
  readonly asked: unknown;
  question: QuestionId | undefined;
  readonly end: object;
}

function world(where: string, what: unknown): Fact {
  return { where, what: what ?? null, from: "world" };
}

/** The hash is one of ids, and which call it is about is told by where it stands. */
function questionFacts({
  about: { id: _, activityId: _a, about, ...question },
  end,
}: {
  about: EventData<"question.asked">;
  end: unknown;
}) {
  const { kind, ...rest } = about;
  const because = "because" in rest ? { because: rest.because, always: rest.always, diff: rest.diff } : {};
  return { kind, ...because, ...question, end };
}
