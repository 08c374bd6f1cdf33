import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { GuardedEntry } from "./walls.ts";

/** Linux: opens a name without opening what it names. Node has no name for it. */
const O_PATH = 0o10000000;

/**
 * Opens what is bound over itself in a workspace: `.git`, which could be moved away otherwise, and in it what
 * git obeys. An agent may have put links there, even while this runs; each step is opened from the
 * step before without following any, and what is opened here is what gets bound.
 */
export function openGuarded(workspace: string): GuardedEntry[] {
  const git = openEntry(`${workspace}/.git`);
  if (git === undefined) return [];
  const inside = ["config", "hooks"].flatMap((name) => {
    const entry = openEntry(`/proc/self/fd/${git.fd}/${name}`);
    return entry === undefined ? [] : [{ fd: entry.fd, path: `.git/${name}`, access: "read" as const }];
  });
  return [{ fd: git.fd, path: ".git", access: git.isFolder ? "write" : "read" }, ...inside];
}

export function closeGuarded(entries: readonly GuardedEntry[]): void {
  for (const { fd } of entries) closeSync(fd);
}

function openEntry(path: string): { fd: number; isFolder: boolean } | undefined {
  let fd: number;
  try {
    fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  const found = fstatSync(fd);
  if (found.isDirectory() || found.isFile()) return { fd, isFolder: found.isDirectory() };
  closeSync(fd);
  return undefined;
}
