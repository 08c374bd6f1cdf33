import { randomUUID } from "node:crypto";
import { renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeFolder } from "../system/remove-folder.ts";

/** What an ended environment's folder is called until it is removed. */
export const removedPrefix = ".removed-";

/** How long an end waits for files to go, before it leaves them to a sweep. */
const removalMs = 5_000;

/** A folder without an opener on file is nobody's after this time: the file is written right after the folder is made. */
const namelessMs = 60_000;

/** Out of the way at once; what cannot be removed soon is left to a sweep. */
export async function removeSoon(folder: string): Promise<void> {
  const removed = join(dirname(folder), `${removedPrefix}${randomUUID()}`);
  try {
    renameSync(folder, removed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  await removeFolder(removed, { signal: AbortSignal.timeout(removalMs) }).catch(() => undefined);
}

/** Whether somebody may be about to write down there who has opened it. */
export function isJustMade(folder: string): boolean {
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Math.abs(Date.now() - made) < namelessMs;
}
