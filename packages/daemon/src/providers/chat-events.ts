import { bounds } from "./bounds.ts";
import type { Sieve } from "./door.ts";
import { jsonOf, countsIn, fieldsOf, listOf, nameOf, numberOf, textOf, type Told } from "./told.ts";

/** What Corral takes of a reply by Chat Completions: its first choice. Parts and calls of other kinds are passed over. */
export class ChatEvents implements Sieve {
  readonly over = false;
  /** Places of calls. */
  readonly #seen = new Set<number>();
  readonly #unnamed = new Map<number, string>();
  #held = 0;
  #unplaced = 0;

  take(event: Told): readonly object[] {
    const { error, usage } = event;
    if (error !== undefined && error !== null) return [{ error: errorOf(error) }];
    const choices = listOf(event["choices"]).slice(0, 1).map(fieldsOf);
    return [
      {
        choices: choices.map((choice) => ({
          index: 0,
          delta: this.#delta(fieldsOf(choice["delta"])),
          finish_reason: nameOf(choice["finish_reason"]) ?? null,
        })),
        ...(usage === undefined || usage === null ? {} : { usage: usageOf(fieldsOf(usage)) }),
      },
    ];
  }

  #delta(delta: Told): object {
    const { content, refusal } = delta;
    const thoughts = textOf(delta["reasoning_content"]) ?? textOf(delta["reasoning"]) ?? textsIn(content, "thinking");
    const words = textOf(content) ?? textsIn(content, "text");
    const calls = listOf(delta["tool_calls"])
      .map(fieldsOf)
      .flatMap((call) => this.#call(call));
    return {
      ...(words === "" ? {} : { content: words }),
      ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
      ...(textOf(refusal) === undefined ? {} : { refusal }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
  }

  /** Few servers leave out the places of calls; there each name begins another. Some give all calls one place and tell them apart by ids. */
  #call(call: Told): readonly object[] {
    const { type, extra_content: extra } = call;
    if (type !== undefined && type !== null && type !== "" && type !== "function") return [];
    const { name: named, arguments: args } = fieldsOf(call["function"]);
    const name = nameOf(named);
    const id = nameOf(call["id"]);
    const told = numberOf(call["index"]);
    if (told === undefined && name !== undefined) this.#unplaced += 1;
    const index = told ?? Math.max(0, this.#unplaced - 1);
    const json = args === undefined || args === null ? "" : jsonOf(args);
    if (name === undefined && !this.#seen.has(index)) return this.#holdBack(index, json);
    this.#seen.add(index);
    const whole = (this.#unnamed.get(index) ?? "") + json;
    this.#unnamed.delete(index);
    const signature = textOf(fieldsOf(fieldsOf(extra)["google"])["thought_signature"]);
    return [
      {
        index,
        type: "function",
        ...(id === undefined ? {} : { id }),
        function: { ...(name === undefined ? {} : { name }), arguments: whole },
        ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
      },
    ];
  }

  /** Few servers send arguments before the name; what never gets one is no call. */
  #holdBack(index: number, json: string): readonly object[] {
    this.#held += bounds.overhead + json.length;
    if (this.#held <= bounds.words) this.#unnamed.set(index, (this.#unnamed.get(index) ?? "") + json);
    return [];
  }
}

/** Of a content in parts, those of one kind. Thinking is a list of texts itself. */
function textsIn(content: unknown, kind: "text" | "thinking"): string {
  return listOf(content)
    .map(fieldsOf)
    .filter(({ type }) => type === kind)
    .map((part) => textOf(part[kind]) ?? (kind === "thinking" ? textsIn(part[kind], "text") : ""))
    .join("");
}

function usageOf(usage: Told): object {
  return {
    ...countsIn(usage, ["prompt_tokens", "completion_tokens", "total_tokens"]),
    prompt_tokens_details: countsIn(usage["prompt_tokens_details"], ["cached_tokens", "cache_write_tokens"]),
    completion_tokens_details: countsIn(usage["completion_tokens_details"], ["reasoning_tokens"]),
  };
}

function errorOf(error: unknown): object {
  const { message, type, code }: Told = typeof error === "string" ? { message: error } : fieldsOf(error);
  const known = typeof code === "number" ? code : nameOf(code);
  return {
    message: textOf(message) ?? "",
    type: nameOf(type) ?? null,
    ...(known === undefined ? {} : { code: known }),
  };
}
