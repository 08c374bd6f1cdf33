import { setTimeout as sleep } from "node:timers/promises";
import type { CorralError } from "@corral/protocol";
import type { Log } from "../port.ts";
import { Database, inTransaction, isBusy } from "./database.ts";
import { storeFailure } from "./failures.ts";
import { requireKnownSchema, requireWholeLength } from "./header.ts";
import { newestSeq } from "./events.ts";
import { SqliteLog, type SqliteLogOptions } from "./log.ts";
import { migrate } from "./migrations.ts";
import { Projections } from "./projections.ts";
import { skipPast } from "./skips.ts";

/**
 * Opens the log, making or migrating it and rebuilding changed projections first. Rejects with
 * `log.too-new` when a newer program wrote it, `log.damaged` when the file is not whole, and `log.unwritable` when it
 * cannot be made or written.
 */
export async function openSqliteLog(options: SqliteLogOptions): Promise<Log> {
  const { file } = options;
  requireKnownSchema(file);
  requireWholeLength(file);
  const database = await connect(file);
  try {
    const projections = new Projections(database, options.projections, options.lifts);
    inTransaction(database, () => {
      migrate(database, file);
      if (options.given !== undefined) skipPast(database, options.given, newestSeq(database));
      projections.prepare();
    });
    return new SqliteLog(database, projections, options);
  } catch (error) {
    database.close();
    throw unusable(file, error);
  }
}

async function connect(file: string): Promise<Database> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      return new Database(file);
    } catch (error) {
      // Of two processes that make the file, SQLite sends one away at once instead of letting it wait.
      if (!isBusy(error) || performance.now() > deadline) throw unusable(file, error);
    }
    await sleep(10);
  }
}

function unusable(file: string, cause: unknown): CorralError {
  return storeFailure(`The log at ${file} cannot be opened`, cause);
}
