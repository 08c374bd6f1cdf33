import type { StoredEvent } from "@corral/protocol";
import type { Log } from "../log/port.ts";
import { jsonOf } from "./encoding.ts";

/**
 * Reads pages of history for many readers at once.
 *
 * 1. Readers that ask for the same page within a moment share one read, and what was encoded for one of them.
 * 2. Only full pages are shared: the last one of a log may grow.
 * 3. What is kept is bounded, in bytes and in time, so that a page is never much older than the log.
 */
export interface History {
  read(range: { readonly after: number; readonly stream?: string | undefined }): Promise<readonly StoredEvent[]>;
}

const pageSize = 200;
const keptCharacters = 8_000_000;
const keptMs = 1_000;

export function openHistory(log: Pick<Log, "read">, now: () => number = () => performance.now()): History {
  const pages = new Map<string, Kept>();
  let characters = 0;

  return {
    async read({ after, stream }) {
      const key = `${after} ${stream ?? ""}`;
      const known = pages.get(key);
      if (known !== undefined && known.until > now()) return known.page;
      forget(key);
      const page = log.read({ after, limit: pageSize, ...(stream === undefined ? {} : { stream }) });
      const kept: Kept = { page, until: now() + keptMs, characters: 0 };
      pages.set(key, kept);
      try {
        weigh(key, kept, await page);
      } catch (error) {
        forget(key);
        throw error;
      }
      return page;
    },
  };

  function weigh(key: string, kept: Kept, page: readonly StoredEvent[]): void {
    if (pages.get(key) !== kept) return;
    if (page.length < pageSize) return forget(key);
    for (const event of page) kept.characters += jsonOf(event).length;
    characters += kept.characters;
    for (const [oldest, { until }] of pages) {
      if (characters <= keptCharacters && until > now()) break;
      forget(oldest);
    }
    setTimeout(() => pages.get(key) === kept && forget(key), keptMs).unref();
  }

  function forget(key: string): void {
    characters -= pages.get(key)?.characters ?? 0;
    pages.delete(key);
  }
}

interface Kept {
  readonly page: Promise<readonly StoredEvent[]>;
  readonly until: number;
  characters: number;
}
