import { CorralError } from "@corral/protocol/error";
import {
  type Connect,
  type Connecting,
  connectionLost,
  parsed,
  ReaderBehind,
  type Said,
  Silence,
  unreadable,
} from "./connection.ts";
import { isProblem, isRecord } from "./shapes.ts";

/** The part of a WebSocket that is used here; the global one fits. */
export interface Socket {
  addEventListener(type: "open" | "close" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (message: { readonly data: unknown }) => void): void;
  close(): void;
  /** For terminals, whose frames are binary and go both ways. */
  binaryType?: string;
  send?(frame: string | Uint8Array): void;
}

export type OpenSocket = (url: string, headers: Readonly<Record<string, string>>) => Socket;

/** Node's takes headers; a browser's takes none and sends its cookie by itself. */
export const openWebSocket: OpenSocket = (url, headers) => {
  const Opened = globalThis.WebSocket as unknown as new (url: string, options?: object) => Socket;
  const isBrowser = "document" in globalThis || "WorkerGlobalScope" in globalThis;
  if (!isBrowser) return new Opened(url, { headers });
  if ("authorization" in headers) throw tokenUnsendable();
  return new Opened(url);
};

function tokenUnsendable(): CorralError {
  return new CorralError("request.invalid", "A browser sends no token with a WebSocket", {
    hint: 'Follow over "sse", or make the client without a token on a page of the daemon, where a cookie goes along',
  });
}

/** Characters that may wait for a reader. A socket cannot be asked to wait, so one that is further behind lets go of it. */
const unreadLimit = 4_000_000;

/** Messages over a WebSocket. */
export function connectSocket(open: OpenSocket, limit: number = unreadLimit): Connect {
  return async function* connect(connecting: Connecting) {
    const { transport, path, silenceMs, signal } = connecting;
    const isAborted = () => signal?.aborted === true;
    if (isAborted()) return;
    const address = transport.endpoint.url.replace(/^http/, "ws") + path;
    const socket = open(address, { ...transport.proof(), ...transport.trace() });
    const unread = new Unread(limit, () => socket.close());
    const leave = () => unread.close();
    const silence = new Silence(silenceMs, leave);
    signal?.addEventListener("abort", leave, { once: true });
    let isOpen = false;
    socket.addEventListener("open", () => (isOpen = true));
    socket.addEventListener("error", leave);
    socket.addEventListener("close", leave);
    socket.addEventListener("message", ({ data }) => {
      silence.broken();
      unread.put(String(data));
    });
    try {
      for await (const text of unread) {
        const said = read(text);
        if (said !== undefined) yield said;
      }
      if (!isOpen && !isAborted()) await askWhy(connecting);
    } finally {
      silence.end();
      signal?.removeEventListener("abort", leave);
      leave();
    }
  };
}

/** Messages that came and were not read yet. */
class Unread {
  readonly #limit: number;
  readonly #onClose: () => void;
  #texts: string[] = [];
  #characters = 0;
  #isClosed = false;
  #isFull = false;
  #wake: () => void = () => undefined;

  constructor(limit: number, onClose: () => void) {
    this.#limit = limit;
    this.#onClose = onClose;
  }

  put(text: string): void {
    if (this.#isClosed) return;
    this.#texts.push(text);
    this.#characters += text.length;
    this.#isFull = this.#characters > this.#limit;
    if (this.#isFull) this.close();
    else this.#wake();
  }

  /** Nothing is taken in any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    for (;;) {
      const texts = this.#texts;
      this.#texts = [];
      for (const text of texts) {
        this.#characters -= text.length;
        yield text;
      }
      if (this.#texts.length > 0) continue;
      if (this.#isFull) throw new ReaderBehind();
      if (this.#isClosed) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

function read(text: string): Said | undefined {
  const message = parsed(text);
  const { kind, event, delta, problem }: Readonly<Record<string, unknown>> = isRecord(message) ? message : {};
  switch (kind) {
    case "event":
      return { kind, about: event };
    case "delta":
      return { kind, about: delta };
    case "gap":
    case "heartbeat":
      return { kind, about: message };
    case "problem":
      throw isProblem(problem) ? CorralError.fromProblem(problem) : unreadable(problem);
    default:
      return undefined;
  }
}

/** A socket that is refused tells no reason; the same asked without one does. */
async function askWhy({ transport, path, silenceMs, signal }: Connecting): Promise<void> {
  const inTime = AbortSignal.timeout(silenceMs);
  try {
    await transport.send({
      method: "GET",
      path,
      signal: signal === undefined ? inTime : AbortSignal.any([signal, inTime]),
    });
  } catch (error) {
    const isLetIn = error instanceof CorralError && error.code === "stream.upgrade-needed";
    throw isLetIn ? connectionLost(error) : error;
  }
}
