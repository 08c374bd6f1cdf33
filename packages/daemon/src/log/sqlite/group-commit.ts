/**
 * Group commit: what is asked for in one turn of the event loop shares one transaction and one sync.
 *
 * Invariants
 * 1. Work runs in the order it was added; no two pieces run at a time.
 * 2. Each piece runs in its own savepoint: one that throws is undone whole and rejects alone.
 * 3. `refused` is called for each piece that fails, before any later piece runs.
 * 4. No promise resolves before the transaction is committed. If it cannot be committed, every promise rejects.
 * 5. After any failure the next batch starts afresh.
 */
export class GroupCommit {
  readonly #transaction: Transaction;
  readonly #watcher: CommitWatcher;
  #waiting: Work[] = [];
  #scheduled: NodeJS.Immediate | undefined;

  constructor(transaction: Transaction, watcher: CommitWatcher) {
    this.#transaction = transaction;
    this.#watcher = watcher;
  }

  /**
   * Resolves with what `run` returned, once that is durable.
   *
   * The flush waits for the check phase of this loop turn, which comes right after its I/O callbacks:
   * a lone caller loses microseconds, and callers on different channels still meet in one batch.
   */
  add<T>(run: () => T, refused?: (error: unknown) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ run, refused, resolve: resolve as (value: unknown) => void, reject });
      this.#scheduled ??= setImmediate(() => this.flush());
    });
  }

  /** Commits all that waits, now. */
  flush(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    const outcomes = this.#commit(batch);
    for (const [index, work] of batch.entries()) {
      const outcome = outcomes[index]!;
      if ("error" in outcome) work.reject(outcome.error);
      else work.resolve(outcome.value);
    }
  }

  #commit(batch: readonly Work[]): readonly Outcome[] {
    const outcomes: Outcome[] = [];
    try {
      this.#transaction.begin();
      this.#watcher.begun();
      for (const work of batch) outcomes.push(this.#attempt(work));
      this.#transaction.commit();
    } catch (error) {
      return this.#abandon(batch, outcomes, error);
    }
    this.#watcher.committed();
    return outcomes;
  }

  #attempt(work: Work): Outcome {
    this.#transaction.savepoint();
    let value: unknown;
    try {
      value = work.run();
    } catch (error) {
      // The store may have given up the whole transaction; then there is nothing left to go on with.
      if (!this.#transaction.isOpen) throw error;
      this.#transaction.undo();
      work.refused?.(error);
      return { error };
    }
    this.#transaction.release();
    return { value };
  }

  #abandon(batch: readonly Work[], outcomes: readonly Outcome[], error: unknown): readonly Outcome[] {
    if (this.#transaction.isOpen) this.#transaction.rollback();
    const failure = this.#watcher.abandoned(error);
    return batch.map((work, index) => {
      const own = outcomes[index];
      if (own !== undefined && "error" in own) return own;
      work.refused?.(failure);
      return { error: failure };
    });
  }
}

/** How the store does it. All synchronous; each may throw. */
export interface Transaction {
  begin(): void;
  commit(): void;
  rollback(): void;
  savepoint(): void;
  release(): void;
  /** Back to the savepoint, and out of it. */
  undo(): void;
  readonly isOpen: boolean;
}

export interface CommitWatcher {
  /** The write lock is held; nothing has run yet. */
  begun(): void;
  /** All is durable; nobody has been told yet. Must not throw. */
  committed(): void;
  /** Nothing of the batch is stored. Returns the error that its callers get. */
  abandoned(error: unknown): unknown;
}

interface Work {
  readonly run: () => unknown;
  readonly refused: ((error: unknown) => void) | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };
