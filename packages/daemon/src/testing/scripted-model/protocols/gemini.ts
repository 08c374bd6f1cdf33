import type { Block, ReceivedMessage } from "../conversation.ts";
import type { Tokens } from "../reply.ts";
import { newId } from "./messages.ts";
import {
  emptyTalk,
  estimate,
  isRecord,
  placeOfJson,
  type Protocol,
  records,
  type ReplyWriter,
  statusOf,
  withJson,
} from "./protocol.ts";

type Part = Readonly<Record<string, unknown>>;

/** `generateContent` of Google's Gemini. The model and whether it streams are in the address. */
export const gemini: Protocol = {
  name: "gemini",
  read({ contents }, path) {
    const [, model, how] = /\/models\/([^/:]+):(\w+)$/.exec(path) ?? [];
    if (model === undefined || !Array.isArray(contents)) return undefined;
    return { model, streams: how === "streamGenerateContent", messages: records(contents).map(messageOf) };
  },
  reply: (model, inputTokens) => new StreamedContent(model, inputTokens),
  failure: ({ status, type, message, details = [] }) => ({
    error: { code: status, message, status: nameOf(type), details },
  }),
};

function messageOf({ role, parts }: Part): ReceivedMessage {
  return { role: role === "model" ? "assistant" : "user", content: records(parts).map(blockOf) };
}

function blockOf(part: Part): Block {
  if (typeof part["text"] === "string")
    return part["thought"] === true
      ? { ...part, type: "thinking", text: "" }
      : { ...part, type: "text", text: part["text"] };
  const { functionCall, functionResponse } = part;
  if (isRecord(functionCall)) return { ...part, ...functionCall, type: "tool_use" };
  if (isRecord(functionResponse)) return resultOf(functionResponse);
  return { ...part, type: Object.keys(part)[0] ?? "nothing" };
}

function resultOf({ id, response }: Part): Block {
  const { content } = isRecord(response) ? response : {};
  const text = typeof content === "string" ? content : JSON.stringify(content ?? response ?? null);
  return { type: "tool_result", tool_use_id: String(id), content: text };
}

/** Each event is a piece of the one candidate; what has no thought in it and follows thoughts begins the next part. */
class StreamedContent implements ReplyWriter {
  readonly #id = newId("resp");
  readonly #model: string;
  readonly #inputTokens: number;
  #tokens: Tokens = {};
  #characters = 0;
  #thinks = false;
  /** Signs the next part that is no thought, as Google does. */
  #signature: string | undefined;

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
    return this.#candidate({ text: piece, ...this.#signed() });
  }

  thinking(piece: string): string {
    this.#characters += piece.length;
    this.#thinks = true;
    return this.#candidate({ text: piece, thought: true });
  }

  endBlock(signature?: string): string {
    if (this.#thinks && signature !== undefined) this.#signature = signature;
    this.#thinks = false;
    return "";
  }

  call(id: string, tool: string, pieces: readonly string[]): string {
    const json = pieces.join("");
    this.#characters += json.length;
    const told = this.#candidate({ functionCall: { id, name: tool, args: placeOfJson }, ...this.#signed() });
    return withJson(told, json);
  }

  noise(): string {
    const odd = { brandNew: { of: [1, null, "x"] } };
    const parts = [odd, { inlineData: { mimeType: 1 } }, { functionCall: { id: 4, ...odd } }, null, 7];
    const candidate = {
      content: { role: "narrator", parts, ...odd },
      safetyRatings: "odd",
      groundingMetadata: 4,
      ...odd,
    };
    return [
      emptyTalk,
      this.#event({ candidates: [candidate], usageMetadata: odd, promptFeedback: odd, ...odd }),
      this.#event({ candidates: null, createTime: 4, usageMetadata: null }),
      this.#event({ candidates: [null] }),
    ].join("");
  }

  finish(reason: string | undefined, tokens: Tokens = {}): string {
    this.#tokens = { ...this.#tokens, ...tokens };
    const finishReason = reasons[reason ?? "end_turn"] ?? reason;
    const rest = { content: { role: "model", parts: [{ text: "" }] }, finishReason, index: 0 };
    return this.#event({ candidates: [rest], usageMetadata: this.#usage() });
  }

  error(type: string, message: string): string {
    const status = statusOf(type) === 529 ? 503 : statusOf(type);
    return `data: ${JSON.stringify(gemini.failure({ status, type, message }))}\n\n`;
  }

  #signed(): { readonly thoughtSignature?: string } {
    const signature = this.#signature;
    this.#signature = undefined;
    return signature === undefined ? {} : { thoughtSignature: signature };
  }

  #usage() {
    const { input = this.#inputTokens, cacheRead = 0, reasoning = 0 } = this.#tokens;
    const output = this.#tokens.output ?? estimate(this.#characters);
    return {
      promptTokenCount: input + cacheRead,
      cachedContentTokenCount: cacheRead,
      candidatesTokenCount: output - reasoning,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input + cacheRead + output,
    };
  }

  #candidate(part: object): string {
    return this.#event({ candidates: [{ content: { role: "model", parts: [part] }, index: 0 }] });
  }

  #event(data: object): string {
    return `data: ${JSON.stringify({ ...data, modelVersion: this.#model, responseId: this.#id })}\n\n`;
  }
}

const reasons: Readonly<Record<string, string>> = {
  end_turn: "STOP",
  tool_use: "STOP",
  max_tokens: "MAX_TOKENS",
  refusal: "SAFETY",
};

const names: Readonly<Record<string, string>> = {
  invalid_request_error: "INVALID_ARGUMENT",
  request_too_large: "INVALID_ARGUMENT",
  authentication_error: "UNAUTHENTICATED",
  permission_error: "PERMISSION_DENIED",
  not_found_error: "NOT_FOUND",
  rate_limit_error: "RESOURCE_EXHAUSTED",
  overloaded_error: "UNAVAILABLE",
};

function nameOf(type: string): string {
  return names[type] ?? "INTERNAL";
}
