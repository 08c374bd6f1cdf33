/**
 * Calls once nothing was heard for so long. What came while this process itself stood still (it was
 * busy, stopped, or its machine slept) is read before the silence is believed.
 */
export class Silence {
  readonly #timer: NodeJS.Timeout;
  #believing: NodeJS.Immediate | undefined;
  #over = false;

  constructor(ms: number, onSilence: () => void) {
    this.#timer = setTimeout(() => (this.#believing = setImmediate(onSilence)), ms);
  }

  heard(): void {
    if (this.#over) return;
    clearImmediate(this.#believing);
    this.#timer.refresh();
  }

  end(): void {
    this.#over = true;
    clearImmediate(this.#believing);
    clearTimeout(this.#timer);
  }
}
