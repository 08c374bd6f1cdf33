import type { RehearsalScript, RehearsedFailure, RehearsedPart, RehearsedTurn, StoredEvent } from "@corral/protocol";

export interface RecordWish {
  /** Whether each turn expects what was said before it. */
  readonly expects: boolean;
}

/** What the model said in a session, from the session's events, as a script that says it again. */
export function recordScript(events: Iterable<StoredEvent>, { expects }: RecordWish): RehearsalScript {
  const take = new Take();
  for (const each of events) take.hear(each);
  return {
    turns: take.turns.flatMap((turn) => {
      const { expect, ...rest } = turn.recorded();
      if (rest.reply === undefined && rest.failures === undefined) return [];
      return [expects && expect !== undefined ? { expect, ...rest } : rest];
    }),
  };
}

/** Follows a session, turn by turn. */
class Take {
  readonly turns: TakenTurn[] = [];
  readonly #inputs = new Map<string, string>();
  #said: string[] = [];

  hear(stored: StoredEvent): void {
    switch (stored.type) {
      case "input.admitted":
        return void this.#inputs.set(stored.data.id, stored.data.text);
      case "input.promoted":
        return void this.#said.push(this.#inputs.get(stored.data.id) ?? "");
      case "turn.prepared":
        this.turns.push(new TakenTurn(this.#said.at(-1)));
        this.#said = [];
        return;
      default:
        this.turns.at(-1)?.hear(stored);
    }
  }
}

class TakenTurn {
  readonly #expect: string | undefined;
  readonly #failures: RehearsedFailure[] = [];
  #parts: RehearsedPart[] = [];
  #finish: Pick<RehearsedTurn, "finish" | "usage"> = {};

  constructor(expect: string | undefined) {
    this.#expect = expect;
  }

  hear(stored: StoredEvent): void {
    switch (stored.type) {
      case "turn.dispatched":
        // What a crash cut off was said to nobody.
        this.#parts = [];
        return;
      case "turn.said": {
        const { kind, text } = stored.data;
        return void this.#parts.push(kind === "text" ? { say: text } : { think: text });
      }
      case "call.requested":
        return void this.#parts.push(callOf(stored.data));
      case "turn.attempt-failed":
        this.#failures.push(failureOf(stored.data.error, this.#parts));
        this.#parts = [];
        return;
      case "turn.replied":
        this.#finish = { finish: finishOf(stored.data.finish), usage: stored.data.usage };
        return;
      default:
    }
  }

  recorded(): RehearsedTurn {
    const replied = this.#parts.length > 0 || this.#finish.finish !== undefined;
    return {
      ...(this.#expect === undefined ? {} : { expect: this.#expect }),
      ...(this.#failures.length === 0 ? {} : { failures: this.#failures }),
      ...(replied ? { reply: this.#parts, ...this.#finish } : {}),
    };
  }
}

type Requested = Extract<StoredEvent, { type: "call.requested" }>["data"];

/** Of arguments that were no JSON the log has the beginning, in the words for the model; of those that were no object, only that. */
function callOf({ tool, providerCallId, arguments: given, malformed }: Requested): RehearsedPart {
  const isNoObject = malformed === "The arguments must be a JSON object.";
  const [, json = isNoObject ? "null" : undefined] =
    /^The arguments were not valid JSON: (.*)$/s.exec(malformed ?? "") ?? [];
  const named = { call: tool, id: providerCallId };
  return json === undefined ? { ...named, arguments: given } : { ...named, malformed: json };
}

function failureOf({ code, message }: { code: string; message: string }, came: RehearsedPart[]): RehearsedFailure {
  const after = came.length === 0 ? {} : { after: came };
  if (code === "provider.refused") return { fail: "refused", message, ...after };
  if (code === "provider.overflow") return { fail: "overflow", message, ...after };
  return { fail: came.length === 0 ? "error" : "cut", message, ...after };
}

function finishOf(reason: string): NonNullable<RehearsedTurn["finish"]> {
  const known = ["stop", "length", "tool-calls", "content-filter"] as const;
  return known.find((each) => each === reason) ?? "other";
}
