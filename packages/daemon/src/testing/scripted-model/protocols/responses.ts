import type { ReceivedMessage } from "../conversation.ts";
import type { Tokens } from "../reply.ts";
import { newId } from "./messages.ts";
import { emptyTalk, estimate, joined, type Protocol, records, type ReplyWriter } from "./protocol.ts";

type Item = Readonly<Record<string, unknown>>;

/** The Responses protocol of OpenAI. */
export const responses: Protocol = {
  name: "responses",
  read(body) {
    const { model, input, stream } = body;
    if (typeof model !== "string" || !(typeof input === "string" || Array.isArray(input))) return undefined;
    const said: readonly ReceivedMessage[] =
      typeof input === "string" ? [{ role: "user", content: input }] : records(input).flatMap(messageOf);
    return { model, streams: stream === true, messages: joined(said) };
  },
  reply: (model, inputTokens) => new StreamedResponse(model, inputTokens),
  failure: ({ type, message }) => ({ error: { message, type, param: null, code: codeOf(type, message) } }),
};

/** Overflow has a code of its own there. */
export function codeOf(type: string, message: string): string | null {
  if (/context window|context length/.test(message)) return "context_length_exceeded";
  return type === "rate_limit_error" ? "rate_limit_exceeded" : type;
}

function messageOf(item: Item): readonly ReceivedMessage[] {
  switch (item["type"]) {
    case "function_call":
      return [{ role: "assistant", content: [{ ...item, type: "tool_use" }] }];
    case "reasoning":
    case "item_reference":
      return [{ role: "assistant", content: [{ ...item, type: item["type"] }] }];
    case "function_call_output":
      return [{ role: "user", content: [resultOf(item)] }];
    default:
      return [{ role: roleOf(item["role"]), content: contentOf(item["content"]) }];
  }
}

function roleOf(role: unknown): ReceivedMessage["role"] {
  return role === "assistant" || role === "user" ? role : "system";
}

function contentOf(content: unknown): ReceivedMessage["content"] {
  if (typeof content === "string") return content;
  return records(content).map((part) => ({
    ...part,
    type: part["type"] === "input_text" || part["type"] === "output_text" ? "text" : String(part["type"]),
  }));
}

function resultOf({ call_id: id, output }: Item) {
  const told = typeof output === "string" ? /^\{"error":(.*)\}$/s.exec(output) : null;
  return {
    type: "tool_result",
    tool_use_id: String(id),
    content: told === null ? contentOf(output) : String(JSON.parse(told[1] ?? '""')),
    is_error: told !== null,
  };
}

const isWhole: ReadonlySet<string> = new Set(["end_turn", "tool_use"]);
const reasons: Readonly<Record<string, string>> = { max_tokens: "max_output_tokens", refusal: "content_filter" };

/** Items are numbered in the order in which they come; each is told when it begins, as it grows, and when it is whole. */
class StreamedResponse implements ReplyWriter {
  readonly #id = newId("resp");
  readonly #model: string;
  readonly #inputTokens: number;
  readonly #output: object[] = [];
  #tokens: Tokens = {};
  #events = 0;
  #open: { readonly kind: "text" | "thinking"; readonly id: string; text: string } | undefined;
  #characters = 0;

  constructor(model: string, inputTokens: number) {
    this.#model = model;
    this.#inputTokens = inputTokens;
  }

