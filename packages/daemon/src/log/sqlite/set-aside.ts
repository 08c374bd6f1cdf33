import { readdirSync } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { storeFailure } from "./failures.ts";

/** Why a database had to make room: its file is damaged, or a backup takes its place. */
type Cause = "damaged" | "replaced";

/**
 * Moves a database out of the way, with its write-ahead log, so that another one can take its place.
 * Nothing is lost: `salvage` reads what is readable from where it now is. Returns that place. Nobody may have it open.
 */
export async function setAside(file: string, now: Date = new Date(), cause: Cause = "damaged"): Promise<string> {
  const aside = await freeName(`${file}.${cause}-${stamp(now)}`);
  try {
    // The write-ahead log first: left behind alone, SQLite would play it into the new database.
    await moveIfThere(`${file}-wal`, `${aside}-wal`);
    await rm(`${file}-shm`, { force: true });
    await moveIfThere(file, aside);
    await syncFolder(dirname(file));
  } catch (error) {
    throw storeFailure(`The log at ${file} cannot be moved aside`, error);
  }
  return aside;
}

/** The damaged ones that still lie beside the database, oldest first. */
export function damagedBeside(file: string): readonly string[] {
  return beside(file, ["damaged"]);
}

/** All that made room for another and still lie there. */
export function asideBeside(file: string): readonly string[] {
  return beside(file, ["damaged", "replaced"]);
}

function beside(file: string, causes: readonly Cause[]): readonly string[] {
  const prefixes = causes.map((cause) => `${basename(file)}.${cause}-`);
  return namesIn(dirname(file))
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)) && !/-(wal|shm)$/.test(name))
    .toSorted()
    .map((name) => join(dirname(file), name));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
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

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
