import type { WorkspaceDiff } from "@corral/client";
import { shownInLine } from "../terminal/output.ts";

/** A line for each file: how much of it changed. */
export function changedLines(files: WorkspaceDiff["files"]): string[] {
  return files.map(({ path, insertions, deletions }) =>
    insertions === null ? `${shownInLine(path)}  binary` : `${shownInLine(path)}  +${insertions} -${deletions}`,
  );
}

/** Files that are left out, and why. */
export function leftOutWords(skipped: NonNullable<WorkspaceDiff["skipped"]>): string {
  return skipped.map(({ path, why }) => `${shownInLine(path)} (${shownInLine(why)})`).join(", ");
}
