import { descriptorLimit } from "../descriptors/index.ts";

/**
 * Runs with nothing to do that stay ready for a while, in case more is said to their sessions. Each costs a timer, the memory of a history
 * and, with an open environment, about thirteen descriptors; so there is only room for some, and those that rested longest leave first.
 */
export class WarmRuns {
  readonly #most: number;
  readonly #leave = new Set<() => void>();

  constructor(most: number = Math.min(32, Math.floor(descriptorLimit() / 40))) {
    this.#most = most;
  }

  /** `leave` is called when its room is needed. Returns what is to be called when it is not at rest any more. */
  enter(leave: () => void): () => void {
    this.#leave.add(leave);
    for (const longest of this.#leave) {
      if (this.#leave.size <= this.#most) break;
      this.#leave.delete(longest);
      longest();
    }
    return () => void this.#leave.delete(leave);
  }
}
