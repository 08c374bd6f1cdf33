/** Whoever wants to hear of something. One that throws is reported and disturbs nobody, nor does a report that fails. */
export class Listeners<T> {
  readonly #listeners = new Set<{ readonly hear: (value: T) => void }>();
  readonly #onDefect: (defect: unknown) => void;

  constructor(onDefect: (defect: unknown) => void) {
    this.#onDefect = onDefect;
  }

  /** Returns the way to stop. The same function may be added twice and is then called twice. */
  add(hear: (value: T) => void): () => void {
    const listener = { hear };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(value: T): void {
    for (const { hear } of this.#listeners) {
      try {
        hear(value);
      } catch (defect) {
        this.report(defect);
      }
    }
  }

  report(defect: unknown): void {
    try {
      this.#onDefect(defect);
    } catch (another) {
      process.emitWarning(another instanceof Error ? another : String(another));
    }
  }
}
