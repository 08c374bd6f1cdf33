import type { ServerResponse } from "node:http";
import type { Delta, Gap, SessionId, StoredEvent } from "@corral/protocol";
import { isGap, type Log, type Page } from "../log/port.ts";
import { ClosedParts } from "./closed-parts.ts";

/**
 * Streams of events to clients, as server-sent events.
 *
 * 1. Each stream carries every event after its cursor, once, in seq order; the id is the seq.
 * 2. History waits for the client to read; whoever reads nothing for `stallMs` is dropped.
 * 3. Live, nothing waits for a client: one with more than `bufferLimit` unread bytes is dropped, it
 *    alone, and comes back by its cursor.
 * 4. A delta never follows the event that closes its part. Deltas begin after the history, with the text so
 *    far of what is open then.
 * 5. An event is encoded once, however many streams carry it.
 * 6. `end()` finishes every stream cleanly and lets none begin; `over` finishes one.
 */
export interface Streams {
  open(response: ServerResponse, from: StreamStart): void;
  end(): void;
  readonly count: number;
}

export interface StreamStart {
  readonly after: number;
  readonly session: SessionId | undefined;
  readonly over?: AbortSignal | undefined;
}

export interface StreamLimits {
  readonly bufferLimit: number;
  readonly stallMs: number;
  readonly heartbeatMs: number;
}

const usualLimits: StreamLimits = { bufferLimit: 4 * 1024 * 1024, stallMs: 30_000, heartbeatMs: 15_000 };

export function openStreams(
  log: Pick<Log, "read" | "tail" | "live">,
  onError: (error: unknown) => void,
  limits: StreamLimits = usualLimits,
): Streams {
  const open = new Set<Stream>();
  let ended = false;
  return {
    get count() {
      return open.size;
    },
    open(response, { after, session, over }) {
      const stream = new Stream(response, limits);
      if (ended || over?.aborted === true) return stream.end();
      over?.addEventListener("abort", () => stream.end(), { once: true, signal: stream.signal });
      open.add(stream);
      response.once("close", () => {
        open.delete(stream);
        stream.end();
      });
      void carry(log, stream, after, session).catch((error: unknown) => {
        // The client comes back by its cursor; a cut tells it to, an end would too.
        stream.drop();
        if (!isTooSlow(error)) onError(error);
      });
    },
    end() {
      ended = true;
      for (const stream of open) stream.end();
    },
  };
}

async function carry(
  log: Pick<Log, "read" | "tail" | "live">,
  stream: Stream,
  after: number,
  session: SessionId | undefined,
): Promise<void> {
  const only = session === undefined ? {} : { stream: session };
  stream.begin();
  let cursor = after;
  for (;;) {
    const page = await log.read({ after: cursor, limit: 200, ...only });
    if (stream.signal.aborted) break;
    if (isGap(page)) {
      stream.writePage(page);
      cursor = page.to;
      continue;
    }
    if (page.length === 0) break;
    for (const event of page) await stream.writeWaiting(event);
    cursor = page.at(-1)?.seq ?? cursor;
  }
  if (stream.signal.aborted) return;
  const unsubscribe = log.live.subscribe(session === undefined ? {} : { session }, (deltas) =>
    stream.writeDeltas(deltas),
  );
  try {
    for await (const events of log.tail({ after: cursor, ...only }, stream.signal)) stream.writePage(events);
  } finally {
    unsubscribe();
  }
  // A tail ends by the signal, or with the log itself.
  stream.end();
}

/** One client's response. */
class Stream {
  readonly #response: ServerResponse;
  readonly #limits: StreamLimits;
  readonly #over = new AbortController();
  readonly #closed = new ClosedParts();
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
    this.#heartbeat = setInterval(() => this.#write(":\n\n"), this.#limits.heartbeatMs);
    this.#heartbeat.unref();
  }

  writePage(page: Page): void {
    if (isGap(page)) return this.#write(gapFrame(page));
    for (const event of page) this.#closed.note(event);
    this.#write(page.map(frameOf).join(""));
  }

  /** Resolves when the client has room for more. */
  async writeWaiting(event: StoredEvent): Promise<void> {
    if (this.signal.aborted) return;
    this.#closed.note(event);
    if (this.#response.write(frameOf(event))) return;
    await drained(this.#response, this.signal, this.#limits.stallMs);
  }

  writeDeltas(deltas: readonly Delta[]): void {
    const frames = deltas.filter((delta) => !this.#closed.has(delta.part)).map(deltaFrame);
    if (frames.length > 0) this.#write(frames.join(""));
  }

  end(): void {
    this.#stop();
    this.#response.end();
  }

  drop(): void {
    this.#stop();
    this.#response.destroy();
  }

  #write(frames: string): void {
    if (this.signal.aborted) return;
    // Judged by what earlier writes left behind: a single large one is no fault of the client's.
    if (this.#response.writableLength > this.#limits.bufferLimit) return this.drop();
    this.#response.write(frames);
  }

  #stop(): void {
    clearInterval(this.#heartbeat);
    this.#over.abort();
  }
}

const frames = new WeakMap<StoredEvent, string>();

function frameOf(event: StoredEvent): string {
  const known = frames.get(event);
  if (known !== undefined) return known;
  // JSON has no raw line break, so one data line holds it.
  const frame = `id: ${event.seq}\nevent: event\ndata: ${JSON.stringify(event)}\n\n`;
  frames.set(event, frame);
  return frame;
}

/** What the client asked for and will never get; its cursor goes on behind it. */
function gapFrame(gap: Gap): string {
  return `id: ${gap.to}\nevent: gap\ndata: ${JSON.stringify(gap)}\n\n`;
}

const deltaFrames = new WeakMap<Delta, string>();

function deltaFrame(delta: Delta): string {
  const known = deltaFrames.get(delta);
  if (known !== undefined) return known;
  const frame = `event: delta\ndata: ${JSON.stringify(delta)}\n\n`;
  deltaFrames.set(delta, frame);
  return frame;
}

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

class TooSlow extends Error {}

function isTooSlow(error: unknown): boolean {
  return error instanceof TooSlow || (error as { code?: unknown } | null)?.code === "log.reader-too-slow";
}
