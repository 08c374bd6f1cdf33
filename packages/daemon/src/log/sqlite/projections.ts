import { CorralError, type StoredEvent } from "@corral/protocol";
import type { Change, Guard, Projection, Row, RowQuery, Value } from "../port.ts";
import { type Database, quoted } from "./database.ts";
import { readEvents } from "./events.ts";

/** The tables made of events, written in the transaction of the append that changes them. */
export class Projections {
  readonly #database: Database;
  readonly #projections: ReadonlyMap<string, Projection>;

  constructor(database: Database, projections: readonly Projection[]) {
    this.#database = database;
    this.#projections = new Map(projections.map((projection) => [projection.table, projection]));
  }

  /**
   * Makes the tables fit this program's projections; those that are new or changed are built from the
   * log. A table whose projection this program does not have would go stale with its first append, so
   * it goes. To be called inside a transaction.
   */
  prepare(): void {
    const kept = this.#recorded();
    for (const [table] of kept) if (!this.#projections.has(table)) this.#drop(table);
    const changed = [...this.#projections.values()].filter(
      (projection) => kept.get(projection.table) !== recordOf(projection),
    );
    for (const projection of changed) this.#create(projection);
    this.#rebuild(changed);
  }

  apply(event: StoredEvent): void {
    for (const projection of this.#projections.values()) this.#project(projection, event);
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
    this.#indexed(table, [...where.map(([column]) => column), order]);
    const conditions = where.map(([column]) => `${quoted(column)} IS ?`).join(" AND ");
    const sql = [
      `SELECT ${list(columns)} FROM ${tableName(table)}`,
      conditions === "" ? "" : `WHERE ${conditions}`,
      `ORDER BY ${list([...new Set([order, "key"])])} LIMIT ?`,
    ].join(" ");
    const found = this.#database.each(sql, ...where.map(([, value]) => value), query.limit ?? -1);
    return Array.from(found, (cells) => toRow(columns, cells));
  }

  #project(projection: Projection, event: StoredEvent): void {
    try {
      for (const change of projection.changes(event)) this.#write(projection, change);
    } catch (error) {
      throw new CorralError("internal", `The projection ${projection.table} failed on an event ${event.type}.`, {
        cause: error,
      });
    }
  }

  #write(projection: Projection, change: Change): void {
    if ("delete" in change) {
      this.#database.run(`DELETE FROM ${tableName(projection.table)} WHERE key = ?`, change.key);
      return;
    }
    const names = Object.keys(change.set);
    this.#known(projection.table, names);
    const updates = names.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join(", ");
    this.#database.run(
      `INSERT INTO ${tableName(projection.table)} (${list(["key", ...names])})
       VALUES (${["key", ...names].map(() => "?").join(", ")})
       ON CONFLICT (key) DO ${updates === "" ? "NOTHING" : `UPDATE SET ${updates}`}`,
      change.key,
      ...names.map((name) => change.set[name] ?? null),
    );
  }

  #recorded(): Map<string, string> {
    const rows = this.#database.each("SELECT name, version, shape FROM projections");
    return new Map(Array.from(rows, ([name, version, shape]) => [name as string, `${version} ${shape}`]));
  }

  #drop(table: string): void {
    this.#database.define(`DROP TABLE IF EXISTS ${tableName(table)}`);
    this.#database.run("DELETE FROM projections WHERE name = ?", table);
  }

  #create(projection: Projection): void {
    const { table, columns, indexes = [], version } = projection;
    this.#drop(table);
    const definitions = Object.entries(columns).map(([name, type]) => `, ${quoted(name)} ${type.toUpperCase()}`);
    // Without a rowid the key needs no second tree, so that a change touches fewer pages.
    this.#database.define(
      `CREATE TABLE ${tableName(table)} (key TEXT NOT NULL PRIMARY KEY${definitions.join("")}) STRICT, WITHOUT ROWID`,
    );
    for (const index of indexes) {
      const name = quoted(`projection_${table}_by_${index.join("_")}`);
      this.#database.define(`CREATE INDEX ${name} ON ${tableName(table)} (${list(index)})`);
    }
    this.#database.run(
      "INSERT INTO projections (name, version, shape) VALUES (?, ?, ?)",
      table,
      version,
      shapeOf(projection),
    );
  }

  #rebuild(projections: readonly Projection[]): void {
    if (projections.length === 0) return;
    let page = readEvents(this.#database, { after: 0 });
    while (page.length > 0) {
      for (const event of page) for (const projection of projections) this.#project(projection, event);
      page = readEvents(this.#database, { after: page.at(-1)!.seq });
    }
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

  #indexed(table: string, names: readonly string[]): void {
    const indexed = new Set(["key", ...(this.#projection(table).indexes ?? []).flat()]);
    const missing = names.find((name) => !indexed.has(name));
    if (missing !== undefined)
      throw new CorralError("internal", `The projection ${table} has no index with ${missing}.`);
  }
}

function tableName(table: string): string {
  return quoted(`projection_${table}`);
}

function list(names: readonly string[]): string {
  return names.map(quoted).join(", ");
}

function shapeOf({ columns, indexes = [] }: Projection): string {
  return JSON.stringify({ columns, indexes });
}

function recordOf(projection: Projection): string {
  return `${projection.version} ${shapeOf(projection)}`;
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
