/**
 * Follows a log from a cursor: history in pages, then live.
 *
 * Invariants
 * 1. The subscription stands before the first read, and the backlog is emptied just before each read:
 *    what was committed before a read begins is in that read or behind the cursor, what is committed
 *    afterwards is in the backlog. So nothing is lost between the last, empty, read and live.
 * 2. `position` is the seq of the last event given out and only grows; nothing at or below it is given again.
 * 3. The backlog is bounded. Overflowing while history is read costs another read; overflowing while
 *    live ends this reader and frees what it held, at once, and touches no other.
 * 4. When the log says that events were trimmed before they could be told, the reader goes back to history, which
 *    has the gap.
 */
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import { CorralError, type StoredEvent } from "@corral/protocol";
import { isGap, type Log, type Page } from "./port.ts";

export interface TailCursor {
  readonly after: number;
  readonly stream?: string;
}

export interface TailLimits {
  /** Events read at a time from history. */
  readonly page: number;
  /** Events a live reader may lag behind. */
  readonly backlog: number;
}

export const defaultTailLimits: TailLimits = { page: 500, backlog: 10_000 };

export async function* follow(
  source: Pick<Log, "read" | "onCommit">,
  cursor: TailCursor,
  signal: AbortSignal,
  limits: TailLimits = defaultTailLimits,
): AsyncGenerator<Page, void, undefined> {
  if (signal.aborted) return;
  let position = cursor.after;
  using backlog = new Backlog(source, cursor.stream, limits.backlog, signal);

  while (!signal.aborted) {
    const page = backlog.isHistory ? await history() : newerThan(position, await backlog.take());
    if (signal.aborted) return;
    if (!isGap(page) && page.length === 0) continue;
    position = isGap(page) ? page.to : page.at(-1)!.seq;
    yield page;
    // A long history leaves room for everyone else on the loop.
    if (backlog.isHistory) await nextLoopTurn();
  }

  async function history(): Promise<Page> {
    backlog.empty();
    const page = await source.read({ ...cursor, after: position, limit: limits.page });
    if (!isGap(page) && page.length === 0) backlog.goLive();
    return page;
  }
}

/** What was committed and not yet given out. */
class Backlog {
  readonly #stream: string | undefined;
  readonly #bound: number;
  readonly #signal: AbortSignal;
  readonly #unsubscribe: () => void;
  #state: "history" | "live" | "too-slow" = "history";
  #events: StoredEvent[] = [];
  #overflowed = false;
  #wake: () => void = () => {};

  constructor(source: Pick<Log, "onCommit">, stream: string | undefined, bound: number, signal: AbortSignal) {
    this.#stream = stream;
    this.#bound = bound;
    this.#signal = signal;
    this.#unsubscribe = source.onCommit((events) => this.#add(events));
    signal.addEventListener("abort", this.#onAbort);
  }

  get isHistory(): boolean {
    return this.#state === "history";
  }

  empty(): void {
    this.#events = [];
    this.#overflowed = false;
  }

  /** After an empty read. Stays in history if more was committed meanwhile than the backlog holds. */
  goLive(): void {
    if (!this.#overflowed) this.#state = "live";
  }

  /** Waits for events; gives all there are. Empty when the signal aborts. */
  async take(): Promise<readonly StoredEvent[]> {
    while (this.#state === "live" && this.#events.length === 0 && !this.#signal.aborted) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#signal.aborted) return [];
    if (this.#state === "too-slow") throw tooSlow(this.#bound);
    const events = this.#events;
    this.#events = [];
    return events;
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#events = [];
  }

  #add(committed: readonly StoredEvent[]): void {
    if (this.#overflowed) return;
    if (committed.length === 0) this.#miss();
    for (const event of committed) {
      if (this.#stream === undefined || event.stream === this.#stream) this.#events.push(event);
    }
    if (this.#events.length > this.#bound) this.#overflow();
    if (this.#events.length > 0 || this.#overflowed) this.#wake();
  }

  #miss(): void {
    this.#overflowed = true;
    this.#events = [];
    if (this.#state === "live") this.#state = "history";
  }

  #overflow(): void {
    this.#overflowed = true;
    this.#events = [];
    if (this.#state !== "live") return;
    this.#state = "too-slow";
    this.#unsubscribe();
  }

  readonly #onAbort = (): void => this.#wake();
}

function newerThan(position: number, events: readonly StoredEvent[]): readonly StoredEvent[] {
  const first = events[0];
  return first === undefined || first.seq > position ? events : events.filter((event) => event.seq > position);
}

function tooSlow(bound: number): CorralError {
  return new CorralError("log.reader-too-slow", `The reader fell more than ${bound} events behind.`, {
    retry: "now",
    hint: "Follow again from the last seq that was handled.",
  });
}
