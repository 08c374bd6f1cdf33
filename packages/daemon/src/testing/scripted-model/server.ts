/**
 * A model over HTTP that says what it is told to: real sockets, the Anthropic Messages protocol, no
 * latency of its own. A request is answered by the first of these that applies:
 *
 * 1. the next reply of `script`;
 * 2. a waiting `nextRequest`, whose caller answers;
 * 3. the markers of its own prompt (see markers.ts);
 * 4. otherwise it is held for a later `nextRequest`, or answered "done" when started `{ unscripted: "done" }`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { MessagesBody } from "./conversation.ts";
import { type Destination, sendFailure } from "./delivery.ts";
import { replyByMarkers } from "./markers.ts";
import { estimate } from "./message.ts";
import { type Reply, says } from "./reply.ts";
import { ScriptedRequest } from "./request.ts";

export interface ScriptedModel {
  /** Without `/v1`, as ANTHROPIC_BASE_URL is written. */
  readonly url: string;
  /** Every request that was understood, oldest first. */
  readonly requests: readonly ScriptedRequest[];
  /** Adds replies for the next requests, whatever they ask. */
  script(replies: readonly Reply[]): void;
  /** The next request that nothing else answers, in order of arrival. */
  nextRequest(options?: { readonly signal?: AbortSignal }): Promise<ScriptedRequest>;
  /** Breaks open connections too. */
  close(): Promise<void>;
}

export interface ScriptedModelOptions {
  readonly port?: number;
  readonly unscripted?: "hold" | "done";
  /** `no`: `requests` stays empty, for long runs. */
  readonly remember?: "yes" | "no";
}

export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const requests: ScriptedRequest[] = [];
  const script: Reply[] = [];
  const waiters: ((request: ScriptedRequest) => void)[] = [];
  const held: ScriptedRequest[] = [];
  const closing = new AbortController();

  const take = (request: ScriptedRequest) => {
    if (options.remember !== "no") requests.push(request);
    const scripted = script.shift();
    if (scripted !== undefined) return request.answer(scripted);
    const waiter = waiters.shift();
    if (waiter !== undefined) return waiter(request);
    const marked = replyByMarkers(request.messages);
    if (marked !== undefined) return request.answer(marked);
    if (options.unscripted === "done") return request.answer(says("done"));
    held.push(request);
    return undefined;
  };

  const server = createServer((incoming, response) => void receive(incoming, response, closing.signal, take));
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.on("connection", (socket) => socket.setNoDelay(true));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (replies) => void script.push(...replies),
    nextRequest: ({ signal } = {}) => nextOf(held, waiters, signal),
    close: () => {
      closing.abort();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

async function receive(
  incoming: IncomingMessage,
  response: ServerResponse,
  closing: AbortSignal,
  take: (request: ScriptedRequest) => void,
): Promise<void> {
  const text = await wholeBody(incoming).catch(() => undefined);
  if (text === undefined) return;
  if (incoming.method !== "POST" || incoming.url?.split("?")[0] !== "/v1/messages")
    return sendFailure(response, 404, { message: `there is no ${incoming.method} ${incoming.url}` });
  if (!hasKey(incoming)) return sendFailure(response, 401, { message: "x-api-key header is required" });
  const body = parse(text);
  if (body === undefined) return sendFailure(response, 400, { message: "the body is no message request" });
  const to: Destination = {
    response,
    model: body.model,
    inputTokens: estimate(text.length),
    streams: body.stream === true,
    gone: goneSignal(response, closing),
  };
  take(new ScriptedRequest(body, incoming.headers, to));
}

function nextOf(
  held: ScriptedRequest[],
  waiters: ((request: ScriptedRequest) => void)[],
  signal: AbortSignal | undefined,
): Promise<ScriptedRequest> {
  const waiting = held.shift();
  if (waiting !== undefined) return Promise.resolve(waiting);
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      waiters.splice(waiters.indexOf(waiter), 1);
      reject(signal?.reason);
    };
    const waiter = (request: ScriptedRequest) => {
      signal?.removeEventListener("abort", giveUp);
      resolve(request);
    };
    if (signal?.aborted === true) return reject(signal.reason);
    waiters.push(waiter);
    signal?.addEventListener("abort", giveUp, { once: true });
  });
}

function wholeBody(incoming: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    incoming.on("error", reject);
  });
}

function hasKey(incoming: IncomingMessage): boolean {
  const { "x-api-key": key, authorization } = incoming.headers;
  return (typeof key === "string" && key !== "") || /^Bearer \S/.test(authorization ?? "");
}

function parse(text: string): MessagesBody | undefined {
  try {
    const body = JSON.parse(text) as Partial<MessagesBody> | null;
    return typeof body?.model === "string" && Array.isArray(body.messages) ? (body as MessagesBody) : undefined;
  } catch {
    return undefined;
  }
}

function goneSignal(response: ServerResponse, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  const leave = () => {
    closing.removeEventListener("abort", leave);
    gone.abort();
  };
  response.once("close", leave);
  closing.addEventListener("abort", leave, { once: true });
  return gone.signal;
}
