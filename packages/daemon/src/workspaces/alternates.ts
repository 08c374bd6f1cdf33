import { readFile, stat } from "node:fs/promises";
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
