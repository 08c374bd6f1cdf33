import { Socket } from "node:net";

/**
 * Reads short lines from a FIFO. The lines are hints: one may be lost, and anybody may write one. Lines that arrive together cause
 * one callback. The listener does not keep the process alive unless it is told to.
 */
export class FifoListener {
  readonly #socket: Socket;
  readonly #onWords: (words: readonly string[]) => void;
  readonly #patience = new Patience();
  #partialLine = "";

  constructor(fd: number, { onWords, onEnd }: FifoEvents) {
    this.#onWords = onWords;
    this.#socket = new Socket({ fd, readable: true, writable: false });
    this.#socket.on("data", (chunk: Buffer) => this.#hear(chunk));
    this.#socket.on("error", onEnd);
    this.#socket.on("close", onEnd);
    this.#socket.unref();
  }

  /** While somebody waits for a word, this process does not end. */
  keepAwake(awake: boolean): void {
    if (awake) this.#socket.ref();
    else this.#socket.unref();
  }

  /** Listens again at once, however much was said. */
  insist(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  #hear(chunk: Buffer): void {
    if (this.#patience.isTriedBy(chunk.length)) this.#listenLater();
    const lines = (this.#partialLine + chunk.toString("latin1")).split("\n");
    this.#partialLine = (lines.pop() ?? "").slice(0, 256);
    this.#onWords(lines);
  }

  #listenLater(): void {
    this.#socket.pause();
    setTimeout(() => this.#socket.resume(), Patience.windowMs).unref();
  }
}

interface FifoEvents {
  /** In the order in which they were said. */
  readonly onWords: (words: readonly string[]) => void;
  /** It was closed, here or by the last one who could say something. */
  readonly onEnd: () => void;
}

/** Keeper and workers say one short line a command, and a flood must cost the others little. */
class Patience {
  static readonly windowMs = 50;
  #since = 0;
  #spent = 0;

  isTriedBy(bytes: number): boolean {
    const now = performance.now();
    if (now - this.#since > Patience.windowMs) [this.#since, this.#spent] = [now, 0];
    this.#spent += Math.max(bytes, 64);
    return this.#spent > 32_768;
  }
}
