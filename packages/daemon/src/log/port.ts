import type { Delta, Gap, NewEvent, SessionId, StoredEvent, TraceId } from "@corral/protocol";
import type { ChainRecord } from "./chain.ts";

/**
 * The durable log: every driver keeps these promises, and `conformance.ts` holds them to it.
 *
 * 1. An acknowledged append survives power loss. Nothing is acknowledged before it is synced.
 * 2. `seq` is global and gapless for readers: whoever has seen seq N has been able to see all below N. What was removed
 *    since is told of as a gap, never left out in silence. It never goes back: a log that takes the place of another, as a
 *    backup does, goes on behind it, and the seqs in between are a gap.
 * 3. The events of one append are stored whole or not at all, next to each other, in the order given,
 *    together with what the projections make of them.
 * 4. Appends made in order by one caller, without waiting in between, are stored in that order; once
 *    one of a lease's appends is refused, no later one under the same fence is taken.
 * 5. Events are stored with their type's version and given out lifted to the present one. Unknown types and versions of
 *    a newer program are kept and given out as they are; projections skip them.
 *
 * 6. Every event is linked to the one before it (`chain.ts`), in the transaction that stores it. Neither erasing nor trimming
 *    nor a backup nor a restore breaks the chain; events older than it are told apart by where it begins. For that, an event's data
 *    is kept as the very text that was written.
 *
 * Where a driver is free: how commits are shared, how large a page is, how it learns of other writers and how soon
 * (whatever they commit arrives in order and without loss), how it stores projections, what a backup looks like, and
 * how it makes erased data unreadable.
 */
export interface Log {
  /**
   * Resolves when durable. Rejects with `append.conflict` (version or guard) or `lease.stale` and stores nothing then; with
   * `log.full`, `log.unwritable` or `log.damaged` when the store fails.
   */
  append(append: Append): Promise<readonly StoredEvent[]>;

  /**
   * A page of events in seq order, `after` excluded; an empty one means the end for now. Where events were trimmed the
   * page is the gap in their place, and the reader goes on after its `to`. Rejects with `cursor.ahead` for what no reader
   * of this log can have seen.
   */
  read(range: ReadRange): Promise<Page>;

  /**
   * History after the cursor, then live, without loss or repeat at the handover; what was trimmed comes as a gap. Ends
   * when the signal aborts. A reader that falls further behind than the driver's bound gets `log.reader-too-slow`
   * thrown into its loop; it may come back by cursor. Nobody else notices.
   */
  tail(cursor: { readonly after: number; readonly stream?: string }, signal: AbortSignal): AsyncIterable<Page>;

  /**
   * Called after each commit with its events, in seq order, and with those of other processes once noticed. An empty batch
   * says that some were trimmed before they could be told; whoever must know reads. A listener that throws disturbs nobody.
   * Returns the way to stop.
   */
  onCommit(listener: (events: readonly StoredEvent[]) => void): () => void;

  /**
   * What is stored at each place of the chain, as it is, for whoever goes over it with `verifyChain`: a page in seq order, an
   * empty one at the end. Judges nothing, and leaves out nothing that was put there or taken away by hand.
   */
  chain(range: ChainRange): Promise<readonly ChainRecord[]>;

  /** The newest link with its seq; one to keep elsewhere. */
  newestLink(): Promise<{ readonly seq: number; readonly link: string }>;

  /** The seq of the newest durable event, or the one before the next where seqs were passed over; 0 for an empty log. */
  head(): Promise<number>;

  /** The seq at which the newest so many begin, trimmed ones counted and passed over ones not; below 1 when there are fewer. */
  newest(count: number): Promise<number>;

  /** One row of a projection, as of the newest commit. */
  row(table: string, key: string): Promise<Row | undefined>;

