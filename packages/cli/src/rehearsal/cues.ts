import type { AnswerGiven, EventData, NewEvent, QuestionId, StoredEvent } from "@corral/protocol";

/** What people did in a session, by when they did it. */
export interface Cues {
  /** How many turns there were. */
  readonly turns: number;
  /** What was said before the turn of this number: to a session at rest, or, while it was at work, to join there. */
  said(turn: number): { readonly texts: readonly string[]; readonly joins: boolean };
  /** What was answered to the question about a call, or about a host, first. Undefined: nobody did. */
  answer(about: Place): Answer | undefined;
  /** Something that no rehearsal can do at the same moment. */
  readonly beyond: string | undefined;
}

export type Answer = { readonly given: AnswerGiven } | { readonly cancelled: string };

export function cuesIn(events: Iterable<NewEvent | StoredEvent>): Cues {
  const listening = new Listening();
  for (const each of events) listening.hear(each);
  return {
    turns: listening.turns,
    said: (turn) => listening.said.get(turn) ?? { texts: [], joins: false },
    answer: (about) => listening.answers.get(wordsFor(about)),
    beyond: listening.beyond,
  };
}

/** What a question is about, in the same words in the session that was and in the one that is. */
export type Place =
  | { readonly turn: number; readonly call: number }
  | { readonly host: string; readonly port: number }
  | { readonly names: readonly string[] };

function wordsFor(place: Place): string {
  if ("names" in place) return place.names.toSorted().join("\n");
  return "host" in place ? `${place.host}:${place.port}` : `${place.turn}/${place.call}`;
}

/** Which turn it is, and which call of it, in a session that is followed. */
export class Places {
  turn = 0;
  #calls = 0;
  readonly #places = new Map<string, Place>();

  hear({ type, data }: NewEvent): void {
    if (type === "turn.prepared") {
      this.turn += 1;
      this.#calls = 0;
    }
    if (type === "call.requested") this.#places.set(data.id, { turn: this.turn, call: (this.#calls += 1) });
  }

  /** Undefined: nobody has heard of the call. */
  of(about: EventData<"question.asked">["about"]): Place | undefined {
    if (about.kind === "held-back") return { names: about.names.map(({ path }) => path) };
    return about.kind === "host" ? about : this.#places.get(about.callId);
  }
}

class Listening {
  readonly said = new Map<number, { texts: string[]; joins: boolean }>();
  readonly answers = new Map<string, Answer>();
  beyond: string | undefined;
  readonly #places = new Places();
  readonly #inputs = new Map<string, string>();
  readonly #questions = new Map<QuestionId, Place | undefined>();
  #isAtRest = true;

  get turns(): number {
    return this.#places.turn;
  }

  hear(told: NewEvent): void {
    this.#places.hear(told);
    const { type, data } = told;
    switch (type) {
      case "input.admitted":
      case "input.edited":
        return void this.#inputs.set(data.id, data.text);
      case "input.promoted":
        return this.#promoted(this.#inputs.get(data.id) ?? "");
      case "turn.prepared":
        this.#isAtRest = false;
        return;
      case "activity.settled":
      case "activity.waiting":
        this.#isAtRest = type === "activity.settled" || data.on === "continue";
        return;
      case "activity.opened":
        if (data.continued !== undefined) this.beyond ??= "a person had it go on without saying anything";
        return;
      case "activity.interrupt-requested":
        this.beyond ??= "it was interrupted";
        return;
      case "call.decided":
        this.beyond ??= "a person decided how a call ended of which nobody could tell";
        return;
      case "question.asked":
        return void this.#questions.set(data.id, this.#places.of(data.about));
      case "question.answered":
        return this.#answered(data.id, { given: data.answer });
      case "question.cancelled":
        return this.#answered(data.id, { cancelled: data.reason });
      default:
      // Other events are not a person's doing.
    }
  }

  #promoted(text: string): void {
    const known = this.said.get(this.turns + 1) ?? { texts: [], joins: !this.#isAtRest };
    known.texts.push(text);
    this.said.set(this.turns + 1, known);
  }

  #answered(id: QuestionId, answer: Answer): void {
    const place = this.#questions.get(id);
    if (place !== undefined && !this.answers.has(wordsFor(place))) this.answers.set(wordsFor(place), answer);
  }
}
