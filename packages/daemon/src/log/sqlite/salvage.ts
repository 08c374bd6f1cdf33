/**
 * Reads what is readable of a damaged database.
 *
 * Events are read in runs, as from a whole file, until a run fails; then one by one, so that only those on bad pages are
 * left out; a step behind the bad place runs begin again. An event whose stream's name is unreadable comes under the
 * number of its stream. In the place of events that are not there stands a hole.
 */
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import { type Lifts, type StoredEvent } from "@corral/protocol";
import { type Cell, Database } from "./database.ts";
import { fromRow } from "./events.ts";
import { damaged } from "./failures.ts";

const run = 200;
/** Where nothing tells how far the log went, it is taken to end when so many places in a row held nothing. */
const patience = 100_000;
const columns = "seq, stream, version, type, type_version, data, actor, trace_id, created";

/** Where events are missing: `gap` when they were trimmed, `lost` when they cannot be read. */
export interface Hole {
  readonly kind: "gap" | "lost";
  readonly from: number;
  readonly to: number;
}

export interface Salvage {
  readonly readable: number;
  readonly lost: number;
  /** The newest seq that the file tells of. */
  readonly last: number;
  /** False: there may have been more events after it. */
  readonly isEndKnown: boolean;
}

/** In seq order, each at most once. Throws `log.damaged` when not even the outline of the file can be read. */
export async function* salvage(file: string, lifts?: Lifts): AsyncGenerator<StoredEvent | Hole, Salvage, undefined> {
  const database = openDamaged(file);
  try {
    const names = streamNames(database);
    const end = endOf(database);
    const gaps = gapsIn(database);
    const tally = new Tally(gaps);
    let position = 0;
    let empty = 0;
    while (position < end.limit && (end.known !== undefined || empty < patience)) {
      const before = tally.readable;
      const { rows, next } = readRun(database, position, end.limit);
      for (const row of rows) {
        const event = readable(row, names, lifts);
        if (event !== undefined) yield* tally.take(event);
      }
      empty = tally.readable > before ? 0 : empty + next - position;
      position = gapEnd(gaps, next + 1) ?? next;
      await nextLoopTurn();
    }
    yield* tally.missingUpTo(end.known ?? tally.last);
    return { readable: tally.readable, lost: tally.lost, last: tally.last, isEndKnown: end.known !== undefined };
  } finally {
    database.close();
  }
}

/** Counts what comes and what does not. */
class Tally {
  readable = 0;
  lost = 0;
  last = 0;
  readonly #gaps: readonly Stretch[];

  constructor(gaps: readonly Stretch[]) {
    this.#gaps = gaps;
  }

  *take(event: StoredEvent): Generator<StoredEvent | Hole> {
    yield* this.missingUpTo(event.seq - 1);
    this.readable += 1;
    this.last = event.seq;
    yield event;
  }

  /** Of what is missing, nobody can tell which part of it was trimmed but by how far trimming went. */
  *missingUpTo(seq: number): Generator<Hole> {
    for (let from = this.last + 1; from <= seq; from = this.last + 1) {
      const gap = gapEnd(this.#gaps, from);
      const to = Math.min(seq, gap ?? nextGap(this.#gaps, from) - 1);
      this.last = to;
      if (gap === undefined) this.lost += to - from + 1;
      yield { kind: gap === undefined ? "lost" : "gap", from, to };
    }
  }
}

interface Stretch {
  readonly first: number;
  readonly last: number;
}

/** What was trimmed, or passed over. */
function gapsIn(database: Database): readonly Stretch[] {
  const skips = attempt(() => [...database.each("SELECT first, last FROM skips")]) ?? [];
  return [
    { first: 1, last: trimmedUpTo(database) },
    ...skips.map(([first, last]) => ({ first: Number(first), last: Number(last) })),
  ];
}

/** The end of the gaps that hold the seq and follow each other from there. */
function gapEnd(gaps: readonly Stretch[], seq: number): number | undefined {
  const end = Math.max(0, ...gaps.filter(({ first, last }) => first <= seq && seq <= last).map(({ last }) => last));
  return end === 0 ? undefined : (gapEnd(gaps, end + 1) ?? end);
}

function nextGap(gaps: readonly Stretch[], seq: number): number {
  return Math.min(Infinity, ...gaps.filter(({ first }) => first > seq).map(({ first }) => first));
}

/**
 * The highest seq that the log in this file gave, for a log that takes its place; where that cannot be told, one that is
 * higher: no log gives a thousand events a second for as long as clocks have counted.
 */
export function highestGiven(file: string, now: number = Date.now()): number {
  const { known, limit } = attempt(() => outlineOf(file)) ?? { known: undefined, limit: 0 };
  return known !== undefined && known <= plausible ? known : Math.max(now, Math.min(limit, plausible));
}

/** What damage may leave in the place of a seq can be any number. */
const plausible = 1e14;

function outlineOf(file: string): End {
  const database = openDamaged(file);
  try {
    return endOf(database);
  } finally {
    database.close();
  }
}

function openDamaged(file: string): Database {
  let database: Database | undefined;
  try {
    database = new Database(file, "salvage");
    if (database.first("SELECT 1 FROM sqlite_schema WHERE name = 'events'") === undefined)
      throw new Error("it is no log of Corral's");
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

/** `known`: the best that any way to the newest event tells. `limit`: without one, more than the file can hold. */
interface End {
  readonly known: number | undefined;
  readonly limit: number;
}

function endOf(database: Database): End {
  const told = [
    attempt(() => database.first("SELECT coalesce(max(seq), 0) FROM events")),
    attempt(() => database.first("SELECT max(seq) FROM events INDEXED BY events_by_stream WHERE stream >= 0")),
  ].flatMap((row) => (typeof row?.[0] === "number" ? [row[0]] : []));
  const gone = Math.max(...gapsIn(database).map(({ last }) => last));
  if (told.length > 0) {
    const known = Math.max(...told, gone);
    return { known, limit: known };
  }
  const pages = Number(attempt(() => database.first("PRAGMA page_count"))?.[0] ?? 0);
  const size = Number(attempt(() => database.first("PRAGMA page_size"))?.[0] ?? 0);
  const leastBytes = 40;
  return { known: undefined, limit: gone + Math.ceil((pages * size) / leastBytes) };
}

function trimmedUpTo(database: Database): number {
  return Number(attempt(() => database.first("SELECT max(seq) FROM marks"))?.[0] ?? 0);
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
  if (!isPlausible(rest)) return undefined;
  return attempt(() => fromRow([seq!, names(Number(stream)), ...rest], lifts));
}

/** Where a page ends early SQLite gives zeros for the rest, as text too. */
function isPlausible([version, type, typeVersion, , actor, traceId, created]: readonly Cell[]): boolean {
  return (
    typeof version === "number" &&
    typeof typeVersion === "number" &&
    /^[a-z][\w.-]*$/i.test(String(type)) &&
    /^[^\0]+$/.test(String(actor)) &&
    (traceId === null || /^[^\0]+$/.test(String(traceId))) &&
    !Number.isNaN(Date.parse(String(created)))
  );
}

/** Undefined for what is not there and for what cannot be read. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
