/**
 * Keeps those who store bytes and refer to them apart from those who remove what nobody refers to.
 *
 * 1. Any number pass together; whoever comes alone waits for all of them, and they for it.
 * 2. In the order they came, so that nobody waits for ever.
 */
export class Gate {
  readonly #inside = new Set<Promise<unknown>>();
  #alone: Promise<unknown> = Promise.resolve();

  together<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#alone.then(work);
    const settled = done.then(nothing, nothing);
    this.#inside.add(settled);
    void settled.then(() => this.#inside.delete(settled));
    return done;
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = Promise.all([this.#alone, ...this.#inside]).then(work);
    this.#alone = done.then(nothing, nothing);
    return done;
  }
}

function nothing(): void {}
