/**
 * The durable log on SQLite.
 *
 * All writing goes through the group commit, so it happens in the order it was asked for, and a transaction begins and
 * ends within one synchronous stretch: no read ever sees half of one. What seq comes next, and who has heard of what,
 * is the frontier's.
 */
import { CorralError, event, type Lifts, type NewEvent, type StoredEvent, versionOf } from "@corral/protocol";
import { AwakeClock } from "../awake-clock.ts";
import { Listeners } from "../listeners.ts";
import type { ChainRecord, WrittenEvent } from "../chain.ts";
import { CommitClosedLane } from "../live.ts";
import type {
  Append,
  ChainRange,
  Copied,
  Cut,
  Hit,
  Lease,
  LeaseAnswer,
  LeaseTerms,
  LiveLane,
  Log,
  Page,
  Projection,
  ReadRange,
  Row,
  RowQuery,
  CountQuery,
  Value,
  SearchQuery,
} from "../port.ts";
import { defaultTailLimits, follow, type TailCursor, type TailLimits } from "../tail.ts";
import { backUp } from "./backup.ts";
import { insertLink, newestLink, readChain } from "./chain.ts";
import { type Database, isStoreFault } from "./database.ts";
import { eraseFacts, leaveNoTrace } from "./erasure.ts";
import { insertEvent, newestSeq, readEvents } from "./events.ts";
import { asError, readFailure, storeFailure } from "./failures.ts";
import { type ForeignWatch, watchForeign } from "./foreign.ts";
import { Frontier } from "./frontier.ts";
import { GroupCommit } from "./group-commit.ts";
import type { Projections } from "./projections.ts";
import { trimSlice } from "./retention.ts";
import { placeBefore } from "./skips.ts";
import { Streams } from "./streams.ts";
import { transactionOf } from "./transaction.ts";

export interface SqliteLogOptions {
  readonly file: string;
  readonly projections: readonly Projection[];
  /** Hears what listeners throw. Default: a process warning. */
  readonly onDefect?: (defect: unknown) => void;
  /** Told once, of the first bad place that is met in the file. */
  readonly onDamage?: (damage: CorralError) => void;
  readonly now?: () => Date;
  /** Milliseconds for leases; they stand still while the machine sleeps. */
  readonly clock?: () => number;
  readonly tailLimits?: TailLimits;
  readonly lifts?: Lifts;
  /** The highest seq that other logs gave in this place; this one goes on behind it. */
  readonly given?: number;
}

export class SqliteLog implements Log {
  readonly live: LiveLane;
  readonly #file: string;
  readonly #database: Database;
  readonly #projections: Projections;
  readonly #streams: Streams;
  readonly #frontier: Frontier;
  readonly #commits: GroupCommit;
  readonly #listeners: Listeners<readonly StoredEvent[]>;
  readonly #foreign: ForeignWatch;
  readonly #now: () => Date;
  readonly #tailLimits: TailLimits;
  readonly #lifts: Lifts | undefined;
  readonly #closing = new AbortController();
  readonly #onDamage: ((damage: CorralError) => void) | undefined;
  #isDamaged = false;
  #closed = false;

