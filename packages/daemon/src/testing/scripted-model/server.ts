/**
 * A model over HTTP that says what it is told to: real sockets, no latency of its own, and the protocols of Anthropic
 * (Messages), OpenAI (Responses, Chat Completions), Google (Gemini) and Ollama, by the address that is asked. A request is
 * answered by the first of these that applies:
 *
 * 1. the next reply of `script`;
 * 2. a waiting `nextRequest`, whose caller answers;
 * 3. the markers of its own prompt (see markers.ts);
 * 4. otherwise it is held for a later `nextRequest`, or answered "done" when started `{ unscripted: "done" }`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { MessagesBody } from "./conversation.ts";
import { type Destination, sendFailure, sendJson } from "./delivery.ts";
import { replyByMarkers } from "./markers.ts";
import { chat } from "./protocols/chat.ts";
import { gemini } from "./protocols/gemini.ts";
import { messages } from "./protocols/messages.ts";
import { ollama, shownModel } from "./protocols/ollama.ts";
import { estimate, type Protocol } from "./protocols/protocol.ts";
import { responses } from "./protocols/responses.ts";
import { type Reply, says } from "./reply.ts";
import { ScriptedRequest } from "./request.ts";

export interface ScriptedModel {
  /** Without the version that some base addresses end with. */
  readonly url: string;
  /** Every request that was understood, oldest first. */
  readonly requests: readonly ScriptedRequest[];
  /** Adds replies for the next requests, whatever they ask. */
  script(replies: readonly Reply[]): void;
  /** The next request that nothing else answers, in order of arrival. */
  nextRequest(options?: { readonly signal?: AbortSignal }): Promise<ScriptedRequest>;
  /** Breaks open connections too. */
  close(): Promise<void>;
  /** Resolves when it is closed. */
  readonly closed: Promise<undefined>;
}

export interface ScriptedModelOptions {
  readonly port?: number;
  readonly unscripted?: "hold" | "done";
  /** Which keys are let in; all of them unless told otherwise. */
  readonly accepts?: (key: string) => boolean;
  /** The models that it lists. */
  readonly models?: readonly string[];
  /** How much they read, as Ollama tells it. */
  readonly context?: number;
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

  const server = createServer(
    (incoming, response) => void receive(incoming, response, { ...options, closing: closing.signal, take }),
  );
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
    closed: new Promise((resolve) =>
      closing.signal.addEventListener("abort", () => resolve(undefined), { once: true }),
    ),
    close: () => {
      closing.abort();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

interface Reception extends Pick<ScriptedModelOptions, "accepts" | "models" | "context"> {
  readonly closing: AbortSignal;
  readonly take: (request: ScriptedRequest) => void;
}

async function receive(
  incoming: IncomingMessage,
  response: ServerResponse,
  { closing, take, accepts = () => true, models = ["scripted"], context }: Reception,
): Promise<void> {
  const text = await wholeBody(incoming).catch(() => undefined);
  if (text === undefined) return;
  const path = incoming.url?.split("?")[0] ?? "";
  const protocol = incoming.method === "POST" ? protocolAt(path) : undefined;
  const failed = (status: number, message: string) =>
    sendFailure({ response, protocol: protocol ?? messages }, status, { message });
  const isList = incoming.method === "GET" && /\/(models|tags)$/.test(path);
  const isShown = incoming.method === "POST" && path.endsWith("/api/show");
  if (protocol === undefined && !isList && !isShown) return failed(404, `there is no ${incoming.method} ${path}`);
  const key = keyIn(incoming);
  if (key === "" || !accepts(key)) return failed(401, "a valid key is required");
  if (isShown) return sendJson(response, 200, shownModel(context));
  if (protocol === undefined) return sendList(response, path, models);
  const body = parse(text);
  const asked = body === undefined ? undefined : protocol.read(body, path);
  if (body === undefined || asked === undefined) return failed(400, "the body is no model request");
  if (!asked.streams && protocol !== messages) return failed(400, "this protocol is spoken in streams alone");
  const to: Destination = {
    response,
    protocol,
    model: asked.model,
    inputTokens: estimate(text.length),
    streams: asked.streams,
    gone: goneSignal(response, closing),
  };
  take(new ScriptedRequest(asked, body, incoming.headers, to));
}

/** As Google and Ollama list models, or as all others do. */
function sendList(response: ServerResponse, path: string, models: readonly string[]): void {
  const named = /v1beta|\/api\//.test(path);
  const list = named ? { models: models.map((name) => ({ name })) } : { data: models.map((id) => ({ id })) };
  sendJson(response, 200, list);
}

function protocolAt(path: string): Protocol | undefined {
  if (path.endsWith("/messages")) return messages;
  if (path.endsWith("/responses")) return responses;
  if (path.endsWith("/chat/completions")) return chat;
  if (path.endsWith("/api/chat")) return ollama;
  return /\/models\/[^/]+:\w+$/.test(path) ? gemini : undefined;
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

function keyIn({ headers }: IncomingMessage): string {
  const { "x-api-key": key = headers["x-goog-api-key"], authorization } = headers;
  return typeof key === "string" ? key : (/^Bearer (\S+)$/.exec(authorization ?? "")?.[1] ?? "");
}

function parse(text: string): MessagesBody | undefined {
  try {
    const body = JSON.parse(text) as MessagesBody | null;
    return typeof body === "object" && body !== null ? body : undefined;
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
