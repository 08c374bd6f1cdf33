import { closeSync, constants, copyFileSync, fsyncSync, linkSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../flags.ts";

/** A file that was not there before, for its owner alone. */
export function createFile(path: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    throw inTheWay(path, error as Error);
  }
}

/** Moves a file to where none is, whole and synced, to another disk too. */
export function moveToNew(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw inTheWay(to, error as Error);
    copyToNew(from, to);
  }
  syncFolder(dirname(to));
  rmSync(from);
}

/** Where files cannot have two names. */
function copyToNew(from: string, to: string): void {
  try {
    closeSync(openSync(to, "wx", 0o600));
  } catch (error) {
    throw inTheWay(to, error as Error);
  }
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    const copy = openSync(to, "r+");
    fsyncSync(copy);
    closeSync(copy);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
}

export function inTheWay(path: string, cause: { code?: string; message?: string }): UsageError {
  const { code, message = "" } = cause;
  if (code === "EEXIST")
    return new UsageError(`${path} already exists`, "Files are never overwritten: name another one");
  return new UsageError(`${path} cannot be written: ${message}`, "Name a file in a folder where you can write");
}
