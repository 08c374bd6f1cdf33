/** Work that waits for what was asked before of the same thing, whether that succeeded or not. */
export class Lines<Name extends string = string> {
  readonly #last = new Map<Name, Promise<unknown>>();

  run<T>(name: Name, work: () => Promise<T>): Promise<T> {
    const done = (this.#last.get(name) ?? Promise.resolve()).then(work, work);
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    return done;
  }

  /** Resolves when what was asked by now is done. */
  async settled(name?: Name): Promise<void> {
    if (name !== undefined) await this.#last.get(name);
    else await Promise.all(this.#last.values());
  }
}
