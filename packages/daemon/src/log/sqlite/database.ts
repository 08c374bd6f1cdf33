import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { WriteAheadFile } from "./write-ahead-file.ts";

/** What SQLite stores and gives back in Corral. */
export type Cell = string | number | null;

/**
 * Pages of 1 KB: a commit writes every page it touches as a whole, and the events of a commit are a
 * few hundred bytes each. Against the default of 4 KB this halves what a turn writes.
 */
const pageSize = 1024;
/** 2 MB of log beside the file before a commit also carries it over; more costs a longer pause, less rewrites hot pages. */
const checkpointPages = 2048;
/** What the log beside the file has in advance: all that it holds when it is carried over, with the head of each page. */
const aheadBytes = (checkpointPages + 64) * (pageSize + 24);
/** How long another process's transaction is waited for. */
const busyMilliseconds = 5000;
/** Pages of a copy made at a time: a few milliseconds. */
const copiedPages = 2000;

/**
 * `read`: beside whoever writes. `examine`: leaves nothing beside a file that nobody has open. `salvage`: the same, and
 * gives out what it can of a damaged file.
 */
type Access = "read" | "write" | "examine" | "salvage";

/**
 * One connection to one file. The only place that knows `node:sqlite`.
 *
 * What is committed by `commit` is durable when it returns. When the sync fails what was written stands, and nobody knows whether it is on the
 * disk: it is carried over to the database itself, which is synced anew, before anything else is written behind it.
 */
export class Database {
  readonly #connection: DatabaseSync;
  readonly #file: string;
  /** Undefined until the first transaction, and where SQLite syncs by itself. */
  #ahead: WriteAheadFile | undefined;
  readonly #syncsAhead: boolean = false;
  #isInDoubt = false;
  readonly #statements = new Map<string, StatementSync>();

