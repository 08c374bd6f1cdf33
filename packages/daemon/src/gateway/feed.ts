import type { Delta, StoredEvent } from "@corral/protocol";
import type { Log } from "../log/port.ts";
import { ClosedParts } from "./closed-parts.ts";
import type { History } from "./history.ts";
import type { Subscription } from "./subscription.ts";

/**
 * Carries the log to one reader, whatever protocol it speaks.
 *
 * 1. Every event after the cursor that is wanted comes once, in seq order.
 * 2. History waits for the reader; live, nothing does: an outlet that has too much unread drops itself, it alone, and
 *    the reader comes back by its cursor.
 * 3. A delta never follows the event that closes its part, wanted or not. Deltas begin after the history, with the text
 *    so far of what is open then.
 */
export interface Outlet {
  /** Aborts when nothing more is to be written. */
  readonly signal: AbortSignal;
  /** The same page may be given to many; resolves when the reader has room for more. */
  writeHistory(page: readonly StoredEvent[]): Promise<void>;
  writeEvents(events: readonly StoredEvent[]): void;
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
  const wanted = (events: readonly StoredEvent[]) => {
    for (const event of events) closed.note(event);
    return wish.wants === undefined ? events : events.filter(wish.wants);
  };
  let cursor = wish.after;
  for (;;) {
    const page = await history.read({ after: cursor, stream });
    if (page.length === 0 || outlet.signal.aborted) break;
    cursor = page.at(-1)?.seq ?? cursor;
    const news = wanted(page);
    if (news.length > 0) await outlet.writeHistory(news.length === page.length ? page : news);
  }
  if (outlet.signal.aborted) return;
  const only = stream === undefined ? {} : { session: stream };
  const hear = (deltas: readonly Delta[]) =>
    outlet.writeDeltas(deltas.filter(({ session, part }) => wish.hears(session) && !closed.has(part)));
  const unsubscribe = wish.deltas ? log.live.subscribe(only, hear) : () => undefined;
  try {
    const from = { after: cursor, ...(stream === undefined ? {} : { stream }) };
    for await (const events of log.tail(from, outlet.signal)) {
      const news = wanted(events);
      if (news.length > 0) outlet.writeEvents(news);
    }
  } finally {
    unsubscribe();
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
