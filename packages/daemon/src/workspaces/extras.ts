import { constants } from "node:fs";
import { copyFile, glob, lstat, mkdir } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";

/** As many as this are plenty for files that are needed and not in git. */
const most = 1_000;
const largestBytes = 100 * 2 ** 20;

/**
 * Copies files that git does not know and the work needs (`.env.local`) from the user's folder. Only plain files, by patterns that
 * stay inside; links are neither followed nor copied, and nothing that is there is replaced. Tells which were copied.
 */
export async function copyExtras(from: string, to: string, patterns: readonly string[]): Promise<string[]> {
  const copied: string[] = [];
  for (const pattern of patterns.filter(staysInside)) {
    for await (const path of glob(pattern, { cwd: from, exclude: (name) => name === ".git" })) {
      if (copied.length >= most) return copied;
      if (await copyPlain(from, to, path)) copied.push(path);
    }
  }
  return copied;
}

function staysInside(pattern: string): boolean {
  const path = normalize(pattern);
  return !path.startsWith("/") && !path.split("/").some((name) => name === ".." || /^\.git$/i.test(name));
}

async function copyPlain(from: string, to: string, path: string): Promise<boolean> {
  if (!staysInside(path) || !(await isPlain(from, path))) return false;
  await mkdir(dirname(join(to, path)), { recursive: true });
  try {
    await copyFile(join(from, path), join(to, path), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Neither it nor a folder on the way is a link. */
async function isPlain(root: string, path: string): Promise<boolean> {
  const names = path.split("/");
  for (const [index] of names.entries()) {
    const found = await lstat(join(root, ...names.slice(0, index + 1))).catch(() => undefined);
    const isLast = index === names.length - 1;
    if (!(isLast ? found?.isFile() && found.size <= largestBytes : found?.isDirectory())) return false;
  }
  return true;
}
