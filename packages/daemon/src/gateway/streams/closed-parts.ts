import type { StoredEvent } from "@corral/protocol";

/**
 * The parts closed lately, so that a delta still on its way when its part's closing event went out
 * is not sent after it. Deltas lag by milliseconds, so a few hundred are remembered and no more.
 */
export class ClosedParts {
  readonly #parts = new Set<string>();

  note(event: StoredEvent): void {
    switch (event.type) {
      case "turn.said":
        return this.#close(event.data.part);
      case "call.started":
        // A call may start again after it was lost.
        this.#parts.delete(event.data.id);
        return;
      case "call.settled":
      case "call.failed":
      case "call.declined":
      case "call.interrupted":
      case "call.unknown":
        return this.#close(event.data.id);
      default:
        return;
    }
  }

  has(part: string): boolean {
    return this.#parts.has(part);
  }

  #close(part: string): void {
    this.#parts.add(part);
    if (this.#parts.size <= 500) return;
    const [oldest] = this.#parts;
    if (oldest !== undefined) this.#parts.delete(oldest);
  }
}
