export interface Pulse {
  readonly everyMs: number;
  /** Questions without an answer after which nobody is there any more. */
  readonly missed: number;
  /** The same until the first answer, for a program takes its time to load. */
  readonly missedAtStart: number;
}

/**
 * Asks again and again whether somebody is there. It counts questions, not time: while this process
 * stands still (it is stopped, or its machine sleeps) it asks nothing, and so misses no answer.
 */
export class Heartbeat {
  readonly #pulse: Pulse;
  readonly #ask: () => void;
  readonly #onSilence: () => void;
  readonly #timer: NodeJS.Timeout;
  #begun = false;
  #unanswered = 0;

  constructor(pulse: Pulse, ask: () => void, onSilence: () => void) {
    this.#pulse = pulse;
    this.#ask = ask;
    this.#onSilence = onSilence;
    this.#timer = setInterval(() => this.#beat(), pulse.everyMs).unref();
  }

  /** Whatever is heard is an answer. */
  heard(): void {
    this.#begun = true;
    this.#unanswered = 0;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const { missed, missedAtStart } = this.#pulse;
    if (this.#unanswered >= (this.#begun ? missed : missedAtStart)) return this.#onSilence();
    this.#unanswered += 1;
    this.#ask();
  }
}
