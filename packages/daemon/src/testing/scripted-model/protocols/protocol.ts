import type { ReceivedMessage } from "../conversation.ts";
import type { Tokens } from "../reply.ts";

/** How a vendor's clients and the scripted model talk: what is read of a request, and what is written for a reply. */
export interface Protocol {
  readonly name: "messages" | "responses" | "chat" | "gemini" | "ollama";
  /** What a body at this address asks; undefined: it is no request of this protocol. */
  read(body: Readonly<Record<string, unknown>>, path: string): Asked | undefined;
  reply(model: string, inputTokens: number): ReplyWriter;
  /** The body of an answer that failed. */
  failure(told: ToldFailure): object;
}

export interface ToldFailure {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly details?: readonly object[];
}

export interface Asked {
  readonly model: string;
  readonly streams: boolean;
  /** The conversation, in the words of the Messages protocol; what a model said in one go is one message. */
  readonly messages: readonly ReceivedMessage[];
}

/**
 * One reply while it is written, as server-sent events. Each method returns the text to send, so that a whole reply can
 * leave in a single write. Blocks open and close by themselves.
 */
export interface ReplyWriter {
  start(tokens?: Tokens): string;
  text(piece: string): string;
  thinking(piece: string): string;
  /** Ends the open block; thinking is signed first. */
  endBlock(signature?: string): string;
  call(id: string, tool: string, pieces: readonly string[]): string;
  /** `reason` as the Messages protocol says it; without: `tool_use` when there were calls, else `end_turn`. */
  finish(reason: string | undefined, tokens?: Tokens): string;
  /** What clients do not know and have to pass over: events, parts, fields and lines that a later version of the protocol may have. */
  noise(): string;
  /** An error in the middle of the stream, after which nothing comes. `type` as the Messages protocol has it. */
  error(type: string, message: string): string;
}

/** Lines that mean nothing in a stream of server-sent events, and events that are no objects. */
export const emptyTalk =
  ": still here\n\n\n\n:\nid: 7\nretry: 10\nbrand-new: x\n\nevent: brand_new\ndata: 12\n\ndata: null\n\n";

/** Where arguments go in protocols that tell them as a value and not as a text. */
export const placeOfJson = "the arguments";

/** The arguments as they are, however deep they are nested; those that are no JSON as a text. */
export function withJson(told: string, json: string): string {
  return told.replace(JSON.stringify(placeOfJson), () =>
    isJson(json) ? json.replaceAll("\n", " ") : JSON.stringify(json),
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function estimate(characters: number): number {
  return Math.ceil(characters / 4);
}

const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 529,
};

export function statusOf(type: string): number {
  return statuses[type] ?? 500;
}

export function typeOf(status: number): string {
  return (
    Object.keys(statuses).find((type) => statuses[type] === status) ??
    (status < 500 ? "invalid_request_error" : "api_error")
  );
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** What a model said in one go comes as several items in some protocols. */
export function joined(messages: readonly ReceivedMessage[]): readonly ReceivedMessage[] {
  const found: ReceivedMessage[] = [];
  for (const message of messages) {
    const last = found.at(-1);
    if (last?.role === "assistant" && message.role === "assistant")
      found.splice(-1, 1, { role: "assistant", content: [...blocksOf(last), ...blocksOf(message)] });
    else found.push(message);
  }
  return found;
}

function blocksOf({ content }: ReceivedMessage) {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
