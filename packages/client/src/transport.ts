import { CorralError } from "@corral/protocol/error";
import { type TraceId, traceparent } from "@corral/protocol/trace";
import type { AnswerOf, AskedOf, Route } from "./api.ts";
import { fieldsOfAnswers } from "./generated.ts";
import { queryOf } from "./query.ts";
import { isProblem, isRecord } from "./shapes.ts";

/** Where a daemon is and what lets one in. */
export interface Endpoint {
  readonly url: string;
  /** None in a browser, whose cookie goes along by itself. */
  readonly token?: string | undefined;
}

/** The part of `fetch` that is used here; the global one fits. */
export type Fetch = (url: string, request: Request) => Promise<Answer>;

interface Request {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly redirect: "error";
}

export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  json(): Promise<unknown>;
  readonly body: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel?(): Promise<void>;
    };
  } | null;
}

export interface Waiting {
  readonly signal?: AbortSignal | undefined;
}

/** With a key, sending it again is harmless: the first answer comes again. */
export interface Sending extends Waiting {
  readonly key?: string | undefined;
}

/** What is asked of a route, and how. */
export type Asked<R extends Route> = AskedOf<R> &
  Sending & {
    /** Asked before anything is known about who answers, so without the token. */
    readonly open?: boolean;
  };

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Asked before anything is known about who answers, so without the token. */
  readonly open?: boolean;
}

/**
 * Sends requests to wherever the daemon is at the moment. Throws the daemon's own errors as it told
 * them, `daemon.unreachable` when nobody (or somebody else) answers, and the signal's reason.
 */
export class Transport {
  endpoint: Endpoint;
  readonly #fetch: Fetch;
  readonly #traceId: TraceId | undefined;

  constructor(endpoint: Endpoint, fetcher: Fetch, traceId?: TraceId) {
    this.endpoint = endpoint;
    this.#fetch = fetcher;
    this.#traceId = traceId;
  }

  /** What the route answers. The daemon has held it to its schema; here it is only made sure that a daemon answered. */
  async ask<R extends Route>(route: R, asked: Asked<R>): Promise<AnswerOf<R>> {
    const { url } = this.endpoint;
    const response = await this.send(callOf(route, asked));
    let answer: unknown;
    try {
      answer = await response.json();
    } catch (error) {
      asked.signal?.throwIfAborted();
      throw strangeAnswer(url, error);
    }
    if (!has(answer, fieldsOfAnswers[route])) throw strangeAnswer(url, "fields are missing");
    return answer as AnswerOf<R>;
  }

  /** A response with a good status. */
  async send({ method, path, body, signal, headers, open = false }: Call): Promise<Answer> {
    const { url } = this.endpoint;
    const request: Request = {
      method,
      headers: {
        ...(open ? {} : this.proof()),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...this.trace(),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      redirect: "error",
    };
    for (let attempt = 1; ; attempt++) {
      const response = await this.#reach(url + path, request, signal);
      if (response.ok) return response;
      const error = await refusal(response, url);
      // Of a request that was not heard whole nothing was done. Whoever's process stood still meanwhile should not notice.
      if (error.code !== "request.timeout" || attempt === mostAttempts) throw error;
    }
  }

  /** What lets one in, as a header; a browser's cookie needs none. */
  proof(): Record<string, string> {
    const { token } = this.endpoint;
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  trace(): Record<string, string> {
    return this.#traceId === undefined ? {} : { traceparent: traceparent(this.#traceId) };
  }

  async #reach(address: string, request: Request, signal: AbortSignal | undefined): Promise<Answer> {
    try {
      return await this.#fetch(address, request);
    } catch (error) {
      signal?.throwIfAborted();
      throw unreachable(this.endpoint.url, error);
    }
  }
}

const mostAttempts = 3;

function callOf<R extends Route>(route: R, asked: Asked<R>): Call {
  const { path = {}, query = {}, body = {}, signal, key, open } = asked as Parts & Sending;
  const [method = "", template = ""] = route.split(" ");
  const place = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
  const search = queryOf(query);
  return {
    method,
    path: search === "" ? place : `${place}?${search}`,
    signal,
    ...(method === "GET" || method === "DELETE" ? {} : { body }),
    ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
    ...(open === undefined ? {} : { open }),
  };
}

interface Parts {
  readonly open?: boolean;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: unknown;
}

function has(answer: unknown, fields: readonly string[]): boolean {
  return isRecord(answer) && fields.every((field) => field in answer);
}

async function refusal(response: Answer, url: string): Promise<CorralError> {
  const document = await response.json().catch(() => undefined);
  return isProblem(document) ? CorralError.fromProblem(document) : strangeAnswer(url, `HTTP ${response.status}`);
}

function unreachable(url: string, cause: unknown): CorralError {
  return new CorralError("daemon.unreachable", `No daemon answers at ${url}`, {
    cause,
    retry: "later",
    hint: "Start one with `corral serve`",
  });
}

function strangeAnswer(url: string, cause: unknown): CorralError {
  return new CorralError("daemon.unreachable", `What answers at ${url} does not speak as a Corral daemon does`, {
    cause,
    retry: "later",
    hint: "Another program may have taken its port; `corral stop` and `corral serve` start afresh",
  });
}
