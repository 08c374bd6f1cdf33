import { CorralError, isKnown, type Lifts, type StoredEvent } from "@corral/protocol";
import type { Change, CountQuery, Guard, Hit, Projection, Row, RowQuery, SearchQuery, Value } from "../port.ts";
import { type Database, quoted } from "./database.ts";
import { findText } from "./full-text.ts";
import { bringForward, dropRows, indexName, list, owner, prepareTables, tableName } from "./projection-tables.ts";

/** The tables made of events, written in the transaction of the append that changes them. */
export class Projections {
  readonly #database: Database;
  readonly #projections: ReadonlyMap<string, Projection>;
  /** Those that every append keeps up. */
  readonly #kept: readonly Projection[];
  readonly #lifts: Lifts | undefined;
  readonly #streamIds: (stream: string) => number;

  constructor(database: Database, projections: readonly Projection[], lifts?: Lifts) {
    this.#database = database;
    this.#projections = new Map(projections.map((projection) => [projection.table, projection]));
    this.#kept = projections.filter(({ fullText }) => fullText === undefined);
    this.#lifts = lifts;
    this.#streamIds = remembering((stream) => this.#streamId(stream));
  }

  /** Makes the tables fit this program's projections. To be called inside a transaction. */
  prepare(): void {
    prepareTables(this.#database, this.#projections, this.#lifts, (projection, event) =>
      this.#project(projection, event, this.#streamIds(event.stream)),
    );
  }

  apply(event: StoredEvent, streamId: number): void {
    for (const projection of this.#kept) this.#project(projection, event, streamId);
  }

  /** Takes in another page of what a table with a full text lacks; true when it lacks nothing. To be called inside a transaction. */
  catchUp(table: string): boolean {
    return bringForward(this.#database, this.#projection(table), this.#lifts, (projection, event) =>
      this.#project(projection, event, this.#streamIds(event.stream)),
    );
  }

  search(table: string, query: SearchQuery): readonly Hit[] {
    const { fullText } = this.#projection(table);
    if (fullText === undefined) throw new CorralError("internal", `The projection ${table} has no full text.`);
    const columns = this.#columns(table);
    this.#known(table, Object.keys(query.where ?? {}));
    return findText(this.#database, { table, text: fullText, columns, query }).map(({ cells, pieces }) => ({
      row: toRow(columns, cells),
      pieces,
    }));
  }

  /** Drops the rows that events of this stream made; returns how many. */
  erase(streamId: number): number {
    return dropRows(this.#database, this.#projections, streamId);
  }

  /** Throws `append.conflict` unless the guard holds. */
  check(guard: Guard): void {
    const row = this.row(guard.table, guard.key);
    if (guard.is !== null) this.#known(guard.table, Object.keys(guard.is));
    const holds =
      guard.is === null
        ? row === undefined
        : row !== undefined && Object.entries(guard.is).every(([column, value]) => row[column] === value);
    if (!holds) throw refused(guard, row);
  }

  row(table: string, key: string): Row | undefined {
    const columns = this.#columns(table);
    const cells = this.#database.first(`SELECT ${list(columns)} FROM ${tableName(table)} WHERE key = ?`, key);
    return cells === undefined ? undefined : toRow(columns, cells);
  }

  rows(table: string, query: RowQuery = {}): readonly Row[] {
    const columns = this.#columns(table);
    const where = Object.entries(query.where ?? {});
    const order = query.orderBy ?? "key";
    const index = this.#indexFor(table, [...where.map(([column]) => column)], order);
    const conditions = where.map(([column]) => `${quoted(column)} IS ?`).join(" AND ");
    const sql = [
      `SELECT ${list(columns)} FROM ${tableName(table)}`,
      index === undefined ? "" : `INDEXED BY ${indexName(table, index)}`,
      conditions === "" ? "" : `WHERE ${conditions}`,
      `ORDER BY ${list([...new Set([order, "key"])])} LIMIT ?`,
    ]
      .filter((part) => part !== "")
      .join(" ");
    const found = this.#database.each(sql, ...where.map(([, value]) => value), query.limit ?? -1);
    return Array.from(found, (cells) => toRow(columns, cells));
  }

  counts(table: string, { where: wanted, by }: CountQuery): ReadonlyMap<Value, number> {
    const where = Object.entries(wanted);
    const columns = where.map(([column]) => column);
    const index = (this.#projection(table).indexes ?? []).find(
      (each) => each[where.length] === by && columns.every((column) => each.slice(0, where.length).includes(column)),
    );
    if (index === undefined) throw unindexed(table, [...columns, by]);
    const conditions = columns.map((column) => `${quoted(column)} IS ?`).join(" AND ");
    const sql = [
      `SELECT ${quoted(by)}, count(*) FROM ${tableName(table)} INDEXED BY ${indexName(table, index)}`,
      `WHERE ${conditions} GROUP BY ${quoted(by)}`,
    ].join(" ");
    const found = this.#database.each(sql, ...where.map(([, value]) => value));
    return new Map(Array.from(found, ([value, count]) => [value as Value, count as number]));
  }

  /** What a newer program wrote is left to the newer program, which builds its projections anew. */
  #project(projection: Projection, event: StoredEvent, streamId: number): void {
    if (!isKnown(event, this.#lifts)) return;
    for (const change of changesOf(projection, event)) this.#write(projection, change, streamId);
  }

  #write(projection: Projection, change: Change, streamId: number): void {
    if ("deleteAll" in change) {
      this.#database.run(`DELETE FROM ${tableName(projection.table)} WHERE ${quoted(owner)} = ?`, streamId);
      return;
    }
    if ("delete" in change) {
      this.#database.run(`DELETE FROM ${tableName(projection.table)} WHERE key = ?`, change.key);
      return;
    }
    const names = Object.keys(change.set);
    this.#known(projection.table, names);
    const values = names.map((name) => fitting(change.set[name] ?? null, projection.columns[name]));
    const updates = names.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join(", ");
    const all = ["key", owner, ...names];
    this.#database.run(
      `INSERT INTO ${tableName(projection.table)} (${list(all)}) VALUES (${all.map(() => "?").join(", ")})
       ON CONFLICT (key) DO ${updates === "" ? "NOTHING" : `UPDATE SET ${updates}`}`,
      change.key,
      streamId,
      ...values,
    );
  }

  #columns(table: string): readonly string[] {
    return ["key", ...Object.keys(this.#projection(table).columns)];
  }

  #projection(table: string): Projection {
    const projection = this.#projections.get(table);
    if (projection === undefined) throw new CorralError("internal", `There is no projection ${table}.`);
    return projection;
  }

  #known(table: string, names: readonly string[]): void {
    const { columns } = this.#projection(table);
    const unknown = names.find((name) => !Object.hasOwn(columns, name));
    if (unknown !== undefined) throw new CorralError("internal", `The projection ${table} has no column ${unknown}.`);
  }

  /** The index that finds these rows in this order without sorting; undefined for the table itself, which lies in the order of its keys. */
  #indexFor(table: string, where: readonly string[], order: string): readonly string[] | undefined {
    if (where.length === 0 && order === "key") return undefined;
    const fitting = (this.#projection(table).indexes ?? []).find(
      (index) =>
        where.every((column) => index.indexOf(column) >= 0 && index.indexOf(column) < where.length) &&
        (index[where.length] ?? "key") === order &&
        (order === "key" || index.length === where.length + 1),
    );
    if (fitting !== undefined) return fitting;
    throw unindexed(table, [...where, ...(order === "key" ? [] : [order])]);
  }

  #streamId(stream: string): number {
    return this.#database.first("SELECT id FROM streams WHERE name = ?", stream)?.[0] as number;
  }
}

