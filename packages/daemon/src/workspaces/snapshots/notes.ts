import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Skipped } from "../staging.ts";

/** What a workspace had at the last look that no tree holds, so that each is told of once. Beside the snapshots, where no agent reaches. */
export interface Notes {
  /** Repositories inside of it. */
  readonly nested: readonly string[];
  /** What could not be kept. */
  readonly skipped: readonly Skipped[];
}

export async function readNotes(folder: string): Promise<Notes> {
  try {
    return JSON.parse(await readFile(noteIn(folder), "utf8")) as Notes;
  } catch {
    return { nested: [], skipped: [] };
  }
}

export async function writeNotes(folder: string, { nested, skipped }: Notes): Promise<void> {
  await writeFile(noteIn(folder), JSON.stringify({ nested, skipped }));
}

/** Whether something could not be kept that was not there before, or for another reason. */
export function hasNewlySkipped({ skipped }: Pick<Notes, "skipped">, before: Notes): boolean {
  const known = new Set(before.skipped.map(({ path, why }) => `${why} ${path}`));
  return skipped.some(({ path, why }) => !known.has(`${why} ${path}`));
}

function noteIn(folder: string): string {
  return join(folder, "notes.json");
}
