import type { Sieve } from "../door.ts";
import { jsonOf, countsIn, fieldsOf, nameOf, numberOf, textOf, type Told } from "../told.ts";

/** What Corral takes of a reply by the Messages protocol. Blocks and events of other kinds are passed over. */
export class MessageEvents implements Sieve {
  over = false;
  #begun = false;
  /** Those that are open and taken in. */
  readonly #blocks = new Set<number>();

  take(event: Told): readonly object[] {
    const { type } = event;
    switch (type) {
      case "message_start":
        return this.#start(fieldsOf(event["message"]));
      case "content_block_start":
        return this.#startBlock(numberOf(event["index"]) ?? 0, fieldsOf(event["content_block"]));
      case "content_block_delta":
        return this.#grow(numberOf(event["index"]) ?? 0, fieldsOf(event["delta"]));
      case "content_block_stop": {
        const index = numberOf(event["index"]) ?? 0;
        return this.#blocks.delete(index) ? [{ type, index }] : [];
      }
      case "message_delta": {
        const { stop_reason: reason } = fieldsOf(event["delta"]);
        return [
          { type, delta: { stop_reason: nameOf(reason) ?? null }, usage: usageOf(event["usage"], "output_tokens") },
        ];
      }
      case "message_stop":
        this.over = true;
        return [{ type }];
      case "error":
        return [errorOf(fieldsOf(event["error"]))];
      default:
        return [];
    }
  }

  #start({ id, usage }: Told): readonly object[] {
    if (this.#begun) return [];
    this.#begun = true;
    const message = { id: nameOf(id) ?? null, usage: usageOf(usage, "input_tokens") };
    return [{ type: "message_start", message }];
  }

  #startBlock(index: number, block: Told): readonly object[] {
    const begun = blockOf(index, block);
    this.#blocks.delete(index);
    if (begun === undefined) return [];
    this.#blocks.add(index);
    return [
      { type: "content_block_start", index, content_block: begun },
      ...[wordsIn(block)].flatMap((delta) => (delta === undefined ? [] : this.#grow(index, delta))),
    ];
  }

  #grow(index: number, delta: Told): readonly object[] {
    const grown = this.#blocks.has(index) ? deltaOf(delta) : undefined;
    return grown === undefined ? [] : [{ type: "content_block_delta", index, delta: grown }];
  }
}

function blockOf(index: number, block: Told) {
  switch (block["type"]) {
    case "text":
      return { type: "text", text: "" };
    case "thinking":
      return { type: "thinking", thinking: "" };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: textOf(block["data"]) ?? "" };
    case "tool_use": {
      const name = nameOf(block["name"]);
      return name === undefined ? undefined : { type: "tool_use", id: nameOf(block["id"]) ?? `call_${index}`, name };
    }
    default:
      return undefined;
  }
}

/** What a block begins with, as if it had come afterwards. */
function wordsIn({ type, text, thinking, input }: Told): Told | undefined {
  if (type === "text" && text !== "") return { type: "text_delta", text };
  if (type === "thinking" && thinking !== "") return { type: "thinking_delta", thinking };
  const isEmpty = Object.keys(fieldsOf(input)).length === 0;
  return type === "tool_use" && !isEmpty ? { type: "input_json_delta", partial_json: jsonOf(input) } : undefined;
}

const deltas: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  signature_delta: "signature",
  input_json_delta: "partial_json",
};

function deltaOf(delta: Told): object | undefined {
  const type = textOf(delta["type"]) ?? "";
  const field = Object.hasOwn(deltas, type) ? deltas[type] : undefined;
  const words = field === undefined ? undefined : textOf(delta[field]);
  return field === undefined || words === undefined ? undefined : { type, [field]: words };
}

function usageOf(usage: unknown, needed: string) {
  const thinking = countsIn(fieldsOf(usage)["output_tokens_details"], ["thinking_tokens"]);
  return { [needed]: 0, ...countsIn(usage, counted), output_tokens_details: thinking };
}

const counted = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

function errorOf({ type, message }: Told): object {
  return { type: "error", error: { type: nameOf(type) ?? "api_error", message: textOf(message) ?? "" } };
}
