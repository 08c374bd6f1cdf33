import type { Delta, Gap, StoredEvent } from "@corral/protocol";

/**
 * How events and deltas look on the wire. What is shared by many streams is encoded once: a live event or delta by
 * remembering it for as long as anyone holds it, a page of history by keeping its frames with it. (History is not
 * remembered by event, for that costs the garbage collector dearly where much is read and nothing is shared.)
 */
const jsonOf = once((event: StoredEvent) => JSON.stringify(event));
const jsonOfDelta = once((delta: Delta) => JSON.stringify(delta));

export const sseEvent = once((event: StoredEvent) => Buffer.from(sseText(event.seq, jsonOf(event))));
export const sseDelta = once((delta: Delta) => Buffer.from(`event: delta\ndata: ${jsonOfDelta(delta)}\n\n`));
export const socketEvent = once((event: StoredEvent) => Buffer.from(socketText(jsonOf(event))));
export const socketDelta = once((delta: Delta) => Buffer.from(`{"kind":"delta","delta":${jsonOfDelta(delta)}}`));

/** What the reader asked for and will never get; its cursor goes on behind it. */
export function sseGap(gap: Gap): Buffer {
  return Buffer.from(`id: ${gap.to}\nevent: gap\ndata: ${JSON.stringify(gap)}\n\n`);
}

/** A page of history with its frames. */
export class EncodedPage {
  readonly events: readonly StoredEvent[];
  readonly #json: readonly string[];
  #sse: Buffer | undefined;
  #socket: readonly Buffer[] | undefined;

  constructor(events: readonly StoredEvent[], json: readonly string[] = events.map((event) => JSON.stringify(event))) {
    this.events = events;
    this.#json = json;
  }

  get characters(): number {
    return this.#json.reduce((sum, json) => sum + json.length, 0);
  }

  /** All events in one piece. */
  get sse(): Buffer {
    const texts = () => this.#json.map((json, index) => sseText(this.events[index]?.seq ?? 0, json));
    return (this.#sse ??= Buffer.from(texts().join("")));
  }

  /** A message for each event. */
  get socket(): readonly Buffer[] {
    return (this.#socket ??= this.#json.map((json) => Buffer.from(socketText(json))));
  }

  /** The page itself when all of it is wanted. */
  only(wants: (event: StoredEvent) => boolean): EncodedPage {
    const kept = this.events.map(wants);
    if (!kept.includes(false)) return this;
    return new EncodedPage(
      this.events.filter((_event, index) => kept[index]),
      this.#json.filter((_json, index) => kept[index]),
    );
  }
}

// JSON has no raw line break, so one data line holds it.
function sseText(seq: number, json: string): string {
  return `id: ${seq}\nevent: event\ndata: ${json}\n\n`;
}

function socketText(json: string): string {
  return `{"kind":"event","event":${json}}`;
}

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
