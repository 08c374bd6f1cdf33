import { CorralError, problem, type TraceId, traceparent } from "@corral/protocol";

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
  readonly body: { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> } } | null;
}

export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
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

  /** The answer in the shape that the schema promises. */
  async ask<T>(call: Call, answer: { parse(value: unknown): T }): Promise<T> {
    const response = await this.send(call);
    try {
      return answer.parse(await response.json());
    } catch (error) {
      call.signal?.throwIfAborted();
      throw strangeAnswer(this.endpoint.url, error);
    }
  }

  /** A response with a good status. */
  async send({ method, path, body, signal, headers, open }: Call): Promise<Answer> {
    const { url, token } = this.endpoint;
    const request: Request = {
      method,
      headers: {
        ...(open === true || token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(this.#traceId === undefined ? {} : { traceparent: traceparent(this.#traceId) }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      redirect: "error",
    };
    const response = await this.#reach(url + path, request, signal);
    if (response.ok) return response;
    throw await refusal(response, url);
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

async function refusal(response: Answer, url: string): Promise<CorralError> {
  const document = problem.safeParse(await response.json().catch(() => undefined));
  return document.success ? CorralError.fromProblem(document.data) : strangeAnswer(url, `HTTP ${response.status}`);
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
