import { CorralError } from "@corral/protocol/error";
import { type TraceId, traceparent } from "@corral/protocol/trace";
import type { Route } from "@corral/protocol/routes";
import { addressOf, methodOf } from "./address.ts";
import { isProblem } from "./shapes.ts";

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
  readonly headers: { get(name: string): string | null };
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

/** What goes into a route. */
export interface Asked extends Sending {
  /** Of the path, in their order. */
  readonly params?: readonly string[];
  readonly query?: object;
  readonly body?: unknown;
}

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
  async ask(route: Route, asked: Asked): Promise<Readonly<Record<string, unknown>>> {
    const { url } = this.endpoint;
    const response = await this.send(callOf(route, asked));
    if (response.headers.get(daemonsMark) === null) throw strangeAnswer(url, `no ${daemonsMark} header`);
    try {
      return (await response.json()) as Readonly<Record<string, unknown>>;
    } catch (error) {
      asked.signal?.throwIfAborted();
      throw strangeAnswer(url, error);
    }
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

/** The header that every answer of a daemon has: its version. */
const daemonsMark = "x-corral";

function callOf(route: Route, { params = [], query, body, signal, key }: Asked): Call {
  return {
    method: methodOf(route),
    path: addressOf(route, params, query),
    signal,
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
    open: "access" in route,
  };
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
