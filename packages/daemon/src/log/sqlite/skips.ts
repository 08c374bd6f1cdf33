/**
 * Seqs that are passed over.
 *
 * The seqs of a home never go back, or a reader would wait at its cursor while other events get the numbers it has seen.
 * A log that takes the place of another begins behind all that the other gave, and one seq further, so that the cursor
 * of every reader of the other lies before the end of the skip: it gets a gap.
 */
import type { Database } from "./database.ts";

/** Begins behind `given`, the highest seq that any log in this place gave. */
export function skipPast(database: Database, given: number, head: number): void {
  if (given > head) database.run("INSERT INTO skips (first, last) VALUES (?, ?)", head + 1, given + 1);
}

/** The end of the skip that holds the seq; 0 when none does. */
export function skipHolding(database: Database, seq: number): number {
  const skip = database.first("SELECT last FROM skips WHERE first <= ? ORDER BY first DESC LIMIT 1", seq);
  const last = (skip?.[0] ?? 0) as number;
  return last >= seq ? last : 0;
}

/** The newest seq that was passed over. */
export function skippedUpTo(database: Database): number {
  return (database.first("SELECT last FROM skips ORDER BY first DESC LIMIT 1")?.[0] ?? 0) as number;
}

/** The seq that lies so many places before the end when places that were passed over do not count. */
export function placeBefore(database: Database, end: number, places: number): number {
  const skip = database.first("SELECT first, last FROM skips WHERE first < ? ORDER BY first DESC LIMIT 1", end);
  const [first, last] = (skip ?? [-Infinity, -Infinity]) as readonly [number, number];
  return last < end - places ? end - places : placeBefore(database, first, places - (end - last - 1));
}
