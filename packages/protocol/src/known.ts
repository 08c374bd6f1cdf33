import { eventTypes } from "./event-types.ts";
import type { StoredEvent, WireEvent } from "./event.ts";
import { type Lifts, versionOf } from "./lift.ts";

const known: ReadonlySet<string> = new Set(eventTypes);

/** Narrows an event from the wire; unknown types, and versions of a newer program, are to be kept and skipped. */
export function isKnown(wire: WireEvent, lifts?: Lifts): wire is WireEvent & StoredEvent {
  return known.has(wire.type) && wire.typeVersion <= versionOf(wire.type, lifts);
}
