import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Copied } from "../port.ts";
import { Database } from "./database.ts";
import { newestSeq } from "./events.ts";
import { storeFailure } from "./failures.ts";
import { syncFolder } from "./set-aside.ts";

/**
 * Copies the database as it is at this moment; commits go on meanwhile. The copy takes its name only when it is whole
 * and synced; a copy of that name from before is replaced. Rejects as a write to the log does, and leaves nothing then.
 */
export async function backUp(file: string, to: string): Promise<Copied> {
  return writeCopy(file, to, "read", contentsOf);
}

/** Of a database that nobody has open, of whatever version. */
export async function copyAtRest(file: string, to: string): Promise<void> {
  return writeCopy(file, to, "examine", () => undefined);
}

export function contentsOf(database: Database): Copied {
  return { events: database.first("SELECT count(*) FROM events")?.[0] as number, head: newestSeq(database) };
}

async function writeCopy<T>(
  file: string,
  to: string,
  access: "read" | "examine",
  tell: (database: Database) => T,
): Promise<T> {
  const partial = `${to}.${process.pid}.partial`;
  try {
    await (await open(partial, "wx", 0o600)).close();
    const copied = await copySnapshot(new Database(file, access), partial, tell);
    await sync(partial);
    await rename(partial, to);
    await syncFolder(dirname(to));
    return copied;
  } catch (error) {
    await rm(partial, { force: true });
    throw storeFailure(`The backup to ${to} failed`, error);
  }
}

/** Through a connection of its own whose transaction stays open, so that no commit makes the copy begin anew. */
async function copySnapshot<T>(source: Database, to: string, tell: (source: Database) => T): Promise<T> {
  try {
    source.run("BEGIN");
    const told = tell(source);
    await source.copyTo(to);
    return told;
  } finally {
    source.close();
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
