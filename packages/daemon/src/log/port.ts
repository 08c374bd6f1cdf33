import type { Delta, NewEvent, SessionId, StoredEvent, TraceId } from "@corral/protocol";

/**
 * The durable log: every driver keeps these promises, and `conformance.ts` holds them to it.
 *
 * 1. An acknowledged append survives power loss. Nothing is acknowledged before it is synced.
 * 2. `seq` is global and gapless for readers: whoever has seen seq N has been able to see all below N.
 * 3. The events of one append are stored whole or not at all, next to each other, in the order given,
 *    together with what the projections make of them.
 * 4. Appends made in order by one caller, without waiting in between, are stored in that order; once
 *    one of a lease's appends is refused, no later one under the same fence is taken.
 */
export interface Log {
  /** Resolves when durable. Rejects with `append.conflict` (version or guard) or `lease.stale` and stores nothing then. */
  append(append: Append): Promise<readonly StoredEvent[]>;

  /** A page of events in seq order, `after` excluded. An empty page means the end for now. */
  read(range: ReadRange): Promise<readonly StoredEvent[]>;

  /**
   * History after the cursor, then live, without gap or repeat at the handover. Ends when the signal
   * aborts. A reader that falls further behind than the driver's bound gets `log.reader-too-slow`
   * thrown into its loop; it may come back by cursor. Nobody else notices.
   */
  tail(
    cursor: { readonly after: number; readonly stream?: string },
    signal: AbortSignal,
  ): AsyncIterable<readonly StoredEvent[]>;

  /** Called after each commit with its events, in seq order. A listener that throws disturbs nobody. Returns the way to stop. */
  onCommit(listener: (events: readonly StoredEvent[]) => void): () => void;

  /** The seq of the newest durable event; 0 for an empty log. */
  head(): Promise<number>;

  /** One row of a projection, as of the newest commit. */
  row(table: string, key: string): Promise<Row | undefined>;

  /** Rows of a projection by equality on indexed columns, ordered by `orderBy` (default: the key). */
  rows(table: string, query?: RowQuery): Promise<readonly Row[]>;

  /**
   * Takes the lease of a stream from whoever holds it. The fence is larger than every fence given
   * before for this stream, across restarts; appends under an older fence are refused from now on.
   */
  takeLease(stream: string, holder: string): Promise<Lease>;

  /** Gives the lease back; later appends under its fence are refused. Harmless when it is stale already. */
  releaseLease(lease: Lease): Promise<void>;

  readonly live: LiveLane;

  /** Finishes accepted appends, then closes. Later calls reject with `log.closed`. */
  close(): Promise<void>;
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

export interface Lease {
  readonly stream: string;
  readonly fence: number;
  readonly holder: string;
}

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

export interface RowQuery {
  readonly where?: Readonly<Record<string, Value>>;
  readonly orderBy?: string;
  readonly limit?: number;
}

/**
 * A projection is a pure function from one event to keyed changes, without reads, so that any driver
 * can run it inside the append's transaction and rebuild it from the log at any time.
 */
export interface Projection {
  readonly table: string;
  /** Column name to its type. The key column is `key`, always text, and not listed. */
  readonly columns: Readonly<Record<string, "text" | "integer">>;
  /** Columns (or runs of them) that `rows` filters by or orders by. */
  readonly indexes?: readonly (readonly string[])[];
  /** Raise it when `changes` or the columns change their meaning: the table is then rebuilt from the log. */
  readonly version: number;
  changes(event: StoredEvent): readonly Change[];
}

/** `set` writes the named columns and leaves the others (null when the row is new). */
export type Change =
  | { readonly key: string; readonly set: Readonly<Record<string, Value>> }
  | { readonly key: string; readonly delete: true };

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
