import { dim, type Output } from "../terminal/output.ts";

/** A last line on a terminal that counts seconds down. It is gone when the time is up or somebody ends it. */
export class Countdown {
  readonly #out: Output;
  readonly #ends: number;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #over = false;

  constructor(out: Output, ms: number, now: () => number = Date.now) {
    this.#out = out;
    this.#now = now;
    this.#ends = now() + ms;
    this.#timer = setInterval(() => this.#show(), 250);
    // Nobody waits for the end of it alone.
    this.#timer.unref();
    this.#show();
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#timer);
    this.#out.write(clearedLine);
  }

  #show(): void {
    const seconds = Math.ceil((this.#ends - this.#now()) / 1000);
    if (seconds <= 0) return this.end();
    this.#out.write(`${clearedLine}${dim(`asked again in ${seconds} s`, this.#out)}`);
  }
}

const clearedLine = "\r\u001b[2K";
