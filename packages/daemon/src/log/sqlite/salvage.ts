/**
 * Reads what is readable of a damaged database.
 *
 * Events are read in runs, as from a whole file, until a run fails; then one by one, so that only those on bad pages are
 * left out; a step behind the bad place runs begin again. An event whose stream's name is unreadable comes under the
 * number of its stream.
 */
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import { type Lifts, type StoredEvent } from "@corral/protocol";
import { type Cell, Database } from "./database.ts";
import { fromRow } from "./events.ts";
import { damaged } from "./failures.ts";

const run = 200;
const columns = "seq, stream, version, type, type_version, data, actor, trace_id, created";

/** In seq order, each at most once. Throws `log.damaged` when not even the outline of the file can be read. */
export async function* salvage(file: string, lifts?: Lifts): AsyncGenerator<StoredEvent, void, undefined> {
  const database = openDamaged(file);
  try {
    const names = streamNames(database);
    const last = highestSeq(database);
    let position = 0;
    while (position < last) {
      const { rows, next } = readRun(database, position, last);
      for (const row of rows) {
        const event = readable(row, names, lifts);
        if (event !== undefined) yield event;
      }
      position = next;
      await nextLoopTurn();
    }
  } finally {
    database.close();
  }
}

function openDamaged(file: string): Database {
  let database: Database | undefined;
  try {
    database = new Database(file, "read");
    database.first("SELECT 1 FROM sqlite_schema WHERE name = 'events'");
    return database;
  } catch (error) {
    database?.close();
    throw damaged(`Nothing can be read from ${file}`, error);
  }
}

interface Run {
  readonly rows: readonly (readonly Cell[])[];
  /** The seq up to which nothing more can be had. */
  readonly next: number;
}

/** The next rows; where they cannot be had together, those of the same stretch that can be had alone. */
function readRun(database: Database, after: number, last: number): Run {
  const rows = attempt(() => [
    ...database.each(`SELECT ${columns} FROM events WHERE seq > ? ORDER BY seq LIMIT ?`, after, run),
  ]);
  const good = inOrder(rows ?? [], after);
  const newest = good.at(-1)?.[0];
  if (newest !== undefined) return { rows: good, next: newest as number };
  const end = Math.min(after + run, last);
  const alone: (readonly Cell[])[] = [];
  for (let seq = after + 1; seq <= end; seq++) {
    const row = attempt(() => database.first(`SELECT ${columns} FROM events WHERE seq = ?`, seq));
    if (row !== undefined) alone.push(row);
  }
  return { rows: alone, next: end };
}

/** A damaged tree may lead in circles: what does not come in order is looked for on its own. */
function inOrder(rows: readonly (readonly Cell[])[], after: number): readonly (readonly Cell[])[] {
  let position = after;
  return rows.filter(([seq]) => {
    if (typeof seq !== "number" || seq <= position) return false;
    position = seq;
    return true;
  });
}

/** The best that any way to the newest event tells; without one, more than the file can hold. */
function highestSeq(database: Database): number {
  const told = [
    attempt(() => database.first("SELECT seq FROM events ORDER BY seq DESC LIMIT 1")),
    attempt(() => database.first("SELECT max(seq) FROM events INDEXED BY events_by_stream WHERE stream >= 0")),
  ].map((row) => Number(row?.[0] ?? 0));
  const trimmed = Number(attempt(() => database.first("SELECT max(seq) FROM marks"))?.[0] ?? 0);
  const pages = Number(attempt(() => database.first("PRAGMA page_count"))?.[0] ?? 0);
  const size = Number(attempt(() => database.first("PRAGMA page_size"))?.[0] ?? 0);
  const leastBytes = 40;
  return Math.max(...told) || trimmed + Math.ceil((pages * size) / leastBytes);
}

function streamNames(database: Database): (id: number) => string {
  const known = new Map<number, string>();
  return (id) => {
    let name = known.get(id);
    if (name === undefined) {
      const found = attempt(() => database.first("SELECT name FROM streams WHERE id = ?", id))?.[0];
      name = typeof found === "string" ? found : `stream-${id}`;
      known.set(id, name);
    }
    return name;
  };
}

function readable(
  [seq, stream, ...rest]: readonly Cell[],
  names: (id: number) => string,
  lifts: Lifts | undefined,
): StoredEvent | undefined {
  return attempt(() => fromRow([seq!, names(Number(stream)), ...rest], lifts));
}

/** Undefined for what is not there and for what cannot be read. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
