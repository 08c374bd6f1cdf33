import type { ServerResponse } from "node:http";
import { emptyMessage, newId, usageOf } from "./protocols/messages.ts";
import { estimate, type Protocol, statusOf, typeOf } from "./protocols/protocol.ts";
import { type Failure, type ReplyPart, split, type Tokens } from "./reply.ts";

/** Where a reply goes: the open response of one request. */
export interface Destination {
  readonly response: ServerResponse;
  readonly protocol: Protocol;
  readonly model: string;
  readonly inputTokens: number;
  readonly streams: boolean;
  /** Aborts when the client goes away or the server closes; whatever waits then ends. */
  readonly gone: AbortSignal;
}

/** Sends a whole reply: in one write unless it says to wait somewhere. Never rejects. */
export async function deliver(parts: readonly ReplyPart[], to: Destination): Promise<void> {
  const begun = parts.findIndex((part) => part.kind !== "wait" && part.kind !== "hold");
  for (const pause of parts.slice(0, begun < 0 ? parts.length : begun)) await pass(pause, to.gone);
  const rest = begun < 0 ? [] : parts.slice(begun);
  const failing = rest.find((part) => part.kind === "fail");
  if (to.gone.aborted) return;
  if (failing !== undefined) return sendFailure(to, failing.status, failing.failure);
  const page = rest.find((part) => part.kind === "page");
  if (page !== undefined) return sendPage(to.response, page);
  await (to.streams ? streamParts(rest, to) : sendWhole(rest, to));
}

async function streamParts(parts: readonly ReplyPart[], to: Destination): Promise<void> {
  const stop = parts.find((part) => part.kind === "stop");
  const message = to.protocol.reply(to.model, to.inputTokens);
  const lineEnd = parts.find((part) => part.kind === "lines")?.end ?? "\n";
  let unsent = message.start(stop?.tokens);
  const sent = () => {
    const text = lineEnd === "\n" ? unsent : unsent.replaceAll("\n", lineEnd);
    unsent = "";
    return text;
  };
  const send = () => {
    if (unsent !== "") openStream(to.response).write(sent());
  };
  for (const part of parts) {
    if (to.gone.aborted) return;
    switch (part.kind) {
      case "text":
        for (const [at, piece] of split(part.text, part.pieces).entries()) {
          if (part.everyMs > 0 && at > 0) {
            send();
            await pass({ kind: "wait", ms: part.everyMs }, to.gone);
          }
          unsent += message.text(piece);
        }
        break;
      case "thinking":
        unsent += message.thinking(part.text) + message.endBlock(part.signature);
        break;
      case "call":
        unsent += message.call(part.id ?? newId("toolu"), part.tool, split(part.json, part.pieces));
        break;
      case "noise":
        unsent += message.noise();
        break;
      case "raw":
        unsent += part.text;
        break;
      case "wait":
      case "hold":
        send();
        await pass(part, to.gone);
        break;
      case "cut":
        send();
        return cutOff(to.response);
      case "error":
        unsent += message.error(part.type, part.message);
        openStream(to.response).end(sent());
        return;
      case "fail":
      case "page":
      case "lines":
      case "stop":
        // They say how the reply goes as a whole, and were looked for before.
        break;
    }
  }
  unsent += message.finish(stop?.reason, stop?.tokens);
  openStream(to.response).end(sent());
}

/** Only the Messages protocol is spoken without a stream. */
async function sendWhole(parts: readonly ReplyPart[], to: Destination): Promise<void> {
  const content: object[] = [];
  let stop: { reason: string; tokens: Tokens } | undefined;
  for (const part of parts) {
    if (to.gone.aborted) return;
    if (part.kind === "text") content.push({ type: "text", text: part.text });
    if (part.kind === "thinking") content.push({ type: "thinking", thinking: part.text, signature: part.signature });
    if (part.kind === "call")
      content.push({
        type: "tool_use",
        id: part.id ?? newId("toolu"),
        name: part.tool,
        input: JSON.parse(part.json) as unknown,
      });
    if (part.kind === "wait" || part.kind === "hold") await pass(part, to.gone);
    if (part.kind === "cut") return cutOff(to.response);
    if (part.kind === "error") return sendFailure(to, statusOf(part.type), part);
    if (part.kind === "stop") stop = part;
  }
  const reason = stop?.reason ?? (parts.some((part) => part.kind === "call") ? "tool_use" : "end_turn");
  const output = stop?.tokens.output ?? estimate(JSON.stringify(content).length);
  const usage = { ...usageOf(stop?.tokens ?? {}, to.inputTokens), output_tokens: output };
  sendJson(to.response, 200, { ...emptyMessage(to.model), content, stop_reason: reason, usage });
}

export function openStream(response: ServerResponse): ServerResponse {
  if (!response.headersSent) {
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "request-id": newId("req"),
    });
  }
  return response;
}

export function sendFailure(
  { response, protocol }: Pick<Destination, "response" | "protocol">,
  status: number,
  failure: Failure = {},
): void {
  const type = failure.type ?? typeOf(status);
  const message = failure.message ?? `scripted ${type}`;
  if (failure.retryAfter !== undefined) response.setHeader("retry-after", String(failure.retryAfter));
  const { details } = failure;
  sendJson(response, status, protocol.failure({ status, type, message, ...(details && { details }) }));
}

function sendPage(response: ServerResponse, { text, mediaType }: Extract<ReplyPart, { kind: "page" }>): void {
  response.writeHead(200, mediaType === undefined ? {} : { "content-type": mediaType });
  response.end(text);
}

/** What was written still leaves, then the connection breaks without the end of the body. */
export function cutOff(response: ServerResponse): void {
  const { socket } = response;
  // The response hands its writes to the socket on the next tick; an empty write comes after them.
  setImmediate(() => socket?.write("", () => socket.destroy()));
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "request-id": newId("req") });
  response.end(JSON.stringify(body));
}

function pass(pause: ReplyPart, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (gone.aborted) return resolve();
    const timer = pause.kind === "wait" ? setTimeout(resolve, pause.ms) : undefined;
    gone.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