  /**
   * Rows of a projection by equality, in order. One of its indexes must begin with the columns asked for and go on with
   * `orderBy`, or end there when the order is that of the key (the default); else the question is refused, for it would
   * cost more the longer the log is.
   */
  rows(table: string, query?: RowQuery): Promise<readonly Row[]>;

  /**
   * How many rows of a projection have each value of a column, without reading them. One of its indexes must begin with the columns
   * asked for and go on with that one.
   */
  counts(table: string, query: CountQuery): Promise<ReadonlyMap<Value, number>>;

  /**
   * Rows of a projection with a full text that have all the words in it, the best first, as of the newest commit. Letters are compared
   * without case and accents, the last word by its beginning; nothing in the words is an operator. Words of scripts without spaces
   * between words are found wherever they stand. May take a while when much was appended since the last search.
   */
  search(table: string, query: SearchQuery): Promise<readonly Hit[]>;

  /**
   * Takes the lease of a stream from whoever holds it. The fence is larger than every fence given
   * before for this stream, across restarts; appends under an older fence are refused from now on.
   */
  takeLease(stream: string, holder: string, terms?: LeaseTerms): Promise<Lease>;

  /** Takes the lease unless another holder has it. The same holder gets it anew, with a new fence. */
  tryLease(stream: string, holder: string, terms?: LeaseTerms): Promise<LeaseAnswer>;

  /**
   * Lets the lease's time begin anew. Rejects with `lease.stale` when it was lost, given back or has run out.
   */
  renewLease(lease: Lease): Promise<void>;

  /** Gives the lease back; later appends under its fence are refused. Harmless when it is stale already. */
  releaseLease(lease: Lease): Promise<void>;

  /**
   * Removes old events, a little at a time, so that others get their turn; interrupted, it has removed the oldest.
   * Readers with an older cursor get a gap, streams keep their version, projections their rows.
   *
   * A projection that is rebuilt afterwards (its version was raised) begins with its old rows, columns matched by name, and
   * goes over the events that are left: for keys written by the events of one stream only, as they should be, that gives what
   * a rebuild from all events would. One that is new begins with what is left.
   */
  trim(cut: Cut): Promise<{ readonly removed: number }>;

  /**
   * Makes a stream's facts unreadable for good, in everything the store keeps (copies made before are the
   * caller's to delete): each event becomes one of type `erased` in its place, rows that its events made are dropped, its
   * lease is lost, and `stream.erased` ends it, which is also how followers and the live lane learn of it. Resolves when
   * nothing is left on disk; when it rejects, erasing again finishes. May hold up the log while the store is rewritten.
   */
  erase(stream: string, by: By): Promise<{ readonly erased: number }>;

  /** Writes a consistent copy, durable and whole once the file is there, while everything goes on. Tells what is in it. */
  backup(to: string): Promise<Copied>;

  readonly live: LiveLane;

  /** Finishes accepted appends, then closes. Later calls reject with `log.closed`. */
  close(): Promise<void>;
}

/** Events in seq order, or the gap in the place of trimmed ones. */
export type Page = readonly StoredEvent[] | Gap;

export function isGap(page: Page): page is Gap {
  return "kind" in page;
}

/** On whose behalf something is recorded. */
export interface By {
  readonly actor: string;
  /** The trace of the request that it comes of. */
  readonly traceId?: TraceId;
}

export interface Append extends By {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  /** The version the stream must have (0: it must not exist yet). */
  readonly expectedVersion?: number;
  /** The append is refused unless this is the stream's newest fence and its lease is held. */
  readonly fence?: number;
  /**
   * When a version or guard does not hold, the fence stays good all the same: for whoever waits for the answer and then
   * decides anew.
   */
  readonly tentative?: boolean;
  /** Each must hold inside the transaction, before this append's own events are projected. */
  readonly guards?: readonly Guard[];
}

/** `is: null`: no row with this key. Otherwise a row with at least these values. */
export interface Guard {
  readonly table: string;
  readonly key: string;
  readonly is: Readonly<Record<string, Value>> | null;
}

