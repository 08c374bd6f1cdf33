import type { Block, ReceivedMessage } from "../conversation.ts";
import type { Tokens } from "../reply.ts";
import { newId } from "./messages.ts";
import { emptyTalk, estimate, type Protocol, records, type ReplyWriter } from "./protocol.ts";
import { codeOf } from "./responses.ts";

type Said = Readonly<Record<string, unknown>>;

/** Chat Completions, as OpenAI and the many servers that are like it speak it. */
export const chat: Protocol = {
  name: "chat",
  read({ model, messages, stream }) {
    if (typeof model !== "string" || !Array.isArray(messages)) return undefined;
    return { model, streams: stream === true, messages: records(messages).map(messageOf) };
  },
  reply: (model, inputTokens) => new StreamedCompletion(model, inputTokens),
  failure: ({ type, message }) => ({ error: { message, type, param: null, code: codeOf(type, message) } }),
};

function messageOf(said: Said): ReceivedMessage {
  if (said["role"] === "tool") return { role: "user", content: [resultOf(said)] };
  const role = said["role"] === "assistant" || said["role"] === "user" ? said["role"] : "system";
  const calls = records(said["tool_calls"]).map((call) => ({ ...call, type: "tool_use" }));
  const blocks = [...thoughtsOf(said), ...textsOf(said["content"]), ...calls];
  return { role, content: blocks };
}

function thoughtsOf({ reasoning_content: thinking }: Said): readonly Block[] {
  return typeof thinking === "string" ? [{ type: "thinking", thinking }] : [];
}

function textsOf(content: unknown): readonly Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return records(content).map((part) => ({ ...part, type: String(part["type"]) }));
}

function resultOf({ tool_call_id: id, content }: Said): Block {
  return {
    type: "tool_result",
    tool_use_id: String(id),
    content: typeof content === "string" ? content : textsOf(content),
  };
}

/** One choice, whose delta grows; thinking as most servers besides OpenAI's tell it. */
class StreamedCompletion implements ReplyWriter {
  readonly #id = newId("chatcmpl");
  readonly #model: string;
  readonly #inputTokens: number;
  #tokens: Tokens = {};
  #characters = 0;
  #calls = 0;

  constructor(model: string, inputTokens: number) {
    this.#model = model;
    this.#inputTokens = inputTokens;
  }

  start(tokens: Tokens = {}): string {
    this.#tokens = tokens;
    return this.#delta({ role: "assistant", content: "" });
  }

  text(piece: string): string {
    this.#characters += piece.length;
    return this.#delta({ content: piece });
  }

  thinking(piece: string): string {
    this.#characters += piece.length;
    return this.#delta({ reasoning_content: piece });
  }

  /** There is no end of a part in this protocol, and no signature. */
  endBlock(): string {
    return "";
  }

  call(id: string, tool: string, pieces: readonly string[]): string {
    const index = this.#calls++;
    for (const piece of pieces) this.#characters += piece.length;
    const begun = { index, id, type: "function", function: { name: tool, arguments: "" } };
    const grown = pieces.map((piece) => ({ index, function: { arguments: piece } }));
    return [begun, ...grown].map((call) => this.#delta({ tool_calls: [call] })).join("");
  }

  noise(): string {
    const odd = { brand_new: { of: [1, null, "x"] } };
    const delta = {
      role: "narrator",
      content: [{ type: "brand_new", text: "unheard" }],
      annotations: [{ type: "brand_new" }],
      tool_calls: [{ index: 900, id: "unheard", type: "brand_new", brand_new: {} }, odd],
      ...odd,
    };
    return [
      emptyTalk,
      `event: ping\ndata: ${JSON.stringify({ type: "brand_new", ...odd })}\n\n`,
      this.#chunk({ choices: [{ index: 0, delta, logprobs: "odd", finish_reason: null, ...odd }], ...odd }),
      this.#chunk({ choices: [{ index: 0, delta: null }], id: 5, created: "now", model: {}, usage: odd, error: null }),
    ].join("");
  }

  finish(reason: string | undefined, tokens: Tokens = {}): string {
    this.#tokens = { ...this.#tokens, ...tokens };
    const told = reason ?? (this.#calls > 0 ? "tool_use" : "end_turn");
    const end = this.#chunk({
      choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: reasons[told] ?? told }],
    });
    return `${end}${this.#chunk({ choices: [], usage: this.#usage() })}data: [DONE]\n\n`;
  }

  error(type: string, message: string): string {
    return `data: ${JSON.stringify(chat.failure({ status: 0, type, message }))}\n\n`;
  }

  #usage() {
    const { input = this.#inputTokens, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = this.#tokens;
    const output = this.#tokens.output ?? estimate(this.#characters);
    return {
      prompt_tokens: input + cacheRead + cacheWrite,
      completion_tokens: output,
      total_tokens: input + cacheRead + cacheWrite + output,
      prompt_tokens_details: { cached_tokens: cacheRead },
      completion_tokens_details: { reasoning_tokens: reasoning },
    };
  }

  #delta(delta: object): string {
    return this.#chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: null }] });
  }

  #chunk(data: object): string {
    const head = { id: this.#id, object: "chat.completion.chunk", created: 1_700_000_000, model: this.#model };
    return `data: ${JSON.stringify({ ...head, ...data })}\n\n`;
  }
}

const reasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  refusal: "content_filter",
};
