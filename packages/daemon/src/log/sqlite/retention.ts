import type { Cut } from "../port.ts";
import { keepWhole } from "./chain.ts";
import type { Database } from "./database.ts";

/** Events looked at in one transaction: a pause of a few milliseconds. */
const slice = 1000;

/** The seq up to which events may be missing; above it there are no holes. */
export function trimmedUpTo(database: Database): number {
  return (database.first("SELECT seq FROM marks WHERE name = 'trimmed'")?.[0] ?? 0) as number;
}

/** The seq of the last event of the stream that was trimmed; 0 when it is whole. */
export function trimmedOf(database: Database, stream: string): number {
  return (database.first("SELECT trimmed_seq FROM streams WHERE name = ?", stream)?.[0] ?? 0) as number;
}

/**
 * Removes the next of the events to go, and marks what is missing in the same transaction. `from` is the seq to begin
 * after, that of the slice before; undefined when there is nothing left to look at.
 */
export function trimSlice(
  database: Database,
  cut: Cut,
  from: number,
): { readonly removed: number; readonly from: number | undefined } {
  const looked = Array.from(
    database.each(
      "SELECT seq, stream, version FROM events WHERE seq > ? AND seq < ? ORDER BY seq LIMIT ?",
      from,
      cut.before,
      slice,
    ),
    ([seq, stream, version]) => ({ seq, stream, version }) as Place,
  );
  const streams = new Set(looked.map(({ stream }) => stream));
  const kept = new Set([...streams].filter((stream) => cut.keep?.(nameOf(database, stream)) === true));
  const going = looked.filter(({ stream }) => !kept.has(stream));
  for (const { seq } of going) {
    keepWhole(database, seq);
    database.run("DELETE FROM events WHERE seq = ?", seq);
  }
  for (const last of lastOfEach(going).values()) markStream(database, last);
  const isLast = looked.length < slice;
  markLog(database, isLast ? cut.before - 1 : looked.at(-1)!.seq);
  return { removed: going.length, from: isLast ? undefined : looked.at(-1)!.seq };
}

interface Place {
  readonly seq: number;
  readonly stream: number;
  readonly version: number;
}

function nameOf(database: Database, stream: number): string {
  return database.first("SELECT name FROM streams WHERE id = ?", stream)?.[0] as string;
}

function lastOfEach(places: readonly Place[]): Map<number, Place> {
  return new Map(places.map((place) => [place.stream, place]));
}

function markStream(database: Database, { seq, stream, version }: Place): void {
  database.run("UPDATE streams SET trimmed_seq = ?, trimmed_version = ? WHERE id = ?", seq, version, stream);
}

function markLog(database: Database, seq: number): void {
  database.run("UPDATE marks SET seq = max(seq, ?) WHERE name = 'trimmed'", seq);
}
