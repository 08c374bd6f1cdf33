/**
 * The tables that projections are kept in, and how they come to fit the present program.
 *
 * A table that is changed is built anew: from the whole log, or, when events were trimmed, from its old rows and the
 * events that are left. A table that this program does not know stays as it was at some seq, and goes on from there
 * when a program that knows it returns: what it was made of may be trimmed meanwhile. A table with a full text is always
 * as it was at some seq, until somebody searches it.
 */
import type { Lifts, StoredEvent } from "@corral/protocol";
import { isGap, type Projection } from "../port.ts";
import { type Database, quoted } from "./database.ts";
import { newestSeq, readEvents } from "./events.ts";
import { dropFullText, makeFullText, place } from "./full-text.ts";
import { trimmedUpTo } from "./retention.ts";

/** The stream whose event made the row; beside the projection's own columns, whose names it cannot meet. */
export const owner = "stream of origin";

type Apply = (projection: Projection, event: StoredEvent) => void;

/** To be called inside a transaction. `apply` writes what one projection makes of one event. */
export function prepareTables(
  database: Database,
  projections: ReadonlyMap<string, Projection>,
  lifts: Lifts | undefined,
  apply: Apply,
): void {
  const kept = recorded(database);
  for (const [table, { until }] of kept) if (!projections.has(table) && until === null) leave(database, table);
  const wanting: { projection: Projection; after: number }[] = [];
  for (const projection of projections.values()) {
    const found = kept.get(projection.table);
    if (found?.record !== recordOf(projection)) {
      replace(database, projection);
      if (projection.fullText === undefined) wanting.push({ projection, after: 0 });
      else stand(database, projection.table, 0);
    } else if (found.until !== null && projection.fullText === undefined) {
      resume(database, projection.table);
      wanting.push({ projection, after: found.until });
    }
  }
  replay(database, wanting, lifts, apply);
}

/** One page of what the table lacks is taken in; true when it lacks nothing. To be called inside a transaction. */
export function bringForward(
  database: Database,
  projection: Projection,
  lifts: Lifts | undefined,
  apply: Apply,
): boolean {
  const { table } = projection;
  const after = database.first("SELECT until FROM projections WHERE name = ?", table)?.[0] as number | null;
  if (after === null) return true;
  const page = readEvents(database, { after }, lifts);
  if (isGap(page)) stand(database, table, page.to);
  else if (page.length === 0) return true;
  else {
    for (const event of page) apply(projection, event);
    stand(database, table, page.at(-1)!.seq);
  }
  return false;
}

/** Drops what the events of the stream made, and tables of which nobody here knows what they hold of it. */
export function dropRows(database: Database, projections: ReadonlyMap<string, Projection>, streamId: number): number {
  let dropped = 0;
  for (const [table] of recorded(database)) {
    if (!projections.has(table)) drop(database, table);
    else dropped += database.run(`DELETE FROM ${tableName(table)} WHERE ${quoted(owner)} = ?`, streamId);
  }
  return dropped;
}

export function tableName(table: string): string {
  return quoted(`projection_${table}`);
}

export function indexName(table: string, index: readonly string[]): string {
  return quoted(`projection_${table}_by_${index.join("_")}`);
}

export function list(names: readonly string[]): string {
  return names.map(quoted).join(", ");
}

interface Recorded {
  /** Version and shape. */
  readonly record: string;
  readonly until: number | null;
}

function recorded(database: Database): Map<string, Recorded> {
  const rows = database.each("SELECT name, version, shape, until FROM projections");
  return new Map(
    Array.from(rows, ([name, version, shape, until]) => [
      name as string,
      { record: `${version} ${shape}`, until: until as number | null },
    ]),
  );
}

function recordOf(projection: Projection): string {
  return `${projection.version} ${shapeOf(projection)}`;
}

function shapeOf({ columns, indexes = [], fullText }: Projection): string {
  return JSON.stringify({ columns, indexes, owner, fullText });
}

function leave(database: Database, table: string): void {
  stand(database, table, newestSeq(database));
}

function stand(database: Database, table: string, until: number): void {
  database.run("UPDATE projections SET until = ? WHERE name = ?", until, table);
}

function resume(database: Database, table: string): void {
  database.run("UPDATE projections SET until = NULL WHERE name = ?", table);
}

/** Puts a new table in the place of the old one, empty, or with the old rows when the log can no longer tell them all. */
function replace(database: Database, projection: Projection): void {
  const { table } = projection;
  const carried = trimmedUpTo(database) > 0 ? columnsOf(database, table) : [];
  if (carried.length === 0) {
    drop(database, table);
    create(database, projection);
    return;
  }
  dropFullText(database, table);
  const old = quoted(`replaced_${table}`);
  database.define(`ALTER TABLE ${tableName(table)} RENAME TO ${old}`);
  dropIndexes(database, `replaced_${table}`);
  create(database, projection);
  const both = list(carried.filter((name) => ["key", owner].includes(name) || Object.hasOwn(projection.columns, name)));
  database.define(`INSERT INTO ${tableName(table)} (${both}) SELECT ${both} FROM ${old}; DROP TABLE ${old}`);
}

function create(database: Database, projection: Projection): void {
  const { table, columns, indexes = [], version, fullText } = projection;
  const definitions = Object.entries(columns).map(([name, type]) => `, ${quoted(name)} ${type.toUpperCase()}`);
  const rest = `${definitions.join("")}, ${quoted(owner)} INTEGER NOT NULL`;
  // Without a rowid the key needs no second tree, so that a change touches fewer pages.
  if (fullText === undefined)
    database.define(`CREATE TABLE ${tableName(table)} (key TEXT NOT NULL PRIMARY KEY${rest}) STRICT, WITHOUT ROWID`);
  else {
    database.define(
      `CREATE TABLE ${tableName(table)} (${quoted(place)} INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE${rest}) STRICT;
       CREATE INDEX ${indexName(table, [owner])} ON ${tableName(table)} (${quoted(owner)})`,
    );
    makeFullText(database, table, fullText);
  }
  for (const index of indexes) {
    database.define(`CREATE INDEX ${indexName(table, index)} ON ${tableName(table)} (${list(index)})`);
  }
  database.run(
    "INSERT OR REPLACE INTO projections (name, version, shape, until) VALUES (?, ?, ?, NULL)",
    table,
    version,
    shapeOf(projection),
  );
}

function drop(database: Database, table: string): void {
  dropFullText(database, table);
  database.define(`DROP TABLE IF EXISTS ${tableName(table)}`);
  database.run("DELETE FROM projections WHERE name = ?", table);
}

function columnsOf(database: Database, table: string): string[] {
  return Array.from(database.each("SELECT name FROM pragma_table_info(?)", `projection_${table}`), ([name]) =>
    String(name),
  );
}

function dropIndexes(database: Database, table: string): void {
  const names = Array.from(
    database.each("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?", table),
    ([name]) => String(name),
  );
  for (const name of names) database.define(`DROP INDEX ${quoted(name)}`);
}

function replay(
  database: Database,
  wanting: readonly { readonly projection: Projection; readonly after: number }[],
  lifts: Lifts | undefined,
  apply: Apply,
): void {
  if (wanting.length === 0) return;
  let position = Math.min(...wanting.map(({ after }) => after));
  for (;;) {
    const page = readEvents(database, { after: position }, lifts);
    if (!isGap(page) && page.length === 0) return;
    for (const event of isGap(page) ? [] : page) {
      for (const { projection, after } of wanting) if (event.seq > after) apply(projection, event);
    }
    position = isGap(page) ? page.to : page.at(-1)!.seq;
  }
}
