import type { Gap } from "@corral/protocol";
import { isGap, type Log } from "../../log/port.ts";
import { EncodedPage } from "./encoding.ts";

/**
 * Reads pages of history for many readers at once.
 *
 * 1. Readers that ask for the same page within a moment share one read, and what was encoded for one of them. Pages of the
 *    whole log begin at fixed places, so that readers who began at different ones meet too.
 * 2. Only full pages are shared: the last one of a log may grow.
 * 3. What is kept is bounded, in bytes and in time, and forgotten as soon as anything is erased. Of pages asked for one
 *    after the other, the one that nobody asked for longest goes first.
 */
export interface History {
  read(range: { readonly after: number; readonly stream?: string | undefined }): Promise<EncodedPage | Gap>;
  close(): void;
}

const pageSize = 200;
const keptBytes = 8_000_000;
const keptMs = 5_000;

export function openHistory(log: Pick<Log, "read" | "onCommit">, now: () => number = () => performance.now()): History {
  const pages = new Map<string, Kept>();
  let bytes = 0;
  let sweeping = false;
  const close = log.onCommit((events) => {
    if (events.some(({ type }) => erasing.test(type))) for (const key of pages.keys()) forget(key);
  });

  return {
    close,
    read: async ({ after, stream }) => (stream === undefined ? readLog(after) : shared(after, stream)),
  };

  /** A page that ends before the reader's place, for a gap or for its weight, is of no use: then it is read from there. */
  async function readLog(after: number): Promise<EncodedPage | Gap> {
    const begin = after - (after % pageSize);
    const page = await shared(begin);
    if (begin === after) return page;
    if (page instanceof EncodedPage && (page.events.at(-1)?.seq ?? 0) > after) return page.after(after);
    return shared(after);
  }

  function shared(after: number, stream?: string): Promise<EncodedPage | Gap> {
    const key = `${after} ${stream ?? ""}`;
    const known = pages.get(key);
    if (known !== undefined && known.until > now()) {
      pages.delete(key);
      pages.set(key, known);
      return known.page;
    }
    forget(key);
    const page = encoded({ after, limit: pageSize, ...(stream === undefined ? {} : { stream }) });
    const kept: Kept = { page, until: now() + keptMs, bytes: 0 };
    pages.set(key, kept);
    page.then(
      (read) => weigh(key, kept, read),
      () => forget(key),
    );
    return page;
  }

  async function encoded(range: Parameters<Log["read"]>[0]): Promise<EncodedPage | Gap> {
    const page = await log.read(range);
    return isGap(page) ? page : EncodedPage.of(page);
  }

  function weigh(key: string, kept: Kept, page: EncodedPage | Gap): void {
    if (pages.get(key) !== kept) return;
    if (!(page instanceof EncodedPage) || page.events.length < pageSize) return forget(key);
    kept.bytes = page.bytes;
    bytes += kept.bytes;
    for (const oldest of pages.keys()) {
      if (bytes <= keptBytes) break;
      forget(oldest);
    }
    sweepLater();
  }

  function forget(key: string): void {
    bytes -= pages.get(key)?.bytes ?? 0;
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
  bytes: number;
}
