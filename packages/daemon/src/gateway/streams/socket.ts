import { CorralError, type Delta, type StoredEvent, type StreamMessage, streamRequest } from "@corral/protocol";
import type { WebSocket } from "ws";
import type { Principal, Sight } from "../../routing/index.ts";
import { socketDelta, socketEvent } from "./encoding.ts";
import { carry, type FeedSource, isTooSlow, type Outlet, type StreamLimits, TooSlow, usualLimits } from "./feed.ts";
import { goingAway, Peer, Peers, stopping } from "./peer.ts";
import { type Subscription, subscriptionFor, type SubscriptionWish } from "./subscription.ts";

/**
 * Streams of events to clients, over WebSockets.
 *
 * 1. A socket carries one subscription at a time. Another takes its place once the one before has let go, and nothing of
 *    the old one follows the word `subscribed`; of many asked for meanwhile only the last is begun.
 * 2. What a client says is small and of a known shape, or the socket is closed.
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
  const peers = new Peers();
  return {
    get count() {
      return peers.count;
    },
    open(socket, who, wish) {
      const client = new Client(socket, who, parts);
      if (peers.admit(client.peer, who.over)) client.subscribe(wish);
    },
    end: () => peers.end(),
  };
}

/** Unread bytes with which more history is written. */
const comfortable = 64 * 1024;

class Client {
  readonly peer: Peer<StreamMessage>;
  readonly #who: Principal;
  readonly #parts: SocketParts;
  readonly #limits: StreamLimits;
  #waiting: Subscription | undefined;
  #current: AbortController | undefined;
  /** When the last page of history was taken. */
  #flushed: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, who: Principal, parts: SocketParts) {
    this.#who = who;
    this.#parts = parts;
    this.#limits = parts.limits ?? usualLimits;
    this.peer = new Peer(socket, {
      limits: this.#limits,
      over: who.over,
      onMessage: (message) => this.#hear(message),
    });
  }

  subscribe(wish: SubscriptionWish): void {
    try {
      this.#waiting = subscriptionFor(this.#who, wish, this.#parts.sight);
    } catch (error) {
      return this.peer.refuse(error);
    }
    if (this.#current === undefined) void this.#carryOn();
    else this.#current.abort();
  }

  /** One subscription after the other, until there is none left or the client is. */
  async #carryOn(): Promise<void> {
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        this.#current = new AbortController();
        const signal = AbortSignal.any([this.#current.signal, this.peer.gone]);
        this.peer.say({ kind: "subscribed", after: next.after });
        await carry(this.#parts.source, this.#outlet(signal), next);
      }
      // The log ended; a subscription otherwise ends for another, or with the client.
      if (!this.peer.gone.aborted) this.peer.close(goingAway, stopping);
    } catch (error) {
      if (isOfAnotherLog(error)) return this.peer.refuse(error);
      this.peer.drop();
      if (!isTooSlow(error)) this.#parts.onError(error);
    } finally {
      this.#current = undefined;
    }
  }

  #next(): Subscription | undefined {
    const next = this.peer.gone.aborted ? undefined : this.#waiting;
    this.#waiting = undefined;
    return next;
  }

  #outlet(signal: AbortSignal): Outlet {
    return {
      signal,
      writeHistory: (page) => {
        this.#flushed = this.peer.writeAll(page.socket(), page.events.length);
      },
      room: async () => {
        if (this.peer.unread > comfortable) await this.#inTime(this.#flushed, signal);
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

  #inTime(flushed: Promise<void>, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new TooSlow()), this.#limits.stallMs);
    signal.addEventListener("abort", () => resolve(), { once: true });
    void flushed.then(resolve);
    return promise.finally(() => clearTimeout(timer));
  }

  #write(frame: Buffer | string, signal: AbortSignal): void {
    if (!signal.aborted) this.peer.write(frame, { binary: false });
  }

  #hear(message: Buffer): void {
    try {
      const said = streamRequest.parse(JSON.parse(message.toString()));
      if (said.kind === "ping") this.peer.say({ kind: "pong" });
      else this.subscribe(said);
    } catch (cause) {
      this.peer.refuse(
        new CorralError("request.invalid", "That is no message that this stream takes", {
          cause,
          hint: 'Send {"kind":"subscribe","after":SEQ} or {"kind":"ping"}',
        }),
      );
    }
  }
}

function isOfAnotherLog(error: unknown): boolean {
  return error instanceof CorralError && error.code === "cursor.ahead";
}
