import { existsSync, readdirSync, rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CorralError } from "@corral/protocol";
import type { Copied } from "../port.ts";
import { contentsOf, copyAtRest } from "./backup.ts";
import { Database, inTransaction } from "./database.ts";
import { damaged, storeFailure } from "./failures.ts";
import { givenAt } from "./given.ts";
import { requireKnownSchema } from "./header.ts";
import { integrityOf } from "./integrity.ts";
import { migrate } from "./migrations.ts";
import { setAside, syncFolder } from "./set-aside.ts";
import { skipPast } from "./skips.ts";

export interface Restored extends Copied {
  /** Where the database that was there before is now. */
  readonly before: string | undefined;
}

/**
 * Puts a backup in the place of the database, which is set aside. The backup stays as it is; what is restored goes on
 * behind the seqs that were given since. Nothing is touched unless
 * the backup is whole and of a version that this program knows. Nobody may have the database open.
 */
export async function restore(backup: string, file: string): Promise<Restored> {
  await requireBackup(backup);
  const copy = copyFor(file);
  removeHalfRestored(file);
  await copyAtRest(backup, copy);
  const copied = goOnBehind(copy, givenAt(file));
  const isThere = existsSync(file) || existsSync(`${file}-wal`);
  const before = isThere ? await setAside(file, new Date(), "replaced") : undefined;
  await rename(copy, file);
  await syncFolder(dirname(file));
  return { ...copied, before };
}

/** What a restore that was cut off left. Nobody else may be restoring: whoever does has locked the home. */
export function removeHalfRestored(file: string): void {
  const copy = basename(copyFor(file));
  const isOfCopy = (name: string) => name === copy || name.startsWith(`${copy}-`) || name.startsWith(`${copy}.`);
  const names = existsSync(dirname(file)) ? readdirSync(dirname(file)) : [];
  for (const name of names.filter(isOfCopy)) rmSync(join(dirname(file), name), { force: true });
}

function copyFor(file: string): string {
  return `${file}.restoring`;
}

/** Closing the copy carries its write-ahead log over, so that it can be moved alone. Tells what the backup held. */
function goOnBehind(copy: string, given: number): Copied {
  const database = new Database(copy);
  try {
    return inTransaction(database, () => {
      migrate(database, copy);
      const copied = contentsOf(database);
      skipPast(database, given, copied.head);
      return copied;
    });
  } catch (error) {
    throw storeFailure(`The copy ${copy} cannot be written`, error);
  } finally {
    database.close();
  }
}

async function requireBackup(backup: string): Promise<void> {
  if (!existsSync(backup))
    throw new CorralError("not-found", `There is no file ${backup}`, { hint: "Name a file that `corral backup` made" });
  requireKnownSchema(backup);
  const [fault] = await integrityOf(backup);
  if (fault !== undefined) throw damaged(`The backup ${backup} is not whole`, new Error(fault));
  if (!isLog(backup)) throw damaged(`${backup} cannot be restored`, new Error("it is no backup of Corral's"));
}

function isLog(file: string): boolean {
  const database = new Database(file, "examine");
  try {
    return database.first("SELECT 1 FROM sqlite_schema WHERE name = 'events'") !== undefined;
  } finally {
    database.close();
  }
}