  constructor(database: Database, projections: Projections, options: SqliteLogOptions) {
    const onDefect = options.onDefect ?? ((defect) => process.emitWarning(asError(defect)));
    this.#file = options.file;
    this.#database = database;
    this.#projections = projections;
    this.#lifts = options.lifts;
    this.#onDamage = options.onDamage;
    const awake = new AwakeClock();
    const clock = options.clock ?? (() => awake.now());
    this.#streams = new Streams(database, clock);
    this.#listeners = new Listeners(onDefect);
    this.#frontier = new Frontier(database, this.#streams, this.#listeners, options.lifts);
    this.#commits = new GroupCommit(transactionOf(database), this.#frontier);
    this.#now = options.now ?? (() => new Date());
    this.#tailLimits = options.tailLimits ?? defaultTailLimits;
    this.live = new CommitClosedLane(this, { onDefect });
    this.#foreign = watchForeign(options.file, () => {
      clock();
      this.#frontier.catchUp();
    });
  }

  async append(append: Append): Promise<readonly StoredEvent[]> {
    // Serialised now, so that data that cannot be stored costs the shared transaction nothing.
    const pending = { append, data: attempt(() => append.events.map(toJson)), created: this.#now().toISOString() };
    return this.#write(
      () => this.#store(pending),
      (error) => {
        const isForgiven = append.tentative === true && isConflict(error);
        if (append.fence !== undefined && !isForgiven) this.#streams.spoil(append.stream, append.fence, error);
      },
    );
  }

  async read(range: ReadRange): Promise<Page> {
    return this.#look(() => readEvents(this.#database, range, this.#lifts));
  }

  async *tail(cursor: TailCursor, signal: AbortSignal): AsyncGenerator<Page, void, undefined> {
    this.#requireOpen();
    yield* follow(this, cursor, AbortSignal.any([signal, this.#closing.signal]), this.#tailLimits);
    if (!signal.aborted) this.#requireOpen();
  }

  onCommit(listener: (events: readonly StoredEvent[]) => void): () => void {
    return this.#listeners.add(listener);
  }

  async chain(range: ChainRange): Promise<readonly ChainRecord[]> {
    return this.#look(() => readChain(this.#database, range));
  }

  async newestLink(): Promise<{ readonly seq: number; readonly link: string }> {
    return this.#look(() => newestLink(this.#database));
  }

  async head(): Promise<number> {
    return this.#look(() => newestSeq(this.#database));
  }

  async newest(count: number): Promise<number> {
    return this.#look(() => placeBefore(this.#database, newestSeq(this.#database) + 1, count));
  }

  async row(table: string, key: string): Promise<Row | undefined> {
    return this.#look(() => this.#projections.row(table, key));
  }

  async rows(table: string, query?: RowQuery): Promise<readonly Row[]> {
    return this.#look(() => this.#projections.rows(table, query));
  }

  async counts(table: string, query: CountQuery): Promise<ReadonlyMap<Value, number>> {
    return this.#look(() => this.#projections.counts(table, query));
  }

  async search(table: string, query: SearchQuery): Promise<readonly Hit[]> {
    // A page at a time, so that others get their turn.
    while (!(await this.#write(() => this.#projections.catchUp(table)))) this.#requireOpen();
    return this.#look(() => this.#projections.search(table, query));
  }

  async takeLease(stream: string, holder: string, terms?: LeaseTerms): Promise<Lease> {
    const lease = await this.#write(() => this.#streams.takeLease(stream, holder, terms));
    this.#streams.cleanse(lease);
    return lease;
  }

  async tryLease(stream: string, holder: string, terms?: LeaseTerms): Promise<LeaseAnswer> {
    const answer = await this.#write(() => this.#streams.tryLease(stream, holder, terms));
    if (answer.kind === "taken") this.#streams.cleanse(answer.lease);
    return answer;
  }

  async renewLease(lease: Lease): Promise<void> {
    await this.#write(() => this.#streams.renewLease(lease));
  }

  async releaseLease(lease: Lease): Promise<void> {
    await this.#write(() => this.#streams.releaseLease(lease));
  }

  async trim(cut: Cut): Promise<{ readonly removed: number }> {
    let removed = 0;
    let from: number | undefined = 0;
    while (from !== undefined) {
      const slice = await this.#trimSlice(cut, from);
      removed += slice.removed;
      from = slice.from;
    }
    return { removed };
  }

  async erase(
    stream: string,
    { actor, traceId }: { readonly actor: string; readonly traceId?: string },
  ): Promise<{ readonly erased: number }> {
    const end: Append = { stream, actor, events: [event("stream.erased", {})], ...(traceId && { traceId }) };
    const created = this.#now().toISOString();
    const erased = await this.#write(
      () => this.#eraseFacts(end, created),
      () => this.#streams.forget(),
    );
    if (erased !== undefined) await leaveNoTrace(this.#database, () => this.#requireOpen());
    return { erased: erased ?? 0 };
  }

  async backup(to: string): Promise<Copied> {
    this.#requireOpen();
    return backUp(this.#file, to);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#foreign.stop();
    this.#commits.flush();
    this.#closing.abort();
    this.#database.close();
  }

  /** The one way to write: as a piece of the next shared transaction. */
  async #write<T>(piece: () => T, refused?: (error: unknown) => void): Promise<T> {
    this.#requireOpen();
    return this.#commits.add(() => {
      try {
        return piece();
      } catch (error) {
        throw isStoreFault(error) ? this.#noted(storeFailure("The log could not be written", error)) : error;
      }
    }, refused);
  }

  #store({ append, data, created }: PendingAppend): readonly StoredEvent[] {
    const { stream } = append;
    const state = this.#streams.state(stream);
    this.#check(append, state.version);
    if ("error" in data) throw data.error;
    if (append.events.length === 0) return [];

    const place = { seq: this.#frontier.head + 1, version: state.version + 1, created };
    const events = append.events.map((each, index) => this.#placed(each, index, append, place));
    const { id, salt } = this.#streams.identityOf(stream);
    let { link } = this.#frontier;
    for (const [index, stored] of events.entries()) {
      const json = data.value[index]!;
      insertEvent(this.#database, id, stored, json);
      link = insertLink(this.#database, link, stored.seq, salt, writtenAs(stored, json));
    }
    for (const stored of events) this.#projections.apply(stored, id);

    const version = state.version + events.length;
    this.#streams.advance(stream, { ...this.#streams.state(stream), id, salt, version });
    this.#frontier.advance(events, link);
    return events;
  }

  #placed({ type, data }: NewEvent, index: number, append: Append, first: Place): StoredEvent {
    return {
      seq: first.seq + index,
      stream: append.stream,
      version: first.version + index,
      typeVersion: versionOf(type, this.#lifts),
      actor: append.actor,
      ...(append.traceId === undefined ? {} : { traceId: append.traceId }),
      approximateCreationTime: first.created,
      type,
      data,
    } as StoredEvent;
  }

  #check(append: Append, version: number): void {
    if (append.fence !== undefined) this.#streams.checkFence(append.stream, append.fence);
    const { expectedVersion } = append;
    if (expectedVersion !== undefined && expectedVersion !== version)
      throw outOfDate(append.stream, expectedVersion, version);
    for (const guard of append.guards ?? []) this.#projections.check(guard);
  }

  #trimSlice(cut: Cut, from: number): Promise<ReturnType<typeof trimSlice>> {
    return this.#write(() => {
      const before = Math.min(cut.before, this.#frontier.head + 1);
      return trimSlice(this.#database, { ...cut, before }, from);
    });
  }

  /** Undefined when there never was such a stream. */
  #eraseFacts(end: Append, created: string): number | undefined {
    const { id } = this.#streams.state(end.stream);
    if (id === undefined) return undefined;
    const { erased, rows } = eraseFacts(this.#database, this.#projections, id);
    if (erased + rows === 0) return 0;
    this.#streams.revokeLease(end.stream);
    this.#streams.resalt(end.stream);
    this.#store({ append: end, data: { value: ["{}"] }, created });
    return erased;
  }

  #look<T>(read: () => T): T {
    this.#requireOpen();
    try {
      return read();
    } catch (error) {
      throw this.#noted(readFailure("The log could not be read", error));
    }
  }

  /** Whoever minds the file hears of the first damage, which is the one that tells most. */
  #noted(failure: unknown): unknown {
    const isNews = failure instanceof CorralError && failure.code === "log.damaged" && !this.#isDamaged;
    if (!isNews) return failure;
    this.#isDamaged = true;
    this.#onDamage?.(failure);
    return failure;
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

/** Where the first event of an append goes. */
interface Place {
  readonly seq: number;
  readonly version: number;
  readonly created: string;
}

function writtenAs(stored: StoredEvent, data: string): WrittenEvent {
  const { stream, version, type, typeVersion, actor, traceId = null, approximateCreationTime: time } = stored;
  return { stream, version, type, typeVersion, data, actor, traceId, time };
}

function toJson(each: NewEvent): string {
  return JSON.stringify(each.data);
}

function attempt<T>(work: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof CorralError && error.code === "append.conflict";
}

function outOfDate(stream: string, expected: number, found: number): CorralError {
  return new CorralError("append.conflict", `Expected ${stream} at version ${expected}, but it is at ${found}.`, {
    hint: "Read what was appended meanwhile and decide anew.",
  });
}
