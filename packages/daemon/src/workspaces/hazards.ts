import { type Skipped, skipped } from "./staging.ts";

/**
 * What in a folder is neither file, link nor folder, or belongs to another repository. Git would wait for the one (a FIFO
 * called `.gitattributes`) and look into the other (`.git/HEAD` of a nested one, which may be a FIFO again), so both are found
 * first, by a program that opens nothing but folders. A `.git` that is a link is found, to be told, and not
 * covered: nothing can be mounted on one. What it leads to has no FIFO that git would open left.
 */
export const findOdd =
  "find . -path ./.git -prune -o -name .git -print0 -prune -o ! -type f ! -type d ! -type l -print0";

/** The same but for repositories, which stay what they are: in those, too, what git would wait for is found. */
export const findSpecial = "find . ! -type f ! -type d ! -type l -print0";

/** Of a folder, and of a repository that git finds there: it opens them whatever they are. */
const opened = String.raw`(\.git(ignore|attributes|modules)?|HEAD|commondir)`;
/** In a workspace's own repository it may open anything. */
const isOpened = new RegExp(String.raw`(^|/)${opened}$|^\.git/`);

/** Succeeds when its input, what `findOdd` printed, names something that git must not meet. */
export const meetsHazard = String.raw`tr '\0\n' '\n?' | grep -qE '/${opened}$'`;

/** Where files are written nothing may be covered. There is nothing in what is removed. */
export const removeWaits = `find . -path ./.git -prune -o ! -type f ! -type d ! -type l \\( ${[
  ".gitignore",
  ".gitattributes",
  ".gitmodules",
  "HEAD",
  "commondir",
]
  .map((name) => `-name ${name}`)
  .join(" -o ")} \\) -exec rm -f {} + 2>/dev/null`;

export interface Odd {
  /** What git must not meet. */
  readonly covered: readonly string[];
  /** What cannot be kept. */
  readonly skipped: readonly Skipped[];
  /** Names of what is neither file, link nor folder. */
  readonly special: ReadonlySet<string>;
}

/** More of them than this are nobody's work. */
const mostCovered = 500;

/** Throws when there are too many. */
export function oddOf(paths: readonly string[]): Odd {
  const plain = paths.map((path) => path.replace(/^\.\//, ""));
  const covered = plain.filter((path) => isOpened.test(path));
  if (covered.length > mostCovered)
    throw new Error(`there are ${covered.length} repositories, or files that git would wait for, inside of it`);
  const special = plain.filter((path) => !/(^|\/)\.git$|^\.git\//.test(path));
  return {
    covered,
    skipped: special.map((path) => skipped(path, "neither file nor link")),
    special: new Set(special),
  };
}
