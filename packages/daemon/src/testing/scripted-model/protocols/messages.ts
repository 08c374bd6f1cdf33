import { randomBytes } from "node:crypto";
import type { MessagesBody } from "../conversation.ts";
import type { Tokens } from "../reply.ts";
import { emptyTalk, estimate, type Protocol, type ReplyWriter } from "./protocol.ts";

/** The Messages protocol of Anthropic. */
export const messages: Protocol = {
  name: "messages",
  read(body) {
    const { model, messages: asked, stream } = body as Partial<MessagesBody>;
    if (typeof model !== "string" || !Array.isArray(asked)) return undefined;
    return { model, streams: stream === true, messages: asked };
  },
  reply: (model, inputTokens) => new StreamedMessage(model, inputTokens),
  failure: ({ type, message }) => ({ type: "error", error: { type, message } }),
};

class StreamedMessage implements ReplyWriter {
  readonly #model: string;
  readonly #inputTokens: number;
  #blocks = 0;
  #open: "text" | "thinking" | undefined;
  #characters = 0;
  #calls = 0;

  constructor(model: string, inputTokens: number) {
    this.#model = model;
    this.#inputTokens = inputTokens;
  }

  start(tokens: Tokens = {}): string {
    const usage = { ...usageOf(tokens, this.#inputTokens), output_tokens: 1 };
    const message = { ...emptyMessage(this.#model), usage };
    return event("message_start", { message }) + event("ping", {});
  }

  text(piece: string): string {
    const opening = this.#begin("text", { type: "text", text: "" });
    this.#characters += piece.length;
    return opening + this.#delta({ type: "text_delta", text: piece });
  }

  thinking(piece: string): string {
    const opening = this.#begin("thinking", { type: "thinking", thinking: "", signature: "" });
    this.#characters += piece.length;
    return opening + this.#delta({ type: "thinking_delta", thinking: piece });
  }

  endBlock(signature?: string): string {
    if (this.#open === undefined) return "";
    const signing =
      this.#open === "thinking" && signature !== undefined ? this.#delta({ type: "signature_delta", signature }) : "";
    this.#open = undefined;
    return signing + event("content_block_stop", { index: this.#blocks++ });
  }

  call(id: string, tool: string, pieces: readonly string[]): string {
    const before = this.endBlock();
    this.#calls++;
    const opening = this.#start({ type: "tool_use", id, name: tool, input: {} });
    const deltas = pieces.map((piece) => this.#delta({ type: "input_json_delta", partial_json: piece }));
    for (const piece of pieces) this.#characters += piece.length;
    return before + opening + deltas.join("") + event("content_block_stop", { index: this.#blocks++ });
  }

  noise(): string {
    const index = 900;
    const odd = { brand_new: { of: [1, null, "x"] } };
    return [
      emptyTalk,
      event("ping", odd),
      event("brand_new_event", odd),
      event("message_start", { message: { id: "another", ...odd } }),
      event("content_block_start", { index, content_block: { type: "brand_new_block", text: "unheard", ...odd } }),
      event("content_block_delta", { index, delta: { type: "text_delta", text: "unheard", ...odd } }),
      event("content_block_delta", { index: this.#blocks, delta: { type: "brand_new_delta", text: "unheard" } }),
      event("content_block_delta", { index: this.#blocks, delta: { type: "citations_delta", citation: odd } }),
      event("content_block_stop", { index, ...odd }),
      event("message_delta", { delta: { stop_reason: null, ...odd }, usage: { output_tokens: null, ...odd }, ...odd }),
    ].join("");
  }

  finish(reason: string | undefined, tokens: Tokens = {}): string {
    const usage = { output_tokens: tokens.output ?? estimate(this.#characters) };
    const stop = reason ?? (this.#calls > 0 ? "tool_use" : "end_turn");
    const delta = { stop_reason: stop, stop_sequence: null };
    return this.endBlock() + event("message_delta", { delta, usage }) + event("message_stop", {});
  }

  error(type: string, message: string): string {
    return event("error", { error: { type, message } });
  }

  #begin(kind: "text" | "thinking", block: object): string {
    if (this.#open === kind) return "";
    const before = this.endBlock();
    this.#open = kind;
    return before + this.#start(block);
  }

  #start(block: object): string {
    return event("content_block_start", { index: this.#blocks, content_block: block });
  }

  #delta(delta: object): string {
    return event("content_block_delta", { index: this.#blocks, delta });
  }
}

export function emptyMessage(model: string) {
  return {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

export function usageOf(tokens: Tokens, inputTokens: number) {
  return {
    input_tokens: tokens.input ?? inputTokens,
    cache_creation_input_tokens: tokens.cacheWrite ?? 0,
    cache_read_input_tokens: tokens.cacheRead ?? 0,
  };
}

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString("hex")}`;
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
