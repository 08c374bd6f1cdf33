import { CorralError } from "@corral/protocol/error";
import type { Transport } from "./transport.ts";

/** What one message of a stream says; what it is about is not judged yet. A `heartbeat` is about nothing. */
export interface Said {
  readonly kind: string;
  readonly about: unknown;
}

export interface Connecting {
  readonly transport: Transport;
  /** Where the daemon's stream is, with its query. */
  readonly path: string;
  /** A connection that was silent for this long is taken for dead. */
  readonly silenceMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The messages of one connection, whatever protocol carries it. It ends when the connection does, when it falls silent,
 * or at once when the signal aborts; then, and when nobody reads on, nothing of it stays: no socket, timer or listener.
 */
export type Connect = (connecting: Connecting) => AsyncGenerator<Said, void, undefined>;

/** Whoever reads is behind by more than is kept for it; it comes back by its cursor. */
export class ReaderBehind extends Error {
  override readonly name = "ReaderBehind";
}

/** Calls `onSilence` unless something is heard in time. */
export class Silence {
  readonly #ms: number;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout>;

  constructor(ms: number, onSilence: () => void) {
    this.#ms = ms;
    this.#onSilence = onSilence;
    this.#timer = setTimeout(onSilence, ms);
  }

  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onSilence, this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

export function connectionLost(cause?: unknown): CorralError {
  return new CorralError("daemon.unreachable", "The connection to the daemon was lost", {
    cause,
    retry: "now",
    hint: "`corral status` tells whether it runs, `corral serve` starts it",
  });
}

/** What came cannot be read. */
export function unreadable(cause: unknown): CorralError {
  return new CorralError("daemon.version", "The daemon sent a message in a shape not known here", {
    cause,
    hint: "Daemon and client may be of different versions",
  });
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(cause);
  }
}
