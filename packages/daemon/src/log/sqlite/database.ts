import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

/** What SQLite stores and gives back in Corral. */
export type Cell = string | number | null;

/**
 * Pages of 1 KB: a commit writes every page it touches as a whole, and the events of a commit are a
 * few hundred bytes each. Against the default of 4 KB this halves what a turn writes.
 */
const pageSize = 1024;
/** 2 MB of log beside the file before a commit also carries it over; more costs a longer pause, less rewrites hot pages. */
const checkpointPages = 2048;
/** How long another process's transaction is waited for. */
const busyMilliseconds = 5000;

/** One connection to one file. The only place that knows `node:sqlite`. */
export class Database {
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** Makes the file, for its owner only, when it is missing. May throw busy while another process makes it too. */
  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
    this.#connection = new DatabaseSync(file, { timeout: busyMilliseconds });
    try {
      this.#connection.exec(`PRAGMA page_size = ${pageSize}`);
      this.#connection.exec("PRAGMA journal_mode = WAL");
      this.#connection.exec("PRAGMA synchronous = FULL");
      this.#connection.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  run(sql: string, ...parameters: readonly SQLInputValue[]): void {
    this.#statement(sql).run(...parameters);
  }

  /** The first row, its cells in the order of the selected columns. */
  first(sql: string, ...parameters: readonly SQLInputValue[]): readonly Cell[] | undefined {
    return this.#statement(sql).get(...parameters) as readonly Cell[] | undefined;
  }

  /** Rows one by one; stopping early is fine. The same SQL must not be iterated twice at a time. */
  each(sql: string, ...parameters: readonly SQLInputValue[]): Iterable<readonly Cell[]> {
    return this.#statement(sql).iterate(...parameters) as Iterable<unknown> as Iterable<readonly Cell[]>;
  }

  /** Several statements at once, for definitions. */
  define(sql: string): void {
    this.#connection.exec(sql);
  }

  /** False as well after SQLite gave a transaction up by itself, as it may when the disk is full. */
  get inTransaction(): boolean {
    return this.#connection.isTransaction;
  }

  /** Changes when another connection has committed, and only then. To be read inside a transaction. */
  get foreignCommits(): number {
    return this.first("PRAGMA data_version")?.[0] as number;
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Whether another process was in the way. */
export function isBusy(error: unknown): boolean {
  const sqliteBusy = 5;
  return resultCode(error) === sqliteBusy;
}

/** Whether the file is not what SQLite left there. */
export function isDamage(error: unknown): boolean {
  const sqliteCorrupt = 11;
  const sqliteNotADatabase = 26;
  return [sqliteCorrupt, sqliteNotADatabase].includes(resultCode(error));
}

/** 0 for what is not SQLite's. */
function resultCode(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
}

/** A name of a table or column inside SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
