import type { Covered } from "../git/index.ts";
import { type Skipped, skipped } from "./staging.ts";

/**
 * What in a folder is neither file, link nor folder, or belongs to another repository. Git would wait for the one (a FIFO
 * called `.gitattributes`) and look into the other (`.git/HEAD` of a nested one, which may be a FIFO again), so both are found
 * first, by a program that opens nothing but folders.
 */
export const findOdd =
  "find . -path ./.git -prune -o -name .git -print0 -prune -o ! -type f ! -type d ! -type l -print0";

/** Succeeds when its input, what `findOdd` printed, names something that git must not meet. */
export const meetsHazard = String.raw`tr '\0\n' '\n?' | grep -qE '/\.git(ignore|attributes|modules)?$'`;

export interface Odd {
  /** What git must not meet; undefined when there is nothing such. */
  readonly covered: Pick<Covered, "folders" | "files"> | undefined;
  /** What cannot be kept. */
  readonly skipped: readonly Skipped[];
}

/** More of them than this are nobody's work. */
const mostCovered = 500;

/** Throws when there are too many. */
export function oddOf(paths: readonly string[], isFolder: (path: string) => boolean): Odd {
  const plain = paths.map((path) => path.replace(/^\.\//, ""));
  const hazards = plain.filter((path) => /(^|\/)\.git(ignore|attributes|modules)?$/.test(path));
  const rest = plain.filter((path) => !/(^|\/)\.git$/.test(path));
  if (hazards.length > mostCovered) throw new Error(`there are ${hazards.length} repositories inside of it`);
  const folders = hazards.filter(isFolder);
  const files = hazards.filter((path) => !isFolder(path));
  return {
    covered: hazards.length === 0 ? undefined : { folders, files },
    skipped: rest.map((path) => skipped(path, "neither file nor link")),
  };
}
