/**
 * The durable log on SQLite.
 *
 * Invariants
 * 1. All writing goes through the group commit, so it happens in the order it was asked for, and a
 *    transaction begins and ends within one synchronous stretch: no read ever sees half of one.
 * 2. Seqs are given inside the transaction from `#head`, which moves when an append can no longer
 *    fail by itself and is read anew after a lost transaction or another process's commit. So an
 *    append that is undone burns none.
 * 3. `#delivered` is the last seq the listeners have heard of. They hear of every seq, once and in
 *    order, after the sync and before the append's caller; another process's events come with the
 *    next commit of this one.
 */
import { CorralError, type StoredEvent } from "@corral/protocol";
import { Listeners } from "../listeners.ts";
import { CommitClosedLane } from "../live.ts";
import type { Append, Lease, LiveLane, Log, Projection, ReadRange, Row, RowQuery } from "../port.ts";
import { defaultTailLimits, follow, type TailCursor, type TailLimits } from "../tail.ts";
import type { Database } from "./database.ts";
import { insertEvent, newestSeq, readEvents } from "./events.ts";
import { asError, readFailure, storeFailure } from "./failures.ts";
import { type CommitWatcher, GroupCommit, type Transaction } from "./group-commit.ts";
import type { Projections } from "./projections.ts";
import { Streams } from "./streams.ts";

export interface SqliteLogOptions {
  readonly file: string;
  readonly projections: readonly Projection[];
  /** Hears what listeners throw. Default: a process warning. */
  readonly onDefect?: (defect: unknown) => void;
  readonly now?: () => Date;
  readonly tailLimits?: TailLimits;
}

export class SqliteLog implements Log {
  readonly live: LiveLane;
  readonly #database: Database;
  readonly #projections: Projections;
  readonly #streams: Streams;
  readonly #commits: GroupCommit;
  readonly #listeners: Listeners<readonly StoredEvent[]>;
  readonly #now: () => Date;
  readonly #tailLimits: TailLimits;
  readonly #closing = new AbortController();
  #closed = false;
  #foreignCommits: number | undefined;
  #head: number;
  #delivered: number;
  #appended: StoredEvent[] = [];

  constructor(database: Database, projections: Projections, options: SqliteLogOptions) {
    this.#database = database;
    this.#projections = projections;
    this.#streams = new Streams(database);
    this.#commits = new GroupCommit(transactionOf(database), this.#watcher());
    const onDefect = options.onDefect ?? ((defect) => process.emitWarning(asError(defect)));
    this.#listeners = new Listeners(onDefect);
    this.#now = options.now ?? (() => new Date());
    this.#tailLimits = options.tailLimits ?? defaultTailLimits;
    this.#head = newestSeq(database);
    this.#delivered = this.#head;
    this.live = new CommitClosedLane(this, { onDefect });
  }

  async append(append: Append): Promise<readonly StoredEvent[]> {
    this.#requireOpen();
    // Serialised now, so that data that cannot be stored costs the shared transaction nothing.
    const pending = { append, data: attempt(() => append.events.map(toJson)), created: this.#now().toISOString() };
    return this.#commits.add(
      () => this.#store(pending),
      (error) => append.fence !== undefined && this.#streams.spoil(append.stream, append.fence, error),
    );
  }

  async read(range: ReadRange): Promise<readonly StoredEvent[]> {
    return this.#look(() => readEvents(this.#database, range));
  }

