import type { Client } from "@corral/client";
import type { StreamFilter } from "@corral/protocol";
import { jsonLine } from "../terminal/output.ts";

export interface HistoryWish extends StreamFilter {
  readonly after: number;
  readonly signal?: AbortSignal;
}

export interface HistoryPage {
  /** Each event as a line of JSON, and a line for a gap. */
  readonly lines: string;
  readonly events: number;
  /** The cursor to go on from. */
  readonly next: number;
}

const pageSize = 1000;

/** What happened after the cursor, a page at a time, until the end for now. */
export async function* historyOf(
  client: Client,
  { session, after, signal, ...rest }: HistoryWish,
): AsyncGenerator<HistoryPage> {
  let cursor = after;
  for (;;) {
    const wish = { ...rest, after: cursor, limit: pageSize };
    const { events, next, gap } = await (session === undefined
      ? client.events(wish, { signal })
      : client.sessions.events(session, wish, { signal }));
    const found = gap === undefined ? events : [gap, ...events];
    yield { lines: found.map(jsonLine).join(""), events: events.length, next };
    if (next === cursor) return;
    cursor = next;
  }
}
