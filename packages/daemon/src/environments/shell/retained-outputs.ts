import type { Spool } from "../spool/spool.ts";

/** How much of the output of forgotten commands stays on the disk, all of them together. */
const mostBytes = 32 * 2 ** 20;

const roundMs = 2_000;
const lookedAtEachRound = 100;

/**
 * The outputs of ended commands. They are kept for a while, so that the part a result left out can still be read. They are bounded,
 * because what a command left in the background may write for ever.
 */
export class RetainedOutputs {
  readonly #spool: Spool;
  readonly #outputBytes: number;
  /** Id and size, the oldest first. */
  readonly #sizes = new Map<string, number>();
  #total = 0;
  #timer: NodeJS.Timeout | undefined;
  #round: string[] = [];

  constructor(spool: Spool, { outputBytes }: { outputBytes: number }) {
    this.#spool = spool;
    this.#outputBytes = outputBytes;
  }

  add(id: string): void {
    this.#weigh(id);
    this.#giveBack();
    this.#timer ??= setInterval(() => this.#lookAround(), roundMs).unref();
  }

  drop(id: string): void {
    this.#total -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#sizes.clear();
  }

  #weigh(id: string): void {
    const size = this.#sizeNow(id);
    this.drop(id);
    this.#sizes.set(id, size);
    this.#total += size;
  }

  #giveBack(): void {
    for (const [id, size] of this.#sizes) {
      if (this.#total <= mostBytes) return;
      if (size > 0) this.#empty(id);
    }
  }

  #empty(id: string): void {
    this.#spool.shrink(id);
    this.#total -= this.#sizes.get(id) ?? 0;
    this.#sizes.set(id, 0);
  }

  #lookAround(): void {
    if (this.#round.length === 0) this.#round = [...this.#sizes.keys()];
    for (const id of this.#round.splice(-lookedAtEachRound)) {
      if (this.#sizes.has(id) && this.#sizeNow(id) > this.#outputBytes) this.#empty(id);
    }
  }

  /** What cannot be looked at weighs nothing; whoever reads it finds out. */
  #sizeNow(id: string): number {
    try {
      return this.#spool.outputBytes(id);
    } catch {
      return 0;
    }
  }
}
