import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

/** Git itself follows alternates of alternates no deeper than this. */
const deepest = 5;

/** The object folders that a repo borrows from, those they borrow from included, that are there. */
export async function alternatesOf(objects: string, depth = 0): Promise<string[]> {
  if (depth > deepest) return [];
  const direct = (await readLines(join(objects, "info/alternates"))).map((line) => resolve(objects, unquote(line)));
  const found = await Promise.all(
    direct.map(async (path) => ((await isFolder(path)) ? [path, ...(await alternatesOf(path, depth + 1))] : [])),
  );
  return [...new Set(found.flat())];
}

/**
 * Those of them in which nothing but objects is. Whoever made the repo says where it borrows from, and a jail can read all that is there: what
 * holds anything else may be somebody's keys.
 */
export async function readableAlternates(objects: string): Promise<string[]> {
  const borrowed = await alternatesOf(objects);
  const isReadable = await Promise.all(borrowed.map(holdsObjectsAlone));
  return borrowed.filter((_, index) => isReadable[index]);
}

export async function holdsObjectsAlone(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => [""]);
  return names.every((name) => ofGit.test(name));
}

const ofGit = /^([0-9a-f]{2}|pack|info|maintenance\.lock|(tmp_obj|incoming)[\w-]*)$/;

async function readLines(path: string): Promise<string[]> {
  try {
    return (await readFile(path, "utf8")).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Git quotes as C does when a path has bytes that need it. */
function unquote(line: string): string {
  if (!line.startsWith('"')) return line;
  const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", a: "\x07" };
  const bytes = line
    .slice(1, line.lastIndexOf('"'))
    .replaceAll(/\\([0-7]{3})|\\(.)/g, (_, octal: string | undefined, char: string) =>
      octal === undefined ? (escapes[char] ?? char) : String.fromCharCode(Number.parseInt(octal, 8)),
    );
  return line.includes("\\") ? Buffer.from(bytes, "latin1").toString("utf8") : bytes;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
