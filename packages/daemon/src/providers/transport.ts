import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { bounds } from "./bounds.ts";
import { type Door, noModelServer } from "./door.ts";
import { refused, unavailable } from "./failure.ts";
import type { Naming, Patience } from "./port.ts";
import { Silence } from "./silence.ts";

/** Only what a driver needs of fetch: a POST with a text body. */
export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Servers that run a model themselves read the whole conversation before they answer, which takes minutes. Within a
 * reply most vendors send something every half minute, however long the model thinks.
 */
const usualPatience: Patience = { answerMs: 300_000, silenceMs: 90_000 };

/** What may still come behind a whole reply, so that its connection can be used again. */
const trailing = { bytes: 64 * 1024, ms: 1_000 };

const heldBack = new WeakMap<AbortSignal, Promise<void>>();

/** What is fetched with this signal is sent when the promise resolves. SDKs pass a signal on, and nothing else that is a request's own. */
export function holdBack(signal: AbortSignal, until: Promise<void>): void {
  heldBack.set(signal, until);
}

/**
 * A fetch on Node's own client with kept-alive connections: less than half the CPU time of the global
 * one for a model request. An aborted signal destroys the connection at once.
 *
 * 1. Whatever a server sends or leaves out, the promise or its body fails; nothing throws out of a callback.
 * 2. A request that failed has let its connection go.
 */
export function keepAliveFetch(naming: Naming, how: { patience?: Patience; door?: () => Door } = {}): Fetch {
  const { patience = usualPatience, door } = how;
  const words = wordsFor(naming.label);
  const options = { keepAlive: true, timeout: 30_000 } as const;
  const agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
  return (address, init = {}) => {
    const url = new URL(address instanceof Request ? address.url : address);
    if (typeof init.body !== "string") throw new TypeError("only a text can be sent");
    const { body } = init;
    const headers = { ...Object.fromEntries(new Headers(init.headers)), "content-length": Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const signal = init.signal ?? undefined;
      if (signal?.aborted === true) return reject(signal.reason);
      const how = { method: init.method ?? "GET", headers };
      const sent =
        url.protocol === "https:"
          ? httpsRequest(url, { ...how, agent: agents.https })
          : httpRequest(url, { ...how, agent: agents.http });
      const abort = () => sent.destroy(signal?.reason instanceof Error ? signal.reason : abortError());
      const unanswered = new Silence(patience.answerMs, () => sent.destroy(words.noAnswer(patience.answerMs)));
      const send = () => void (sent.destroyed || sent.end(body));
      signal?.addEventListener("abort", abort, { once: true });
      sent.once("close", () => {
        unanswered.end();
        signal?.removeEventListener("abort", abort);
        reject(brokenOff());
      });
      // A connection that broke may say so more than once.
      sent.on("error", reject);
      sent.once("response", (incoming) => {
        unanswered.end();
        try {
          resolve(toResponse(incoming, sent, { patience, words, naming, openDoor: door }));
        } catch (error) {
          reject(error);
          sent.destroy();
        }
      });
      const held = signal === undefined ? undefined : heldBack.get(signal);
      if (held === undefined) send();
      else held.then(send, (reason: unknown) => sent.destroy(reason instanceof Error ? reason : abortError()));
    });
  };
}

function toResponse(incoming: IncomingMessage, sent: ClientRequest, terms: Terms): Response {
  const { statusCode: status = 0 } = incoming;
  if (status < 200 || status > 599) throw terms.words.oddStatus(status);
  const isReply = status < 300 && !bodiless.has(status);
  if (isReply && /^\s*text\/html\b/i.test(incoming.headers["content-type"] ?? "")) throw noModelServer(terms.naming);
  const body = toBody(incoming, sent, terms, isReply ? terms.openDoor?.() : undefined);
  return new Response(bodiless.has(status) ? null : body, { status, headers: toHeaders(incoming) });
}

/** Statuses that a `Response` takes no body with; what comes all the same is read and dropped. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Those that `Headers` takes; nobody looks for one that no well-behaved server sends. */
function toHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    try {
      if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
    } catch {
      continue;
    }
  }
  return headers;
}

interface Terms {
  readonly patience: Patience;
  readonly words: ReturnType<typeof wordsFor>;
  readonly naming: Naming;
  readonly openDoor: (() => Door) | undefined;
}

function toBody(
  incoming: IncomingMessage,
  sent: ClientRequest,
  { patience: { silenceMs }, words }: Terms,
  door: Door | undefined,
): ReadableStream<Uint8Array> {
  // While the reader is behind, it is not the server who is silent.
  const silence = new Silence(silenceMs, () =>
    incoming.isPaused() ? silence.heard() : fail(words.fellSilent(silenceMs)),
  );
  let fail: (error: Error) => void = () => undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      let over = false;
      let bytes = 0;
      const end = (act: () => void) => {
        if (over) return;
        over = true;
        silence.end();
        act();
      };
      fail = (error) =>
        end(() => {
          controller.error(error);
          sent.destroy();
        });
      incoming.on("data", (chunk: Buffer) => {
        if (over) return;
        silence.heard();
        bytes += chunk.length;
        if (bytes > bounds.replyMiB * 1024 * 1024) return fail(words.tooLong());
        try {
          pass(door === undefined ? chunk : encoder.encode(door.take(chunk)));
          if (door?.over === true) end(() => (controller.close(), letTrail(incoming, sent)));
        } catch (error) {
          fail(error as Error);
        }
      });
      const pass = (passed: Uint8Array) => {
        if (passed.length === 0) return;
        controller.enqueue(passed);
        if ((controller.desiredSize ?? 1) <= 0) incoming.pause();
      };
      incoming.once("end", () => {
        if (over) return;
        try {
          if (door !== undefined) pass(encoder.encode(door.end()));
          end(() => controller.close());
        } catch (error) {
          fail(error as Error);
        }
      });
      incoming.on("error", fail);
      incoming.once("close", () => fail(brokenOff()));
    },
    pull() {
      if (incoming.isPaused()) silence.heard();
      incoming.resume();
    },
    cancel: () => fail(abortError()),
  });
}

const encoder = new TextEncoder();

/** The reply is whole. A server that does not end it is not waited for. */
function letTrail(incoming: IncomingMessage, sent: ClientRequest): void {
  const timer = setTimeout(() => sent.destroy(), trailing.ms).unref();
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > trailing.bytes) sent.destroy();
  });
  incoming.once("close", () => clearTimeout(timer));
  incoming.resume();
}

function wordsFor(label: string) {
  return {
    noAnswer: (ms: number) => unavailable(`${label} did not answer within ${ms / 1000} s.`),
    fellSilent: (ms: number) => unavailable(`${label} fell silent for ${ms / 1000} s within its reply.`),
    tooLong: () =>
      refused(`${label}'s reply is longer than ${bounds.replyMiB} MiB.`, "Ask for less at once, or use another model."),
    oddStatus: (status: number) => unavailable(`${label} answered with the unknown status ${status}.`),
  };
}

function brokenOff(): Error {
  return Object.assign(new Error("the connection closed before the end of the reply"), { code: "ECONNRESET" });
}

function abortError(): Error {
  return new DOMException("This operation was aborted", "AbortError");
}
