import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { storeFailure } from "./failures.ts";

/**
 * Moves a damaged database out of the way, with its write-ahead log, so that a new one can be made in its place.
 * Nothing is lost: `salvage` reads what is readable from where it now is. Returns that place. Nobody may have it open.
 */
export async function setAside(file: string, now: Date = new Date()): Promise<string> {
  const aside = await freeName(`${file}.damaged-${stamp(now)}`);
  try {
    // The write-ahead log first: left behind alone, SQLite would play it into the new database.
    await moveIfThere(`${file}-wal`, `${aside}-wal`);
    await rm(`${file}-shm`, { force: true });
    await moveIfThere(file, aside);
    await syncFolder(dirname(file));
  } catch (error) {
    throw storeFailure(`The damaged log at ${file} cannot be moved aside`, error);
  }
  return aside;
}

/** To the second, in characters that any file system takes. */
function stamp(now: Date): string {
  return now
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(":", "");
}

async function freeName(name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? name : `${name}-${n}`;
    if (!(await exists(candidate)) && !(await exists(`${candidate}-wal`))) return candidate;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function moveIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
