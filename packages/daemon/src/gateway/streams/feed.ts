import { setImmediate as nextLoopTurn } from "node:timers/promises";
import type { Delta, Gap, StoredEvent } from "@corral/protocol";
import { isGap, type Log, type Page } from "../../log/port.ts";
import { ClosedParts } from "./closed-parts.ts";
import { EncodedPage } from "./encoding.ts";
import type { History } from "./history.ts";
import type { Subscription } from "./subscription.ts";

/**
 * Carries the log to one reader, whatever protocol it speaks.
 *
 * 1. Every event after the cursor that is wanted comes once, in seq order; in the place of those no longer kept comes a gap.
 * 2. History waits for the reader, and after each page for everyone else on the loop, so that readers go side by side
 *    and share what is read; live, nothing does: an outlet that has too much unread drops itself, it alone, and
 *    the reader comes back by its cursor.
 * 3. A delta never follows the event that closes its part, wanted or not. Deltas begin after the history, with the text
 *    so far of what is open then.
 */
export interface Outlet {
  /** Aborts when nothing more is to be written. */
  readonly signal: AbortSignal;
  /** The same page may be given to many. Nothing more is written before there is room. */
  writeHistory(page: EncodedPage): void;
  /** Resolves when the reader has room for more; rejects when it took nothing for too long. */
  room(): Promise<void>;
  writeEvents(events: readonly StoredEvent[]): void;
  writeGap(gap: Gap): void;
  writeDeltas(deltas: readonly Delta[]): void;
}

export interface FeedSource {
  readonly log: Pick<Log, "tail" | "live">;
  readonly history: History;
}

/** Resolves when the signal aborts or the log ends. */
export async function carry({ log, history }: FeedSource, outlet: Outlet, wish: Subscription): Promise<void> {
  const closed = new ClosedParts();
  const stream = wish.session;
  let cursor = wish.after;
  for (;;) {
    const next = await writePage(cursor);
    if (next === cursor || outlet.signal.aborted) break;
    cursor = next;
    await outlet.room();
    await nextLoopTurn();
  }
  if (outlet.signal.aborted) return;
  const only = stream === undefined ? {} : { session: stream };
  const hear = (deltas: readonly Delta[]) =>
    outlet.writeDeltas(deltas.filter(({ session, part }) => wish.hears(session) && !closed.has(part)));
  const unsubscribe = wish.deltas ? log.live.subscribe(only, hear) : () => undefined;
  try {
    const from = { after: cursor, ...(stream === undefined ? {} : { stream }) };
    for await (const page of log.tail(from, outlet.signal)) {
      // Whoever waits for what was recorded goes on first: readers can see it a moment later.
      await nextLoopTurn();
      writeLive(page);
    }
  } finally {
    unsubscribe();
  }

  /** Returns the new cursor and nothing else, so that a slow reader holds no page while it is waited for. */
  async function writePage(after: number): Promise<number> {
    const page = await history.read({ after, stream });
    if (outlet.signal.aborted) return after;
    if (!(page instanceof EncodedPage)) {
      outlet.writeGap(page);
      return page.to;
    }
    const last = page.events.at(-1)?.seq;
    if (last === undefined) return after;
    for (const event of page.events) closed.note(event);
    const news = wish.wants === undefined ? page : page.only(wish.wants);
    if (news.events.length > 0) outlet.writeHistory(news);
    return last;
  }

  function writeLive(page: Page): void {
    if (isGap(page)) return outlet.writeGap(page);
    for (const event of page) closed.note(event);
    const news = wish.wants === undefined ? page : page.filter(wish.wants);
    if (news.length > 0) outlet.writeEvents(news);
  }
}

export interface StreamLimits {
  /** Unread bytes past which a reader is dropped. */
  readonly bufferLimit: number;
  /** How long a reader of history may read nothing. */
  readonly stallMs: number;
  readonly heartbeatMs: number;
}

export const usualLimits: StreamLimits = { bufferLimit: 4 * 1024 * 1024, stallMs: 30_000, heartbeatMs: 15_000 };

/** A reader that took nothing for too long. */
export class TooSlow extends Error {}

export function isTooSlow(error: unknown): boolean {
  return error instanceof TooSlow || (error as { code?: unknown } | null)?.code === "log.reader-too-slow";
}
