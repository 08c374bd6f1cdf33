import type { EventData } from "@corral/protocol";

/** What is recorded of an end that nobody asked for. */
export function closingOf(
  otherwise: string,
  endedBecause: string | undefined,
): Omit<EventData<"environment.closed">, "id"> {
  return endedBecause === undefined ? { reason: otherwise } : { reason: endedBecause, breach: true };
}
