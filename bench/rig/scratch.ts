import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A folder to measure in, kept until the end: ext4 creates files the slower the more were deleted nearby in the last minutes, so
 * that clearing up after one round would slow down the next.
 */
export function scratchFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  if (folders.push(folder) === 1) process.once("exit", removeAll);
  return folder;
}

const folders: string[] = [];

function removeAll(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
