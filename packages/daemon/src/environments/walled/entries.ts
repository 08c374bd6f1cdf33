import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";

/** Linux: opens a name without opening what it names. Node has no name for it. */
const O_PATH = 0o10000000;

export interface Entry {
  readonly fd: number;
  readonly kind: "folder" | "file" | "other";
}

/** Opens what a path names without following a link there; undefined: nothing. A link is `other`. */
export function openEntry(path: string | Buffer): Entry | undefined {
  // Most names looked for are missing, and an error costs more than a look.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  let fd: number;
  try {
    fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  const found = fstatSync(fd);
  return { fd, kind: found.isDirectory() ? "folder" : found.isFile() ? "file" : "other" };
}

export function openFolder(path: string | Buffer): number | undefined {
  const entry = openEntry(path);
  if (entry === undefined) return undefined;
  if (entry.kind === "folder") return entry.fd;
  closeSync(entry.fd);
  return undefined;
}
