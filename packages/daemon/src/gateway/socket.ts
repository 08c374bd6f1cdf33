import { CorralError, type Delta, type StoredEvent, type StreamMessage, streamRequest } from "@corral/protocol";
import type { WebSocket } from "ws";
import type { Principal } from "../tokens/index.ts";
import { type EncodedPage, socketDelta, socketEvent } from "./encoding.ts";
import { carry, type FeedSource, isTooSlow, type Outlet, type StreamLimits, TooSlow, usualLimits } from "./feed.ts";
import { problemOf } from "./problem.ts";
import type { Sight } from "./sight.ts";
import { type Subscription, subscriptionFor, type SubscriptionWish } from "./subscription.ts";

/**
 * Streams of events to clients, over WebSockets.
 *
 * 1. A socket carries one subscription at a time. Another takes its place once the one before has let go, and nothing of
 *    the old one follows the word `subscribed`; of many asked for meanwhile only the last is begun.
 * 2. Whoever does not answer a ping by the next one is taken for gone.
 * 3. What a client says is small and of a known shape, or the socket is closed.
 * 4. A socket ends with what let its client in, at once.
 */
export interface Sockets {
  open(socket: WebSocket, who: Principal, wish: SubscriptionWish): void;
  end(): void;
  readonly count: number;
}

export interface SocketParts {
  readonly source: FeedSource;
  readonly sight: Sight;
  readonly onError: (error: unknown) => void;
  readonly limits?: StreamLimits | undefined;
}

/** Bytes that a client may send in a message. */
export const socketMessageLimit = 4096;

export function openSockets(parts: SocketParts): Sockets {
  const open = new Set<Client>();
  let ended = false;
  return {
    get count() {
      return open.size;
    },
    open(socket, who, wish) {
      const client = new Client(socket, who, parts);
      if (ended || who.over?.aborted === true) return client.close(goingAway, "the daemon stops");
      open.add(client);
      socket.once("close", () => open.delete(client));
      client.subscribe(wish);
    },
    end() {
      ended = true;
      for (const client of open) client.close(goingAway, "the daemon stops");
    },
  };
}

const goingAway = 1001;
const refused = 1008;
const closingMs = 1_000;
/** Unread bytes with which more history is written. */
const comfortable = 64 * 1024;

class Client {
  readonly #socket: WebSocket;
  readonly #who: Principal;
  readonly #parts: SocketParts;
  readonly #limits: StreamLimits;
  readonly #gone = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  #isAlive = true;
  #waiting: Subscription | undefined;
  #current: AbortController | undefined;
  /** When the last page of history was taken. */
  #flushed: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, who: Principal, parts: SocketParts) {
    this.#socket = socket;
    this.#who = who;
    this.#parts = parts;
    this.#limits = parts.limits ?? usualLimits;
    this.#heartbeat = setInterval(() => this.#beat(), this.#limits.heartbeatMs);
    this.#heartbeat.unref();
    socket.on("close", () => this.#stop());
    socket.on("error", () => this.#stop());
    socket.on("pong", () => (this.#isAlive = true));
    socket.on("message", (data) => this.#hear(data as Buffer));
    const { signal } = this.#gone;
    who.over?.addEventListener("abort", () => this.close(refused, "what let you in is over"), { once: true, signal });
  }

  subscribe(wish: SubscriptionWish): void {
    try {
      this.#waiting = subscriptionFor(this.#who, wish, this.#parts.sight);
    } catch (error) {
      return this.#refuse(error);
    }
    if (this.#current === undefined) void this.#carryOn();
    else this.#current.abort();
  }

  close(code: number, reason: string): void {
    this.#stop();
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), closingMs).unref();
  }

  /** One subscription after the other, until there is none left or the client is. */
  async #carryOn(): Promise<void> {
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        this.#current = new AbortController();
        const signal = AbortSignal.any([this.#current.signal, this.#gone.signal]);
        this.#say({ kind: "subscribed", after: next.after });
        await carry(this.#parts.source, this.#outlet(signal), next);
      }
      // The log ended; a subscription otherwise ends for another, or with the client.
      if (!this.#gone.signal.aborted) this.close(goingAway, "the daemon stops");
    } catch (error) {
      if (isOfAnotherLog(error)) return this.#refuse(error);
      this.#drop();
      if (!isTooSlow(error)) this.#parts.onError(error);
    } finally {
      this.#current = undefined;
    }
  }

  #next(): Subscription | undefined {
    const next = this.#gone.signal.aborted ? undefined : this.#waiting;
    this.#waiting = undefined;
    return next;
  }

  #outlet(signal: AbortSignal): Outlet {
    return {
      signal,
      writeHistory: (page) => this.#writeAll(page),
      room: async () => {
        if (this.#socket.bufferedAmount > comfortable) await this.#inTime(this.#flushed, signal);
      },
      writeEvents: (events: readonly StoredEvent[]) => {
        for (const event of events) this.#write(socketEvent(event), signal);
      },
      writeGap: (gap) => this.#write(JSON.stringify(gap satisfies StreamMessage), signal),
      writeDeltas: (deltas: readonly Delta[]) => {
        for (const delta of deltas) this.#write(socketDelta(delta), signal);
      },
    };
  }

  #writeAll(page: EncodedPage): void {
    const flushed = Promise.withResolvers<void>();
    this.#flushed = flushed.promise;
    let left = page.events.length;
    for (const message of page.socket()) {
      left -= 1;
      this.#socket.send(message, { binary: false }, left === 0 ? () => flushed.resolve() : undefined);
    }
  }

  #inTime(flushed: Promise<void>, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new TooSlow()), this.#limits.stallMs);
    signal.addEventListener("abort", () => resolve(), { once: true });
    void flushed.then(resolve);
    return promise.finally(() => clearTimeout(timer));
  }

  #write(frame: Buffer | string, signal: AbortSignal = this.#gone.signal): void {
    if (signal.aborted || this.#gone.signal.aborted) return;
    if (this.#socket.bufferedAmount > this.#limits.bufferLimit) return this.#drop();
    this.#socket.send(frame, { binary: false });
  }

  #say(message: StreamMessage): void {
    this.#write(JSON.stringify(message));
  }

  #hear(message: Buffer): void {
    this.#isAlive = true;
    try {
      const said = streamRequest.parse(JSON.parse(message.toString()));
      if (said.kind === "ping") this.#say({ kind: "pong" });
      else this.subscribe(said);
    } catch (cause) {
      this.#refuse(
        new CorralError("request.invalid", "That is no message that this stream takes", {
          cause,
          hint: 'Send {"kind":"subscribe","after":SEQ} or {"kind":"ping"}',
        }),
      );
    }
  }

  #refuse(error: unknown): void {
    this.#say({ kind: "problem", problem: problemOf(error) });
    this.close(refused, "refused");
  }

  #beat(): void {
    if (!this.#isAlive) return this.#drop();
    this.#isAlive = false;
    this.#socket.ping();
    this.#say({ kind: "heartbeat" });
  }

  #drop(): void {
    this.#stop();
    this.#socket.terminate();
  }

  #stop(): void {
    clearInterval(this.#heartbeat);
    this.#gone.abort();
  }
}

function isOfAnotherLog(error: unknown): boolean {
  return error instanceof CorralError && error.code === "cursor.ahead";
}
