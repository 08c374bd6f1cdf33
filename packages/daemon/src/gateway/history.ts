import type { Gap } from "@corral/protocol";
import { isGap, type Log } from "../log/port.ts";
import { EncodedPage } from "./encoding.ts";

/**
 * Reads pages of history for many readers at once.
 *
 * 1. Readers that ask for the same page within a moment share one read, and what was encoded for one of them.
 * 2. Only full pages are shared: the last one of a log may grow.
 * 3. What is kept is bounded, in bytes and in time, and forgotten as soon as anything is erased.
 */
export interface History {
  read(range: { readonly after: number; readonly stream?: string | undefined }): Promise<EncodedPage | Gap>;
  close(): void;
}

const pageSize = 200;
const keptCharacters = 4_000_000;
const keptMs = 5_000;

export function openHistory(log: Pick<Log, "read" | "onCommit">, now: () => number = () => performance.now()): History {
  const pages = new Map<string, Kept>();
  let characters = 0;
  let sweeping = false;
  const close = log.onCommit((events) => {
    if (events.some(({ type }) => erasing.test(type))) for (const key of pages.keys()) forget(key);
  });

  return {
    close,
    read({ after, stream }) {
      const key = `${after} ${stream ?? ""}`;
      const known = pages.get(key);
      if (known !== undefined && known.until > now()) return known.page;
      forget(key);
      const page = encoded({ after, limit: pageSize, ...(stream === undefined ? {} : { stream }) });
      const kept: Kept = { page, until: now() + keptMs, characters: 0 };
      pages.set(key, kept);
      page.then(
        (read) => weigh(key, kept, read),
        () => forget(key),
      );
      return page;
    },
  };

  async function encoded(range: Parameters<Log["read"]>[0]): Promise<EncodedPage | Gap> {
    const page = await log.read(range);
    return isGap(page) ? page : new EncodedPage(page);
  }

  function weigh(key: string, kept: Kept, page: EncodedPage | Gap): void {
    if (pages.get(key) !== kept) return;
    if (!(page instanceof EncodedPage) || page.events.length < pageSize) return forget(key);
    kept.characters = page.characters;
    characters += kept.characters;
    for (const oldest of pages.keys()) {
      if (characters <= keptCharacters) break;
      forget(oldest);
    }
    sweepLater();
  }

  function forget(key: string): void {
    characters -= pages.get(key)?.characters ?? 0;
    pages.delete(key);
  }

  /** Holds on to no page: what is let go must be free at once. */
  function sweepLater(): void {
    if (sweeping) return;
    sweeping = true;
    setTimeout(() => {
      sweeping = false;
      for (const [key, { until }] of pages) if (until <= now()) forget(key);
      if (pages.size > 0) sweepLater();
    }, keptMs).unref();
  }
}

/** What says that events are no longer what they were. */
const erasing = /^stream\.erased$/;

interface Kept {
  readonly page: Promise<EncodedPage | Gap>;
  readonly until: number;
  characters: number;
}
