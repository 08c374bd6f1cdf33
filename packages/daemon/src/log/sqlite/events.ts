import type { StoredEvent } from "@corral/protocol";
import type { ReadRange } from "../port.ts";
import type { Cell, Database } from "./database.ts";

const defaultLimit = 1000;
/** A page ends early rather than hold more characters of data than this. */
const pageCharacters = 4_000_000;

const columns = "e.seq, s.name, e.version, e.type, e.type_version, e.data, e.actor, e.trace_id, e.created";
// CROSS JOIN keeps the events outside and in seq order.
const inLog = `SELECT ${columns} FROM events e CROSS JOIN streams s ON s.id = e.stream
  WHERE e.seq > ? ORDER BY e.seq LIMIT ?`;
const inStream = `SELECT ${columns} FROM streams s CROSS JOIN events e INDEXED BY events_by_stream ON e.stream = s.id
  WHERE s.name = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`;

export function readEvents(database: Database, range: ReadRange): readonly StoredEvent[] {
  const limit = range.limit ?? defaultLimit;
  const rows =
    range.stream === undefined
      ? database.each(inLog, range.after, limit)
      : database.each(inStream, range.stream, range.after, limit);
  const page: StoredEvent[] = [];
  let characters = 0;
  for (const row of rows) {
    page.push(fromRow(row));
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

export function newestSeq(database: Database): number {
  return (database.first("SELECT max(seq) FROM events")?.[0] ?? 0) as number;
}

/** Types this program does not know are given as they are: whoever reads keeps and skips them. */
function fromRow(row: readonly Cell[]): StoredEvent {
  const [seq, stream, version, type, typeVersion, data, actor, traceId, created] = row;
  return {
    seq,
    stream,
    version,
    type,
    typeVersion,
    data: JSON.parse(data as string) as unknown,
    actor,
    ...(traceId === null ? {} : { traceId }),
    approximateCreationTime: created,
  } as StoredEvent;
}
