import type { QuestionId } from "@corral/protocol";

/** Longer than that no timer runs; then it looks again. */
const longestMs = 2 ** 31 - 1;

/** Calls when a time by the clock has come, once for each question. */
export class Deadlines {
  readonly #timers = new Map<QuestionId, NodeJS.Timeout>();
  readonly #now: () => number;
  readonly #onPassed: (id: QuestionId) => void;

  constructor(now: () => number, onPassed: (id: QuestionId) => void) {
    this.#now = now;
    this.#onPassed = onPassed;
  }

  watch(id: QuestionId, deadline: number): void {
    this.forget(id);
    const ms = Math.min(Math.max(0, deadline - this.#now()), longestMs);
    const timer = setTimeout(() => {
      this.#timers.delete(id);
      if (this.#now() < deadline) this.watch(id, deadline);
      else this.#onPassed(id);
    }, ms);
    timer.unref();
    this.#timers.set(id, timer);
  }

  forget(id: QuestionId): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
