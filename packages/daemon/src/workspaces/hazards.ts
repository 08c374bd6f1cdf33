import { CorralError } from "@corral/protocol";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { utf8 } from "./changes.ts";
import { type Skipped, skipped } from "./staging.ts";

/** Folders that cannot be looked into; each is told with a slash behind it. */
const closed = String.raw`-type d \( ! -readable -o ! -executable \) -printf '%p/\0' -prune`;

/** Neither file, link nor folder. */
const special = "! -type f ! -type d ! -type l -print0";

/**
 * What in a folder is neither file, link nor folder, cannot be looked into, or belongs to another repository. Git would wait for the
 * first (a FIFO called `.gitattributes`) and look into the last (`.git/HEAD` of a nested one, which may be a FIFO again), so all are found
 * first, by a program that opens nothing but folders. A `.git` that is a link is found, to be told, and not
 * covered: nothing can be mounted on one. What it leads to has no FIFO that git would open left.
 */
export const findOdd = `find . -path ./.git -prune -o -name .git -print0 -prune -o ${closed} -o ${special}`;

/** The same but for repositories, which stay what they are: in those, too, what git would wait for is found. */
export const findSpecial = `find . ${closed} -o ${special}`;

/** Of a folder, and of a repository that git finds there: it opens them whatever they are. */
const opened = String.raw`(\.git(ignore|attributes|modules)?|HEAD|commondir)`;
/** In a workspace's own repository it may open anything. */
const isOpened = new RegExp(String.raw`(^|/)${opened}$|^\.git/`);

/** Succeeds when a file, with what `findOdd` printed, names something that git must not meet. */
export const meetsHazard = (file: string) => `[ -s ${file} ] && grep -qzE '/${opened}$' ${file}`;

const openedNames = [".gitignore", ".gitattributes", ".gitmodules", "HEAD", "commondir"];

/** Where files are written nothing may be covered. There is nothing in what is removed. */
export const removeWaits = `find . -path ./.git -prune -o ! -type f ! -type d ! -type l \\( ${openedNames
  .map((name) => `-name ${name}`)
  .join(" -o ")} \\) -exec rm -f {} + 2>/dev/null`;

/**
 * Goes over a folder of the user's, where nothing can be covered. Throws when git would wait for something in it; tells the
 * folders that cannot be looked into.
 */
export async function lookOver(worktree: string, signal?: AbortSignal): Promise<readonly Skipped[]> {
  const names = [".git", ...openedNames].flatMap((name) => ["-o", "-name", name]).slice(1);
  const pipes = ["-type", "p", "(", ...names, ")", "-printf", "%P\\0"];
  const shut = ["-type", "d", "(", "!", "-readable", "-o", "!", "-executable", ")", "-printf", "%P/\\0", "-prune"];
  const found = await foundBy([worktree, "-path", `${worktree}/.git`, "-prune", "-o", ...pipes, "-o", ...shut], signal);
  const [folders, [pipe]] = [found.filter((path) => path.endsWith("/")), found.filter((path) => !path.endsWith("/"))];
  if (pipe === undefined) return folders.map((path) => skipped(path, "unreadable"));
  throw new CorralError("workspace.failed", `${join(worktree, utf8(pipe))} is a pipe, and git would wait for it.`, {
    hint: "Remove it, then try again",
  });
}

/** Not all folders can be looked into: that is no error. */
function foundBy(args: readonly string[], signal: AbortSignal | undefined): Promise<string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  const options = { env: { PATH: "/usr/bin:/bin" }, cwd: "/", encoding: "latin1", ...(signal && { signal }) } as const;
  execFile("find", args, options, (error, stdout) => {
    if (error === null || typeof error.code === "number") resolve(stdout.split("\0").filter(Boolean));
    else reject(error);
  });
  return promise;
}

export interface Odd {
  /** What git must not meet. */
  readonly covered: readonly string[];
  /** What cannot be kept. */
  readonly skipped: readonly Skipped[];
  /** Whether a name is of something that cannot be kept, or in a folder that is not looked into. */
  readonly isLeftOut: (name: string) => boolean;
}

/** Each is a mount; of more than these, whole folders are covered. */
const mostCovered = 500;

/** Throws when there are too many still. */
export function oddOf(paths: readonly string[]): Odd {
  const plain = paths.map((path) => path.replace(/^\.\/(?!$)/, ""));
  const shut = plain.filter((path) => path.endsWith("/"));
  const { covered, folders } = coverable(plain.filter((path) => isOpened.test(path)));
  const isBelow = (name: string) => folders.some((folder) => name.startsWith(folder));
  const others = plain.filter((path) => !path.endsWith("/") && !/(^|\/)\.git$|^\.git\//.test(path) && !isBelow(path));
  const special = new Set(others);
  const hidden = [...folders, ...shut];
  return {
    covered,
    skipped: [
      ...folders.filter((path) => !path.startsWith(".git/")).map((path) => skipped(path, "too many")),
      ...shut.filter((path) => !isBelow(path)).map((path) => skipped(path, "unreadable")),
      ...others.map((path) => skipped(path, "neither file nor link")),
    ],
    isLeftOut: (name) => special.has(name) || hidden.some((folder) => name.startsWith(folder)),
  };
}

/** In the place of very many, the folders that have most of them; nothing in those is looked at, or taken for gone. */
function coverable(hazards: readonly string[]): Pick<Odd, "covered"> & { readonly folders: readonly string[] } {
  if (hazards.length <= mostCovered) return { covered: hazards, folders: [] };
  const counts = Object.entries(Object.groupBy(hazards, top)).filter(([folder]) => folder !== "");
  const folders: string[] = [];
  let left = hazards.length;
  for (const [folder, { length } = []] of counts.toSorted(([, a], [, b]) => b!.length - a!.length)) {
    if (left + folders.length <= mostCovered) break;
    folders.push(folder);
    left -= length;
  }
  if (left + folders.length > mostCovered)
    throw new Error(`there are ${hazards.length} repositories, or files that git would wait for, inside of it`);
  const rest = hazards.filter((path) => !folders.includes(top(path)));
  return { covered: [...folders.map((folder) => folder.slice(0, -1)), ...rest], folders };
}

/** The folder at the top that something is in; the workspace's own repository is covered by its parts. */
function top(path: string): string {
  return /^(\.git\/[^/]+|(?!\.git\/)[^/]+)\//.exec(path)?.[0] ?? "";
}