  /** To write: makes the file, for its owner only, when it is missing. May throw busy while another process makes it too. */
  constructor(file: string, access: Access = "write") {
    this.#file = file;
    if (access === "write") makeFile(file);
    this.#connection = new DatabaseSync(access === "salvage" || access === "examine" ? atRest(file) : file, {
      timeout: busyMilliseconds,
      readOnly: access !== "write",
      defensive: access !== "salvage",
    });
    // Otherwise SQLite gives out nothing at all of a file that was cut short.
    if (access === "salvage") this.#connection.exec("PRAGMA writable_schema = ON");
    if (access !== "write") return;
    try {
      this.#connection.exec(`PRAGMA page_size = ${pageSize}`);
      // Some file systems have no shared memory, and so no write-ahead log.
      this.#syncsAhead = this.first("PRAGMA journal_mode = WAL")?.[0] === "wal";
      this.#connection.exec(`PRAGMA synchronous = ${this.#syncsAhead ? "NORMAL" : "FULL"}`);
      this.#connection.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  /** Begins a transaction that may write. */
  begin(): void {
    if (this.#isInDoubt && this.emptyWriteAheadLog() === "busy") throw new Error("an earlier sync failed");
    this.#isInDoubt = false;
    this.run("BEGIN IMMEDIATE");
    if (this.#syncsAhead && this.#ahead === undefined) this.#openAhead();
  }

  /** Durable when it returns. */
  commit(): void {
    this.run("COMMIT");
    try {
      this.#ahead?.sync();
    } catch (error) {
      this.#isInDoubt = true;
      throw error;
    }
  }

  /** Returns how many rows were changed. */
  run(sql: string, ...parameters: readonly SQLInputValue[]): number {
    return this.#use(sql, (statement) => Number(statement.run(...parameters).changes));
  }

  /** The first row, its cells in the order of the selected columns. */
  first(sql: string, ...parameters: readonly SQLInputValue[]): readonly Cell[] | undefined {
    return this.#use(sql, (statement) => statement.get(...parameters) as readonly Cell[] | undefined);
  }

  /** Rows one by one; stopping early is fine. The same SQL must not be iterated twice at a time. */
  *each(sql: string, ...parameters: readonly SQLInputValue[]): Generator<readonly Cell[], void, undefined> {
    try {
      yield* this.#statement(sql).iterate(...parameters) as Iterable<unknown> as Iterable<readonly Cell[]>;
    } catch (error) {
      this.#statements.delete(sql);
      throw error;
    }
  }

  /** Several statements at once, for definitions. */
  define(sql: string): void {
    this.#connection.exec(sql);
  }

  /** False as well after SQLite gave a transaction up by itself, as it may when the disk is full. */
  get inTransaction(): boolean {
    return this.#connection.isTransaction;
  }

  /** Changes when another connection has committed, and only then. */
  get foreignCommits(): number {
    return this.first("PRAGMA data_version")?.[0] as number;
  }

  /** The SQL of every statement that was used, for whoever wants to know how they are carried out. */
  get statements(): readonly string[] {
    return [...this.#statements.keys()];
  }

  /** Copies the file as it was when this connection first read in its present transaction, in steps beside the loop. */
  async copyTo(file: string): Promise<void> {
    await backup(this.#connection, file, { rate: copiedPages });
  }

  /**
   * Writes every page anew, so that nothing of what was deleted is left between or within pages; it may still be in the
   * write-ahead log. Waits for nobody: "busy" when another process writes.
   */
  rewrite(): "done" | "busy" {
    return this.#unlessBusy(() => {
      this.#connection.exec("VACUUM");
      return "done";
    });
  }

  /** Carries the write-ahead log over and empties it. Waits for nobody: "busy" when another process reads or writes. */
  emptyWriteAheadLog(): "done" | "busy" {
    return this.#unlessBusy(() => (this.first("PRAGMA wal_checkpoint(TRUNCATE)")?.[0] === 0 ? "done" : "busy"));
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
    this.#ahead?.close();
    this.#ahead = undefined;
  }

  #openAhead(): void {
    try {
      this.#ahead = new WriteAheadFile(`${this.#file}-wal`);
      this.#ahead.extend(aheadBytes);
    } catch (error) {
      this.run("ROLLBACK");
      throw error;
    }
  }

  #unlessBusy(work: () => "done" | "busy"): "done" | "busy" {
    try {
      this.#connection.exec("PRAGMA busy_timeout = 0");
      return work();
    } catch (error) {
      if (isBusy(error)) return "busy";
      throw error;
    } finally {
      this.#connection.exec(`PRAGMA busy_timeout = ${busyMilliseconds}`);
    }
  }

  /** A statement that failed says so once more when it is next used, so it is not. */
  #use<T>(sql: string, use: (statement: StatementSync) => T): T {
    try {
      return use(this.#statement(sql));
    } catch (error) {
      this.#statements.delete(sql);
      throw error;
    }
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

/** All of it, or nothing. */
export function inTransaction<T>(database: Database, work: () => T): T {
  database.begin();
  try {
    const result = work();
    database.commit();
    return result;
  } catch (error) {
    if (database.inTransaction) database.run("ROLLBACK");
    throw error;
  }
}

/** Whether another process was in the way. */
export function isBusy(error: unknown): boolean {
  const sqliteBusy = 5;
  return resultCode(error) === sqliteBusy;
}

/** Whether the file is not what SQLite left there, or the disk does not give it back. */
export function isDamage(error: unknown): boolean {
  const sqliteCorrupt = 11;
  const sqliteNotADatabase = 26;
  return [sqliteCorrupt, sqliteNotADatabase].includes(resultCode(error));
}

/** Whether there was no room. */
export function isFull(error: unknown): boolean {
  const sqliteFull = 13;
  const systemCode = error instanceof Error && "code" in error ? error.code : undefined;
  return resultCode(error) === sqliteFull || systemCode === "ENOSPC" || systemCode === "EDQUOT";
}

/** Whether the store failed, and not what it was asked to do. */
export function isStoreFault(error: unknown): boolean {
  const asked = { nothing: 0, wrongly: 1, tooMuch: 18, constraint: 19, mismatch: 20, misuse: 21, outOfRange: 25 };
  return !Object.values(asked).includes(resultCode(error));
}

/** 0 for what is not SQLite's. */
function resultCode(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
}

/** A name of a table or column inside SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A file without a write-ahead log is open to nobody, so it can be read as it is, on a read-only disk too. */
function atRest(file: string): string | URL {
  if (existsSync(`${file}-wal`)) return file;
  const address = pathToFileURL(file);
  address.searchParams.set("immutable", "1");
  return address;
}

function makeFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, "a", 0o600));
}
