import type { Delta, StoredEvent, WireEvent } from "@corral/protocol";
import { versionOf } from "@corral/protocol/lift";

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
    // Whether it is known at all would take the schemas to say, which this program may never need.
    if (event.typeVersion > versionOf(event.type)) return;
    const { type, data } = event as StoredEvent;
    switch (type) {
      case "turn.said":
        this.#ends.delete(keyOf(data.kind, data.part));
        return;
      case "call.started":
      case "call.settled":
      case "call.failed":
      case "call.declined":
      case "call.interrupted":
      case "call.unknown":
        this.#ends.delete(keyOf("stdout", data.id));
        this.#ends.delete(keyOf("stderr", data.id));
        return;
      default:
        return;
    }
  }
}

function keyOf(kind: Delta["kind"], part: string): string {
  return `${kind} ${part}`;
}
