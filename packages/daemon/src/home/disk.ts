import { readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "./home.ts";

/** How much the home's own files take, and how much room is left. */
export function diskUse({ folder, database }: Home): { freeBytes: number; databaseBytes: number; logBytes: number } {
  const { bavail, bsize } = statfsSync(folder);
  const logs = join(folder, "logs");
  return {
    freeBytes: bavail * bsize,
    databaseBytes: sizeOf(database) + sizeOf(`${database}-wal`),
    logBytes: namesIn(logs).reduce((sum, name) => sum + sizeOf(join(logs, name)), 0),
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
