import type { Delta, StoredEvent } from "@corral/protocol";

/** An event is turned into JSON once, and into the frames of a protocol once, however many streams carry it. */
export const jsonOf = once((event: StoredEvent) => JSON.stringify(event));

const jsonOfDelta = once((delta: Delta) => JSON.stringify(delta));

// JSON has no raw line break, so one data line holds it.
const sseText = (event: StoredEvent) => `id: ${event.seq}\nevent: event\ndata: ${jsonOf(event)}\n\n`;

export const sseEvent = once((event: StoredEvent) => Buffer.from(sseText(event)));
export const ssePage = once((page: readonly StoredEvent[]) => Buffer.from(page.map(sseText).join("")));
export const sseDelta = once((delta: Delta) => Buffer.from(`event: delta\ndata: ${jsonOfDelta(delta)}\n\n`));

export const socketEvent = once((event: StoredEvent) => Buffer.from(`{"kind":"event","event":${jsonOf(event)}}`));
export const socketDelta = once((delta: Delta) => Buffer.from(`{"kind":"delta","delta":${jsonOfDelta(delta)}}`));

function once<T extends object, R>(make: (value: T) => R): (value: T) => R {
  const made = new WeakMap<T, { readonly result: R }>();
  return (value) => {
    const before = made.get(value);
    if (before !== undefined) return before.result;
    const result = make(value);
    made.set(value, { result });
    return result;
  };
}
