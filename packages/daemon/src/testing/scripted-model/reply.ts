/**
 * What the scripted model answers with: one part, or several in the order in which they are streamed.
 * `request.answer(thinks("hm"), says("listing"), callsTool("shell", { command: "ls" }))`
 */
export type Reply = ReplyPart | readonly ReplyPart[];

export type ReplyPart =
  | { readonly kind: "text"; readonly text: string; readonly pieces: number; readonly everyMs: number }
  | { readonly kind: "thinking"; readonly text: string; readonly signature: string }
  | {
      readonly kind: "call";
      readonly tool: string;
      /** The raw text of the arguments; may be malformed. */
      readonly json: string;
      readonly pieces: number;
      readonly id: string | undefined;
    }
  /** Before the first part: the client waits for its first byte. After a text: inside that text. */
  | { readonly kind: "wait"; readonly ms: number }
  /** Like a wait without end: until the client goes away or the server closes. */
  | { readonly kind: "hold" }
  /** The connection breaks here. */
  | { readonly kind: "cut" }
  /** An error event in the stream; nothing follows it. */
  | { readonly kind: "error"; readonly type: string; readonly message: string }
  /** What no client knows: it is to be passed over. */
  | { readonly kind: "noise" }
  /** Bytes as they are, for what no well-behaved server sends. */
  | { readonly kind: "raw"; readonly text: string }
  /** What answers is no model server: all of its answer, with this type. */
  | { readonly kind: "page"; readonly text: string; readonly mediaType: string | undefined }
  /** Says how all lines of the reply end. */
  | { readonly kind: "lines"; readonly end: "\r\n" | "\r" }
  /** The whole request fails with this status. */
  | { readonly kind: "fail"; readonly status: number; readonly failure: Failure }
  /** Says how the message ends; without it: `tool_use` when there are calls, else `end_turn`. */
  | { readonly kind: "stop"; readonly reason: string; readonly tokens: Tokens };

export interface Failure {
  /** Seconds, as in the header. */
  readonly retryAfter?: number;
  readonly type?: string;
  readonly message?: string;
  /** More of it, as Google tells it. */
  readonly details?: readonly object[];
}

/** Token counts that the reply claims; what is left out is estimated from lengths. */
export interface Tokens {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Of the output: what was thought; the Messages protocol does not tell. */
  readonly reasoning?: number;
}

export function says(text: string, how: { readonly pieces?: number; readonly everyMs?: number } = {}): ReplyPart {
  return { kind: "text", text, pieces: how.pieces ?? 1, everyMs: how.everyMs ?? 0 };
}

export function thinks(text: string, signature = "scripted-signature"): ReplyPart {
  return { kind: "thinking", text, signature };
}

export function callsTool(
  tool: string,
  args: Readonly<Record<string, unknown>> | { readonly malformed: string },
  how: { readonly pieces?: number; readonly id?: string } = {},
): ReplyPart {
  const json = "malformed" in args && typeof args.malformed === "string" ? args.malformed : JSON.stringify(args);
  return { kind: "call", tool, json, pieces: how.pieces ?? 1, id: how.id };
}

export function waits(ms: number): ReplyPart {
  return { kind: "wait", ms };
}

export function holds(): ReplyPart {
  return { kind: "hold" };
}

export function cuts(): ReplyPart {
  return { kind: "cut" };
}

export function breaksWith(type: string, message = `scripted ${type}`): ReplyPart {
  return { kind: "error", type, message };
}

export function fails(status: number, failure: Failure = {}): ReplyPart {
  return { kind: "fail", status, failure };
}

export function makesNoise(): ReplyPart {
  return { kind: "noise" };
}

export function sendsRaw(text: string): ReplyPart {
  return { kind: "raw", text };
}

export function answersWithPage(text: string, mediaType?: string): ReplyPart {
  return { kind: "page", text, mediaType };
}

export function endsLinesWith(end: "\r\n" | "\r"): ReplyPart {
  return { kind: "lines", end };
}

export function stops(reason: string, tokens: Tokens = {}): ReplyPart {
  return { kind: "stop", reason, tokens };
}

export function partsOf(replies: readonly Reply[]): readonly ReplyPart[] {
  return replies.flatMap((reply) => ("kind" in reply ? [reply] : reply));
}

/** The text in this many pieces of nearly the same length. */
export function split(text: string, pieces: number): readonly string[] {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, pieces)));
  const found: string[] = [];
  for (let at = 0; at < text.length; at += size) found.push(text.slice(at, at + size));
  return found;
}
