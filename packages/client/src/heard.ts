import type { Delta, WireEvent } from "@corral/protocol";
import { isEndOf, isKnown } from "@corral/protocol/event-types";

/** How far each growing part was heard, so that a text so far told again is cut to its rest. */
export class Heard {
  /** By lane and part, since a call has two outputs; the number of units heard. */
  readonly #ends = new Map<string, number>();

  /** The part of a delta that was not heard before. */
  unheard(delta: Delta): Delta | undefined {
    const key = keyOf(delta.kind, delta.part);
    const end = this.#ends.get(key) ?? 0;
    const newEnd = delta.offset + delta.text.length;
    if (newEnd <= end) return undefined;
    this.#ends.set(key, newEnd);
    return delta.offset >= end ? delta : { ...delta, offset: end, text: delta.text.slice(end - delta.offset) };
  }

  /** What was heard of no longer tells anything. */
  forget(): void {
    this.#ends.clear();
  }

  /** The event that repeats the whole ends the counting; a call that starts again begins anew. */
  note(event: WireEvent): void {
    if (!isKnown(event)) return;
    if (event.type === "turn.said") this.#ends.delete(keyOf(event.data.kind, event.data.part));
    if (event.type !== "call.started" && !isEndOf("call", event)) return;
    this.#ends.delete(keyOf("stdout", event.data.id));
    this.#ends.delete(keyOf("stderr", event.data.id));
  }
}

function keyOf(kind: Delta["kind"], part: string): string {
  return `${kind} ${part}`;
}
