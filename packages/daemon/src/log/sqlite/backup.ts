import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Database } from "./database.ts";
import { storeFailure } from "./failures.ts";

/**
 * Copies the database as it is at this moment; commits go on meanwhile. The copy takes its name only when it is whole
 * and synced; a copy of that name from before is replaced. Rejects as a write to the log does, and leaves nothing then.
 */
export async function backUp(file: string, to: string): Promise<void> {
  const partial = `${to}.${process.pid}.partial`;
  try {
    await (await open(partial, "wx", 0o600)).close();
    await copySnapshot(file, partial);
    await sync(partial);
    await rename(partial, to);
    await sync(dirname(to));
  } catch (error) {
    await rm(partial, { force: true });
    throw storeFailure(`The backup to ${to} failed`, error);
  }
}

/** Through a connection of its own whose transaction stays open, so that no commit makes the copy begin anew. */
async function copySnapshot(file: string, to: string): Promise<void> {
  const source = new Database(file, "read");
  try {
    source.run("BEGIN");
    source.first("SELECT 1 FROM sqlite_schema");
    await source.copyTo(to);
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
