import { isEndOf, type StoredEvent } from "@corral/protocol";

/**
 * The parts closed lately, so that a delta still on its way when its part's closing event went out
 * is not sent after it. Deltas lag by milliseconds, so a few hundred are remembered and no more.
 */
export class ClosedParts {
  readonly #parts = new Set<string>();

  note(event: StoredEvent): void {
    if (event.type === "turn.said") this.#close(event.data.part);
    else if (isEndOf("call", event)) this.#close(event.data.id);
    // A call may start again after it was lost.
    else if (event.type === "call.started") this.#parts.delete(event.data.id);
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