export interface ReadRange {
  readonly after: number;
  readonly stream?: string;
  /** At most this many events; the driver may give fewer, but none only at the end. Default 1,000. */
  readonly limit?: number;
}

/** Without `after`: where the chain begins. */
export interface ChainRange {
  readonly after: number | undefined;
  /** At most this many places; the driver may give fewer, but none only at the end. */
  readonly limit?: number;
}

export interface Lease {
  readonly stream: string;
  readonly fence: number;
  readonly holder: string;
}

/**
 * A lease with a time is lost when it is not renewed within it; one without is held until it is given back or taken.
 * Time is that of a monotonic clock, counted by each opened log for itself from when it learnt of the lease or of its last
 * renewal: neither sleep nor a stopped machine nor a restart uses it up, and no two clocks are ever compared.
 */
export interface LeaseTerms {
  readonly ttlMs?: number;
}

export type LeaseAnswer =
  | { readonly kind: "taken"; readonly lease: Lease }
  | { readonly kind: "held"; readonly by: string };

export interface Cut {
  /** Events with a smaller seq go ... */
  readonly before: number;
  /** ... except those of streams for which this is true: unfinished ones, and those that others build on. */
  readonly keep?: (stream: string) => boolean;
}

/** What a copy of the log holds. */
export interface Copied {
  readonly events: number;
  /** The seq of the newest. */
  readonly head: number;
}

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

export interface RowQuery {
  readonly where?: Readonly<Record<string, Value>>;
  readonly orderBy?: string;
  readonly limit?: number;
}

export interface CountQuery {
  readonly where: Readonly<Record<string, Value>>;
  readonly by: string;
}

export interface SearchQuery {
  readonly words: string;
  readonly where?: Readonly<Record<string, Value>>;
  readonly limit: number;
}

export interface Hit {
  readonly row: Row;
  /** The part of the text around the words, in order. */
  readonly pieces: readonly { readonly text: string; readonly isHit: boolean }[];
}

/**
 * A projection is a pure function from one event to keyed changes, without reads, so that any driver
 * can run it inside the append's transaction and rebuild it from the log at any time. A row belongs to the stream
 * whose event made it and goes with that stream when it is erased; write a key from the events of one stream only.
 */
export interface Projection {
  readonly table: string;
  /** Column name to its type. The key column is `key`, always text, and not listed. */
  readonly columns: Readonly<Record<string, "text" | "integer">>;
  /** Runs of columns: first those that `rows` asks for by equality, then the one it orders by. The key always comes last. */
  readonly indexes?: readonly (readonly string[])[];
  /**
   * The text column that `search` looks in. Such a table is brought up to date when it is searched, so that appends pay
   * nothing for it; `row`, `rows` and guards are not for it.
   */
  readonly fullText?: string;
  /** Raise it when `changes` or the columns change their meaning: the table is then rebuilt from the log. */
  readonly version: number;
  changes(event: StoredEvent): readonly Change[];
}

/**
 * `set` writes the named columns and leaves the others (null when the row is new). A number in an integer column is rounded, and no
 * larger than JavaScript counts exactly; what is no number there is null.
 */
export type Change =
  | { readonly key: string; readonly set: Readonly<Record<string, Value>> }
  | { readonly key: string; readonly delete: true }
  /** Every row that events of the same stream made. */
  | { readonly deleteAll: true };

/**
 * Beside the log: deltas of growing parts, unstored. The lane remembers the text so far of each open
 * part (bounded), so that a new subscriber starts from the beginning of the part. It closes a part
 * by itself when the event that repeats the whole commits, or the turn or call it belongs to ends.
 */
export interface LiveLane {
  emit(delta: Delta): void;
  /** Deltas batched by a few milliseconds; begins with the text so far of every open part of the session (or of all). */
  subscribe(filter: { readonly session?: SessionId }, listener: (deltas: readonly Delta[]) => void): () => void;
}
