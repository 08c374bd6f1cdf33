/**
 * Milliseconds that this process was awake. Some systems' clocks run on while the machine sleeps, and a process may be
 * stopped: between two looks at it this clock goes on by one step at most. So whoever measures by it looks more
 * often than once a step.
 */
export class AwakeClock {
  readonly #source: () => number;
  readonly #stepMs: number;
  #last: number;
  #counted = 0;

  constructor(source: () => number = () => performance.now(), stepMs = 3000) {
    this.#source = source;
    this.#stepMs = stepMs;
    this.#last = source();
  }

  now(): number {
    const read = this.#source();
    this.#counted += Math.min(read - this.#last, this.#stepMs);
    this.#last = read;
    return this.#counted;
  }
}
