import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeFolder } from "../environments/index.ts";

/**
 * Removing a large folder takes seconds, moving it none: what is not wanted any more is set out beside, in `.trash`, and
 * removed when there is time. Harmless when it is not there.
 */
export async function setOut(folder: string): Promise<void> {
  const trash = trashBeside(folder);
  const to = join(trash, randomUUID());
  try {
    await rename(folder, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw error;
    if (!(await isThere(folder))) return;
    await mkdir(trash, { recursive: true, mode: 0o700 });
    await rename(folder, to);
  }
}

/** Removes what was set out below this folder; what fails stays for another time. */
export async function emptyTrash(
  parent: string,
  { signal, onFailure }: { signal: AbortSignal; onFailure: (name: string, error: unknown) => void },
): Promise<void> {
  const trash = join(parent, ".trash");
  for (const name of await readdir(trash).catch(() => [])) {
    if (signal.aborted) return;
    await removeFolder(join(trash, name), { signal }).catch((error: unknown) => onFailure(join(trash, name), error));
  }
}

function trashBeside(folder: string): string {
  return join(dirname(folder), ".trash");
}

async function isThere(folder: string): Promise<boolean> {
  return (await lstat(folder).catch(() => undefined)) !== undefined;
}
