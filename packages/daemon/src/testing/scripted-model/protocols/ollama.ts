import type { Block, ReceivedMessage } from "../conversation.ts";
import type { Tokens } from "../reply.ts";
import { estimate, isRecord, placeOfJson, type Protocol, records, type ReplyWriter, withJson } from "./protocol.ts";

type Said = Readonly<Record<string, unknown>>;

/** Ollama's own chat, as lines of JSON. */
export const ollama: Protocol = {
  name: "ollama",
  read({ model, messages, stream }) {
    if (typeof model !== "string" || !Array.isArray(messages)) return undefined;
    return { model, streams: stream !== false, messages: records(messages).map(messageOf) };
  },
  reply: (model, inputTokens) => new StreamedChat(model, inputTokens),
  failure: ({ message }) => ({ error: message }),
};

function messageOf(said: Said): ReceivedMessage {
  const text = typeof said["content"] === "string" ? said["content"] : "";
  if (said["role"] === "tool")
    return {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: String(said["tool_call_id"]), content: text }],
    };
  const role = said["role"] === "assistant" || said["role"] === "user" ? said["role"] : "system";
  const thoughts: readonly Block[] =
    typeof said["thinking"] === "string" ? [{ type: "thinking", thinking: said["thinking"] }] : [];
  const texts: readonly Block[] = text === "" ? [] : [{ type: "text", text }];
  return { role, content: [...thoughts, ...texts, ...records(said["tool_calls"]).map(callOf)] };
}

function callOf(call: Said): Block {
  const { name, arguments: input } = isRecord(call["function"]) ? call["function"] : {};
  return { type: "tool_use", id: call["id"], name, input };
}

/** What it was told about a model: POST /api/show. */
export function shownModel(context: number | undefined): object {
  return {
    capabilities: ["completion", "tools"],
    model_info: {
      "general.architecture": "llama",
      ...(context === undefined ? {} : { "llama.context_length": context }),
    },
  };
}

class StreamedChat implements ReplyWriter {
  readonly #model: string;
  readonly #inputTokens: number;
  #tokens: Tokens = {};
  #characters = 0;

  constructor(model: string, inputTokens: number) {
    this.#model = model;
    this.#inputTokens = inputTokens;
  }

  start(tokens: Tokens = {}): string {
    this.#tokens = tokens;
    return "";
  }

  text(piece: string): string {
    this.#characters += piece.length;
    return this.#line({ message: { role: "assistant", content: piece }, done: false });
  }

  thinking(piece: string): string {
    this.#characters += piece.length;
    return this.#line({ message: { role: "assistant", content: "", thinking: piece }, done: false });
  }

  /** There is no end of a part in this protocol, and no signature. */
  endBlock(): string {
    return "";
  }

  /** Calls come whole, with arguments that were read already. */
  call(id: string, tool: string, pieces: readonly string[]): string {
    const json = pieces.join("");
    this.#characters += json.length;
    const call = { id, function: { name: tool, arguments: placeOfJson } };
    const told = this.#line({ message: { role: "assistant", content: "", tool_calls: [call] }, done: false });
    return withJson(told, json);
  }

  noise(): string {
    const odd = { brand_new: { of: [1, null, "x"] } };
    const message = { role: "narrator", images: 4, tool_calls: [odd, null, { function: { arguments: {} } }], ...odd };
    return `\n\n${this.#line({ message, done: "no", ...odd })}${this.#line({ message: null })}{"brand_new":1}\n`;
  }

  finish(reason: string | undefined, tokens: Tokens = {}): string {
    const {
      input = this.#inputTokens,
      cacheRead = 0,
      output = estimate(this.#characters),
    } = {
      ...this.#tokens,
      ...tokens,
    };
    return this.#line({
      message: { role: "assistant", content: "" },
      done: true,
      done_reason: reasons[reason ?? "end_turn"] ?? reason,
      prompt_eval_count: input + cacheRead,
      eval_count: output,
    });
  }

  error(_type: string, message: string): string {
    return `${JSON.stringify({ error: message })}\n`;
  }

  #line(told: object): string {
    return `${JSON.stringify({ model: this.#model, created_at: "2026-01-01T00:00:00Z", ...told })}\n`;
  }
}

const reasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  tool_use: "stop",
  refusal: "stop",
  max_tokens: "length",
};
