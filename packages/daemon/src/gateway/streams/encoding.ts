import type { Delta, Gap, StoredEvent } from "@corral/protocol";

/**
 * How events and deltas look on the wire. What is shared by many streams is encoded once: a live event or delta by
 * remembering it for as long as anyone holds it, a page of history as a whole. (History is not remembered by event, for
 * that costs the garbage collector dearly where much is read and nothing is shared.)
 */
const jsonOf = once((event: StoredEvent) => JSON.stringify(event));
const jsonOfDelta = once((delta: Delta) => JSON.stringify(delta));

export const sseEvent = once((event: StoredEvent) => Buffer.from(sseText(event.seq, jsonOf(event))));
export const sseDelta = once((delta: Delta) => Buffer.from(`event: delta\ndata: ${jsonOfDelta(delta)}\n\n`));
export const socketEvent = once((event: StoredEvent) =>
  Buffer.concat([socketHead, Buffer.from(jsonOf(event)), socketEnd]),
);
export const socketDelta = once((delta: Delta) => Buffer.from(`{"kind":"delta","delta":${jsonOfDelta(delta)}}`));

/** What the reader asked for and will never get; its cursor goes on behind it. */
export function sseGap(gap: Gap): Buffer {
  return Buffer.from(`id: ${gap.to}\nevent: gap\ndata: ${JSON.stringify(gap)}\n\n`);
}

/**
 * A page of history, encoded: its events as server-sent events in one piece of memory, which every narrower view of the
 * page shares. Nothing else is kept of their text.
 */
export class EncodedPage {
  readonly events: readonly StoredEvent[];
  readonly #bytes: Buffer;
  /** Where each event's frame begins, and where the last one ends. */
  readonly #bounds: readonly number[];

  private constructor(events: readonly StoredEvent[], bytes: Buffer, bounds: readonly number[]) {
    this.events = events;
    this.#bytes = bytes;
    this.#bounds = bounds;
  }

  static of(events: readonly StoredEvent[]): EncodedPage {
    return EncodedPage.#joined(
      events,
      events.map((event) => Buffer.from(sseText(event.seq, JSON.stringify(event)))),
    );
  }

  static #joined(events: readonly StoredEvent[], frames: readonly Buffer[]): EncodedPage {
    const bounds = [0];
    for (const frame of frames) bounds.push(bounds.at(-1)! + frame.length);
    return new EncodedPage(events, Buffer.concat(frames), bounds);
  }

  get bytes(): number {
    return this.sse.length;
  }

  /** All events in one piece. */
  get sse(): Buffer {
    return this.#bytes.subarray(this.#bounds[0], this.#bounds.at(-1));
  }

  /** A message for each event. */
  *socket(): Iterable<Buffer> {
    for (const [index, { seq }] of this.events.entries()) {
      const json = this.#frame(index).subarray(sseHead(seq).length, -2);
      yield Buffer.concat([socketHead, json, socketEnd]);
    }
  }

  /** The page itself when all of it is newer. */
  after(seq: number): EncodedPage {
    const first = this.events.findIndex((event) => event.seq > seq);
    if (first === 0) return this;
    const from = first < 0 ? this.events.length : first;
    return new EncodedPage(this.events.slice(from), this.#bytes, this.#bounds.slice(from));
  }

  /** The page itself when all of it is wanted. */
  only(wants: (event: StoredEvent) => boolean): EncodedPage {
    const kept = this.events.flatMap((event, index) => (wants(event) ? [index] : []));
    if (kept.length === this.events.length) return this;
    return EncodedPage.#joined(
      kept.map((index) => this.events[index]!),
      kept.map((index) => this.#frame(index)),
    );
  }

  #frame(index: number): Buffer {
    return this.#bytes.subarray(this.#bounds[index], this.#bounds[index + 1]);
  }
}

// JSON has no raw line break, so one data line holds it.
function sseText(seq: number, json: string): string {
  return `${sseHead(seq)}${json}\n\n`;
}

function sseHead(seq: number): string {
  return `id: ${seq}\nevent: event\ndata: `;
}

const socketHead = Buffer.from(`{"kind":"event","event":`);
const socketEnd = Buffer.from("}");

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