  start(tokens: Tokens = {}): string {
    this.#tokens = tokens;
    return ["response.created", "response.in_progress"]
      .map((type) => this.#event(type, { response: this.#response("in_progress") }))
      .join("");
  }

  text(piece: string): string {
    const opening = this.#begin("text");
    const { id } = this.#grow(piece);
    const at = { item_id: id, output_index: this.#output.length, content_index: 0 };
    return opening + this.#event("response.output_text.delta", { ...at, delta: piece, logprobs: [] });
  }

  thinking(piece: string): string {
    const opening = this.#begin("thinking");
    const { id } = this.#grow(piece);
    const at = { item_id: id, output_index: this.#output.length, summary_index: 0 };
    return opening + this.#event("response.reasoning_summary_text.delta", { ...at, delta: piece });
  }

  endBlock(signature?: string): string {
    const open = this.#open;
    if (open === undefined) return "";
    this.#open = undefined;
    return open.kind === "text" ? this.#endText(open) : this.#endThinking(open, signature);
  }

  call(id: string, tool: string, pieces: readonly string[]): string {
    const before = this.endBlock();
    const whole = pieces.join("");
    const item = { type: "function_call", id: newId("fc"), call_id: id, name: tool };
    const at = { item_id: item.id, output_index: this.#output.length };
    this.#characters += whole.length;
    const begun = this.#item("added", { ...item, status: "in_progress", arguments: "" });
    const deltas = pieces.map((delta) => this.#event("response.function_call_arguments.delta", { ...at, delta }));
    const ended = this.#event("response.function_call_arguments.done", { ...at, name: tool, arguments: whole });
    return before + begun + deltas.join("") + ended + this.#done({ ...item, status: "completed", arguments: whole });
  }

  noise(): string {
    const at = { item_id: "unheard", output_index: 900 };
    const odd = { brand_new: { of: [1, null, "x"] } };
    const item = { type: "brand_new_item", id: 5, ...odd };
    return [
      emptyTalk,
      this.#event("keepalive", odd),
      this.#event("response.brand_new.delta", { ...at, delta: "unheard" }),
      this.#event("response.output_item.added", { output_index: 900, item }),
      this.#event("response.output_item.done", { output_index: 900, item }),
      this.#event("response.content_part.added", { ...at, part: { type: "brand_new" } }),
      this.#event("response.output_text.annotation.added", { ...at, annotation: { type: "brand_new" } }),
      this.#event("response.in_progress", {
        response: { ...this.#response("in_progress"), id: 5, created_at: "now", ...odd },
      }),
    ].join("");
  }

  finish(reason: string | undefined, tokens: Tokens = {}): string {
    this.#tokens = { ...this.#tokens, ...tokens };
    const before = this.endBlock();
    const cutShort = reason === undefined || isWhole.has(reason) ? undefined : (reasons[reason] ?? reason);
    const status = cutShort === undefined ? "completed" : "incomplete";
    const response = {
      ...this.#response(status),
      incomplete_details: cutShort === undefined ? null : { reason: cutShort },
      usage: this.#usage(),
    };
    return before + this.#event(`response.${status}`, { response });
  }

  error(type: string, message: string): string {
    return this.#event("error", { code: codeOf(type, message), message, param: null });
  }

  #begin(kind: "text" | "thinking"): string {
    if (this.#open?.kind === kind) return "";
    const before = this.endBlock();
    const id = newId(kind === "text" ? "msg" : "rs");
    this.#open = { kind, id, text: "" };
    const at = { item_id: id, output_index: this.#output.length };
    if (kind === "thinking") {
      const part = { type: "summary_text", text: "" };
      const item = this.#item("added", { id, type: "reasoning", summary: [], encrypted_content: null });
      return before + item + this.#event("response.reasoning_summary_part.added", { ...at, summary_index: 0, part });
    }
    const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
    const item = this.#item("added", { id, type: "message", role: "assistant", status: "in_progress", content: [] });
    return before + item + this.#event("response.content_part.added", { ...at, content_index: 0, part });
  }

  #grow(piece: string): { readonly id: string } {
    this.#characters += piece.length;
    if (this.#open !== undefined) this.#open.text += piece;
    return { id: this.#open?.id ?? "" };
  }

  #endText({ id, text }: { readonly id: string; readonly text: string }): string {
    const at = { item_id: id, output_index: this.#output.length, content_index: 0 };
    const part = { type: "output_text", text, annotations: [], logprobs: [] };
    return (
      this.#event("response.output_text.done", { ...at, text, logprobs: [] }) +
      this.#event("response.content_part.done", { ...at, part }) +
      this.#done({ id, type: "message", role: "assistant", status: "completed", content: [part] })
    );
  }

  #endThinking({ id, text }: { readonly id: string; readonly text: string }, signature: string | undefined): string {
    const at = { item_id: id, output_index: this.#output.length, summary_index: 0 };
    const part = { type: "summary_text", text };
    return (
      this.#event("response.reasoning_summary_text.done", { ...at, text }) +
      this.#event("response.reasoning_summary_part.done", { ...at, part }) +
      this.#done({ id, type: "reasoning", summary: [part], encrypted_content: signature ?? null })
    );
  }

  #done(item: object): string {
    const told = this.#item("done", item);
    this.#output.push(item);
    return told;
  }

  #item(what: "added" | "done", item: object): string {
    return this.#event(`response.output_item.${what}`, { output_index: this.#output.length, item });
  }

  #usage() {
    const { input = this.#inputTokens, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = this.#tokens;
    const output = this.#tokens.output ?? estimate(this.#characters);
    return {
      input_tokens: input + cacheRead + cacheWrite,
      input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + cacheRead + cacheWrite + output,
    };
  }

  #response(status: string) {
    return {
      id: this.#id,
      object: "response",
      created_at: 1_700_000_000,
      status,
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      model: this.#model,
      output: this.#output,
      parallel_tool_calls: true,
      temperature: 1,
      tool_choice: "auto",
      tools: [],
      top_p: 1,
      usage: null as object | null,
    };
  }

  #event(type: string, data: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...data, sequence_number: this.#events++ })}\n\n`;
  }
}