  async *tail(cursor: TailCursor, signal: AbortSignal): AsyncGenerator<readonly StoredEvent[], void, undefined> {
    this.#requireOpen();
    yield* follow(this, cursor, AbortSignal.any([signal, this.#closing.signal]), this.#tailLimits);
    if (!signal.aborted) this.#requireOpen();
  }

  onCommit(listener: (events: readonly StoredEvent[]) => void): () => void {
    return this.#listeners.add(listener);
  }

  async head(): Promise<number> {
    return this.#look(() => newestSeq(this.#database));
  }

  async row(table: string, key: string): Promise<Row | undefined> {
    return this.#look(() => this.#projections.row(table, key));
  }

  async rows(table: string, query?: RowQuery): Promise<readonly Row[]> {
    return this.#look(() => this.#projections.rows(table, query));
  }

  async takeLease(stream: string, holder: string): Promise<Lease> {
    this.#requireOpen();
    const lease = await this.#commits.add(() => this.#streams.takeLease(stream, holder));
    this.#streams.cleanse(lease);
    return lease;
  }

  async releaseLease(lease: Lease): Promise<void> {
    this.#requireOpen();
    await this.#commits.add(() => this.#streams.releaseLease(lease));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#commits.flush();
    this.#closing.abort();
    this.#database.close();
  }

  #store({ append, data, created }: PendingAppend): readonly StoredEvent[] {
    const { stream } = append;
    const state = this.#streams.state(stream);
    this.#check(append, state.version);
    if ("error" in data) throw data.error;
    if (append.events.length === 0) return [];

    const events = append.events.map(({ type, data: facts }, index) => ({
      seq: this.#head + 1 + index,
      stream,
      version: state.version + 1 + index,
      typeVersion: 1,
      actor: append.actor,
      ...(append.traceId === undefined ? {} : { traceId: append.traceId }),
      approximateCreationTime: created,
      type,
      data: facts,
    })) as StoredEvent[];
    const id = this.#streams.idOf(stream);
    for (const [index, event] of events.entries()) insertEvent(this.#database, id, event, data.value[index]!);
    for (const event of events) this.#projections.apply(event);

    this.#streams.advance(stream, { ...state, id, version: state.version + events.length });
    this.#head += events.length;
    for (const event of events) this.#appended.push(event);
    return events;
  }

  #check(append: Append, version: number): void {
    if (append.fence !== undefined) this.#streams.checkFence(append.stream, append.fence);
    const { expectedVersion } = append;
    if (expectedVersion !== undefined && expectedVersion !== version)
      throw outOfDate(append.stream, expectedVersion, version);
    for (const guard of append.guards ?? []) this.#projections.check(guard);
  }

  #watcher(): CommitWatcher {
    return {
      begun: () => this.#noticeOthers(),
      committed: () => this.#deliver(),
      abandoned: (error) => {
        this.#appended = [];
        this.#foreignCommits = undefined;
        return storeFailure("The log could not be written", error);
      },
    };
  }

  /** Forgets what is remembered of the file if anyone else has written since, or a transaction of ours was lost. */
  #noticeOthers(): void {
    const { foreignCommits } = this.#database;
    if (foreignCommits === this.#foreignCommits) return;
    this.#foreignCommits = foreignCommits;
    this.#streams.forget();
    this.#head = newestSeq(this.#database);
  }

  #deliver(): void {
    const events = this.#appended;
    this.#appended = [];
    try {
      this.#deliverForeign((events[0]?.seq ?? this.#head + 1) - 1);
    } catch (defect) {
      // They stay undelivered, and come with the next commit, from the file.
      this.#listeners.report(defect);
      return;
    }
    if (events.length === 0) return;
    this.#delivered = this.#head;
    this.#listeners.tell(events);
  }

  #deliverForeign(last: number): void {
    while (this.#delivered < last) {
      const page = readEvents(this.#database, {
        after: this.#delivered,
        limit: Math.min(1000, last - this.#delivered),
      });
      this.#delivered = page.at(-1)?.seq ?? last;
      this.#listeners.tell(page);
    }
  }

  #look<T>(read: () => T): T {
    this.#requireOpen();
    try {
      return read();
    } catch (error) {
      throw readFailure("The log could not be read", error);
    }
  }

  #requireOpen(): void {
    if (this.#closed) throw new CorralError("log.closed", "The log is closed.");
  }
}

interface PendingAppend {
  readonly append: Append;
  readonly data: { readonly value: readonly string[] } | { readonly error: unknown };
  readonly created: string;
}

function transactionOf(database: Database): Transaction {
  return {
    begin: () => database.run("BEGIN IMMEDIATE"),
    commit: () => database.run("COMMIT"),
    rollback: () => database.run("ROLLBACK"),
    savepoint: () => database.run("SAVEPOINT piece"),
    release: () => database.run("RELEASE piece"),
    undo: () => {
      database.run("ROLLBACK TO piece");
      database.run("RELEASE piece");
    },
    get isOpen() {
      return database.inTransaction;
    },
  };
}

function toJson(event: Append["events"][number]): string {
  return JSON.stringify(event.data);
}

function attempt<T>(work: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

function outOfDate(stream: string, expected: number, found: number): CorralError {
  return new CorralError("append.conflict", `Expected ${stream} at version ${expected}, but it is at ${found}.`, {
    hint: "Read what was appended meanwhile and decide anew.",
  });
}