function unindexed(table: string, columns: readonly string[]): CorralError {
  return new CorralError("internal", `The projection ${table} has no index of ${columns.join(", ")}.`);
}

function changesOf(projection: Projection, event: StoredEvent): readonly Change[] {
  try {
    return projection.changes(event);
  } catch (cause) {
    const what = `The projection ${projection.table} failed on an event ${event.type}.`;
    throw new CorralError("internal", what, { cause });
  }
}

/**
 * A value that its column takes. What an event holds may come from anywhere, a model's server for instance, and the events of an append
 * must not be refused for a number in one of them.
 */
function fitting(value: Value, type: "text" | "integer" | undefined): Value {
  if (value === null) return null;
  if (type !== "integer") return String(value);
  if (typeof value !== "number" || Number.isNaN(value)) return null;
  const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number;
  return Number.isSafeInteger(value) ? value : Math.round(Math.min(Math.max(value, least), most));
}

function remembering(find: (stream: string) => number): (stream: string) => number {
  let last: { readonly stream: string; readonly id: number } | undefined;
  return (stream) => {
    if (last?.stream !== stream) last = { stream, id: find(stream) };
    return last.id;
  };
}

function toRow(columns: readonly string[], cells: readonly Value[]): Row {
  return Object.fromEntries(columns.map((column, index) => [column, cells[index]!]));
}

function refused(guard: Guard, row: Row | undefined): CorralError {
  const found = row === undefined ? "there is none" : "there is another";
  const wanted = guard.is === null ? "no row" : `a row with ${JSON.stringify(guard.is)}`;
  return new CorralError("append.conflict", `Expected ${wanted} for ${guard.key} in ${guard.table}, but ${found}.`, {
    hint: "Read the present state and decide anew.",
  });
}
