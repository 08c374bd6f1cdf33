import type { StoredEvent } from "@corral/protocol";
import { isGap, type Log } from "./port.ts";

/** The seq of the first event since then. By halving: clocks are set back now and then, so this is about right, as the times are. */
export async function firstSince(log: Pick<Log, "read" | "head">, time: number): Promise<number> {
  let [low, high] = [1, (await log.head()) + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await nextEvent(log, middle);
    if (found === undefined || Date.parse(found.approximateCreationTime) >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The first of those left, from this place on. */
async function nextEvent(log: Pick<Log, "read">, seq: number): Promise<StoredEvent | undefined> {
  const page = await log.read({ after: seq - 1, limit: 1 });
  return isGap(page) ? nextEvent(log, page.to + 1) : page[0];
}
