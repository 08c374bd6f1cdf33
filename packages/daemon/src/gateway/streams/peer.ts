import type { Problem } from "@corral/protocol";
import type { WebSocket } from "ws";
import type { StreamLimits } from "./feed.ts";
import { problemOf } from "../problem.ts";

/**
 * Who is at the other end of a WebSocket.
 *
 * 1. Whoever does not answer a ping by the next one is taken for gone, and so is whoever has not even taken it: an answer can be sent unasked.
 * 2. Whoever does not read is dropped, alone: nobody waits for it, and no more than a limit waits for it in memory.
 * 3. It ends with what let it in, at once.
 */
export class Peer<Message> {
  readonly #socket: WebSocket;
  readonly #limits: StreamLimits;
  readonly #gone = new AbortController();
  #isAlive = true;
  #hasTakenPing = true;

  constructor(socket: WebSocket, { limits, over, onMessage }: PeerParts) {
    this.#socket = socket;
    this.#limits = limits;
    const heartbeat = setInterval(() => this.#beat(), limits.heartbeatMs).unref();
    this.gone.addEventListener("abort", () => clearInterval(heartbeat));
    socket.on("close", () => this.#gone.abort());
    socket.on("error", () => this.#gone.abort());
    socket.on("pong", () => (this.#isAlive = true));
    socket.on("message", (data, isBinary) => {
      this.#isAlive = true;
      onMessage(data as Buffer, isBinary);
    });
    over?.addEventListener("abort", () => this.close(refused, "what let you in is over"), {
      once: true,
      signal: this.gone,
    });
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Bytes that it has not read yet. */
  get unread(): number {
    return this.#socket.bufferedAmount;
  }

  say(message: Message | Common): void {
    this.write(JSON.stringify(message), { binary: false });
  }

  write(frame: Buffer | string, { binary }: { readonly binary: boolean }): void {
    if (this.gone.aborted) return;
    if (this.unread > this.#limits.bufferLimit) return this.drop();
    this.#socket.send(frame, { binary });
  }

  /** However much it has not read yet; resolves when the last of them is on its way. */
  writeAll(frames: Iterable<Buffer | string>, count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let left = count;
    for (const frame of frames) {
      left -= 1;
      this.#socket.send(frame, { binary: false }, left === 0 ? () => resolve() : undefined);
    }
    return promise;
  }

  refuse(error: unknown): void {
    this.say({ kind: "problem", problem: problemOf(error) });
    this.close(refused, "refused");
  }

  close(code: number, reason: string): void {
    this.#gone.abort();
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), closingMs).unref();
  }

  drop(): void {
    this.#gone.abort();
    this.#socket.terminate();
  }

  #beat(): void {
    if (!this.#isAlive || !this.#hasTakenPing) return this.drop();
    this.#isAlive = false;
    this.#hasTakenPing = false;
    this.#socket.ping(undefined, undefined, () => (this.#hasTakenPing = true));
    this.say({ kind: "heartbeat" });
  }
}

export interface PeerParts {
  readonly limits: StreamLimits;
  /** Ends what let it in. */
  readonly over: AbortSignal | undefined;
  readonly onMessage: (data: Buffer, isBinary: boolean) => void;
}

/** What every socket says. */
type Common = { readonly kind: "heartbeat" } | { readonly kind: "problem"; readonly problem: Problem };

/** Those who are connected, until the daemon stops. */
export class Peers {
  readonly #open = new Set<Peer<never>>();
  #ended = false;

  get count(): number {
    return this.#open.size;
  }

  /** Says whether it may stay. */
  admit(peer: Peer<never>, over: AbortSignal | undefined): boolean {
    if (this.#ended || over?.aborted === true) {
      peer.close(goingAway, stopping);
      return false;
    }
    this.#open.add(peer);
    peer.gone.addEventListener("abort", () => this.#open.delete(peer));
    return true;
  }

  end(): void {
    this.#ended = true;
    for (const peer of [...this.#open]) peer.close(goingAway, stopping);
  }
}

export const normal = 1000;
export const goingAway = 1001;
const refused = 1008;
export const stopping = "the daemon stops";
const closingMs = 1_000;
