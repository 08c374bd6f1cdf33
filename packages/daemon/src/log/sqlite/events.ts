import { type CorralError, lift, type Lifts, type StoredEvent } from "@corral/protocol";
import { cursorAhead } from "../cursor.ts";
import type { Page, ReadRange } from "../port.ts";
import type { Cell, Database } from "./database.ts";
import { damaged } from "./failures.ts";
import { trimmedOf, trimmedUpTo } from "./retention.ts";
import { skipHolding, skippedUpTo } from "./skips.ts";

const defaultLimit = 1000;
/** A page ends early rather than hold more characters of data than this. */
const pageCharacters = 4_000_000;

const columns = "e.seq, s.name, e.version, e.type, e.type_version, e.data, e.actor, e.trace_id, e.created";
// CROSS JOIN keeps the events outside and in seq order.
const inLog = `SELECT ${columns} FROM events e CROSS JOIN streams s ON s.id = e.stream
  WHERE e.seq > ? ORDER BY e.seq LIMIT ?`;
const inStream = `SELECT ${columns} FROM streams s CROSS JOIN events e INDEXED BY events_by_stream ON e.stream = s.id
  WHERE s.name = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`;

/** A page, or the gap it would begin with. Marks are looked up after rows, so that none is missed that another process sets. */
export function readEvents(database: Database, range: ReadRange, lifts?: Lifts): Page {
  return range.stream === undefined
    ? readLog(database, range, lifts)
    : readStream(database, range.stream, range, lifts);
}

/** Seqs follow each other without a hole, so a hole is one that was cut or passed over, or damage. */
function readLog(database: Database, { after, limit = defaultLimit }: ReadRange, lifts: Lifts | undefined): Page {
  const page = collect(database.each(inLog, after, limit), lifts, (seq, before) => seq === (before ?? after) + 1);
  if (page.length > 0) return page;
  const next = database.first("SELECT seq FROM events WHERE seq > ? ORDER BY seq LIMIT 1", after)?.[0];
  const cut = trimmedUpTo(database);
  const end = next === undefined ? Math.max(cut, skippedUpTo(database)) : (next as number) - 1;
  if (end <= after) return atEnd(database, after, page);
  const to = Math.min(end, Math.max(cut, skipHolding(database, after + 1)));
  if (to <= after) throw missing(after + 1, end);
  return { kind: "gap", from: after + 1, to };
}

function readStream(
  database: Database,
  stream: string,
  { after, limit = defaultLimit }: ReadRange,
  lifts: Lifts | undefined,
): Page {
  const page = collect(database.each(inStream, stream, after, limit), lifts, () => true);
  // What was passed over concerns whoever had got that far; before it and behind it the stream is whole.
  const cut = Math.max(trimmedOf(database, stream), skipHolding(database, after));
  if (after < cut) return { kind: "gap", from: after + 1, to: cut };
  return page.length > 0 ? page : atEnd(database, after, page);
}

/** The end is looked up after the rows: it only grows, so that no cursor of this log is refused. */
function atEnd(database: Database, after: number, page: Page): Page {
  const head = newestSeq(database);
  if (after > head) throw cursorAhead(after, head);
  return page;
}

function collect(
  rows: Iterable<readonly Cell[]>,
  lifts: Lifts | undefined,
  follows: (seq: number, before: number | undefined) => boolean,
): StoredEvent[] {
  const page: StoredEvent[] = [];
  let characters = 0;
  for (const row of rows) {
    if (!follows(row[0] as number, page.at(-1)?.seq)) break;
    page.push(fromRow(row, lifts));
    characters += (row[5] as string).length;
    if (characters > pageCharacters) break;
  }
  return page;
}

/** `data` is the event's data as JSON, made once. */
export function insertEvent(database: Database, streamId: number, event: StoredEvent, data: string): void {
  database.run(
    "INSERT INTO events (seq, stream, version, type, type_version, data, actor, trace_id, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    event.seq,
    streamId,
    event.version,
    event.type,
    event.typeVersion,
    data,
    event.actor,
    event.traceId ?? null,
    event.approximateCreationTime,
  );
}

/** That of the newest event, also when it was trimmed, or the newest that was passed over. */
export function newestSeq(database: Database): number {
  const newest = (database.first("SELECT seq FROM events ORDER BY seq DESC LIMIT 1")?.[0] ?? 0) as number;
  return Math.max(newest, trimmedUpTo(database), skippedUpTo(database));
}

/** Types and versions this program does not know are given as they are: whoever reads keeps and skips them. */
export function fromRow(row: readonly Cell[], lifts?: Lifts): StoredEvent {
  const [seq, stream, version, type, typeVersion, data, actor, traceId, created] = row;
  const stored = {
    seq,
    stream,
    version,
    type,
    typeVersion,
    data: parse(data as string, seq as number),
    actor,
    ...(traceId === null ? {} : { traceId }),
    approximateCreationTime: created,
  } as StoredEvent;
  return lift(stored, lifts);
}

function parse(data: string, seq: number): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw damaged(`The event with seq ${seq} cannot be read`, error);
  }
}

function missing(from: number, to: number): CorralError {
  return damaged("The log is not whole", new Error(`the events from seq ${from} to ${to} are missing`));
}
