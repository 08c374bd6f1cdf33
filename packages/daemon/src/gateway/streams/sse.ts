import type { ServerResponse } from "node:http";
import type { Delta, Gap, StoredEvent } from "@corral/protocol";
import { type EncodedPage, sseDelta, sseEvent, sseGap } from "./encoding.ts";
import { carry, type FeedSource, isTooSlow, type Outlet, type StreamLimits, TooSlow, usualLimits } from "./feed.ts";
import type { Subscription } from "./subscription.ts";

/**
 * Streams of events to clients, as server-sent events: `event` messages whose id is the seq, `delta` messages without
 * an id, `gap` messages whose id is the last seq that is gone, and comments as heartbeat. `end()` finishes every stream cleanly and lets none begin; a subscription's `over`
 * finishes one.
 */
export interface Streams {
  open(response: ServerResponse, subscription: Subscription): void;
  end(): void;
  readonly count: number;
}

export function openStreams(
  source: FeedSource,
  onError: (error: unknown) => void,
  limits: StreamLimits = usualLimits,
): Streams {
  const open = new Set<EventStream>();
  let ended = false;
  return {
    get count() {
      return open.size;
    },
    open(response, subscription) {
      const { over } = subscription;
      const stream = new EventStream(response, limits);
      if (ended || over?.aborted === true) return stream.end();
      over?.addEventListener("abort", () => stream.end(), { once: true, signal: stream.signal });
      open.add(stream);
      response.once("close", () => {
        open.delete(stream);
        stream.end();
      });
      stream.begin();
      carry(source, stream, subscription).then(
        () => stream.end(),
        (error: unknown) => {
          // The client comes back by its cursor; a cut tells it to, an end would too.
          stream.drop();
          if (!isTooSlow(error)) onError(error);
        },
      );
    },
    end() {
      ended = true;
      for (const stream of open) stream.end();
    },
  };
}

/** One client's response. */
class EventStream implements Outlet {
  readonly #response: ServerResponse;
  readonly #limits: StreamLimits;
  readonly #over = new AbortController();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, limits: StreamLimits) {
    this.#response = response;
    this.#limits = limits;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  begin(): void {
    this.#response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    this.#response.socket?.setNoDelay(true);
    this.#response.write("retry: 500\n\n");
    this.#heartbeat = setInterval(() => this.#write([heartbeat]), this.#limits.heartbeatMs);
    this.#heartbeat.unref();
  }

  writeHistory(page: EncodedPage): void {
    this.#response.write(page.sse);
  }

  async room(): Promise<void> {
    if (this.#response.writableNeedDrain) await drained(this.#response, this.signal, this.#limits.stallMs);
  }

  writeEvents(events: readonly StoredEvent[]): void {
    this.#write(events.map(sseEvent));
  }

  writeGap(gap: Gap): void {
    this.#write([sseGap(gap)]);
  }

  writeDeltas(deltas: readonly Delta[]): void {
    this.#write(deltas.map(sseDelta));
  }

  end(): void {
    this.#stop();
    this.#response.end();
  }

  drop(): void {
    this.#stop();
    this.#response.destroy();
  }

  #write(frames: readonly Buffer[]): void {
    if (this.signal.aborted || frames.length === 0) return;
    // Judged by what earlier writes left behind: a single large one is no fault of the client's.
    if (this.#response.writableLength > this.#limits.bufferLimit) return this.drop();
    this.#response.cork();
    for (const frame of frames) this.#response.write(frame);
    this.#response.uncork();
  }

  #stop(): void {
    clearInterval(this.#heartbeat);
    this.#over.abort();
  }
}

const heartbeat = Buffer.from(":\n\n");

/** Rejects when the client takes nothing for too long. */
function drained(response: ServerResponse, signal: AbortSignal, stallMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => () => {
      clearTimeout(timer);
      response.off("drain", onDrain);
      signal.removeEventListener("abort", onDrain);
      outcome();
    };
    const onDrain = settle(resolve);
    const timer = setTimeout(
      settle(() => reject(new TooSlow())),
      stallMs,
    );
    response.once("drain", onDrain);
    signal.addEventListener("abort", onDrain);
    if (signal.aborted) onDrain();
  });
}
