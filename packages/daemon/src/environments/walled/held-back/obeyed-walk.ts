import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync } from "node:fs";
import { at, readable } from "../byte-paths.ts";
import { whyObeyed } from "../shield/protected.ts";

/** A name that others obey, in a folder that is open as long as nobody asks for the next one. */
export interface Found {
  readonly parent: number;
  readonly name: string;
  /** Relative to the workspace. */
  readonly path: string;
}

/**
 * Finds the names that others obey in a workspace, at any depth.
 *
 * 1. No link is followed: each folder is opened from the one above it.
 * 2. A folder is read again only when it has changed. The kernel notes that in a time that no agent can set. One that changed a moment before it
 *    was read may change once more at the same time, so it is read again.
 * 3. Folders called `node_modules` are left out: package managers put such names there by the dozen, and people do not work there.
 *    So is what is below a name that others obey, for it is judged as a whole.
 */
export class ObeyedWalk {
  readonly #known = new Map<string, Known>();
  #round = 0;

  /** `deepest`: 0 is the workspace's own folder alone. Each folder yields once before its names do, for who wants to pause. */
  *visit(workspace: number, deepest = mostLevels): Generator<Found | "folder"> {
    // What looks only near the top may come in between.
    if (deepest === mostLevels) this.#round += 1;
    yield* this.#folder(workspace, "", deepest);
    if (deepest < mostLevels) return;
    for (const [path, { round }] of this.#known) if (round !== this.#round) this.#known.delete(path);
  }

  *#folder(fd: number, path: string, levels: number): Generator<Found | "folder"> {
    yield "folder";
    const known = this.#lookInto(fd, path);
    known.round = this.#round;
    for (const name of known.obeyed) yield { parent: fd, name, path: joined(path, name) };
    if (levels === 0) return;
    for (const name of known.folders) {
      if (this.#isAsBefore(fd, name, joined(path, name))) continue;
      const child = openFolderIn(fd, name);
      if (child === undefined) continue;
      try {
        yield* this.#folder(child, joined(path, name), levels - 1);
      } finally {
        closeSync(child);
      }
    }
  }

  /** Most folders have neither folders nor such names in them, and then one question to the kernel is enough. */
  #isAsBefore(parent: number, name: string, path: string): boolean {
    const known = this.#known.get(path);
    if (known?.isSettled !== true || known.folders.length > 0 || known.obeyed.length > 0) return false;
    const look = () => lstatSync(at(parent, name), { throwIfNoEntry: false });
    const found = unlessClosed(() => reachable(parent, look));
    if (found?.ino !== known.ino || found.ctimeMs !== known.ctimeMs) return false;
    known.round = this.#round;
    return true;
  }

  #lookInto(fd: number, path: string): Known {
    const { ino, ctimeMs } = fstatSync(fd);
    const known = this.#known.get(path);
    if (known?.isSettled === true && known.ino === ino && known.ctimeMs === ctimeMs) return known;
    const isSettled = ctimeMs < Date.now() - racyMs;
    const read: Known = { ino, ctimeMs, isSettled, round: this.#round, obeyed: [], folders: [] };
    const entries = unlessClosed(() => reachable(fd, () => readdirSync(`/proc/self/fd/${fd}`, listing))) ?? [];
    for (const entry of entries) {
      if (whyObeyed(readable(entry.name)) !== undefined) read.obeyed.push(entry.name);
      else if (entry.isDirectory() && entry.name !== "node_modules") read.folders.push(entry.name);
    }
    this.#known.set(path, read);
    return read;
  }
}

interface Known {
  readonly ino: number;
  readonly ctimeMs: number;
  readonly isSettled: boolean;
  round: number;
  readonly obeyed: string[];
  readonly folders: string[];
}

/** Names are bytes, and need not be UTF-8. */
const listing = { withFileTypes: true, encoding: "latin1" } as const;

/** More than a tick of the clock that folders' times are taken from. */
const racyMs = 100;

/** Each level holds a descriptor. */
const mostLevels = 200;

const O_PATH = 0o10000000;

function openFolderIn(parent: number, name: string): number | undefined {
  const open = () => openSync(at(parent, name), O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  try {
    return unlessClosed(() => reachable(parent, open));
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** An agent may have closed its own folder. It is opened for as long as it takes. One of another user is not ours to open. */
export function reachable<T>(folder: number, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!isClosed(error)) throw error;
    const { mode } = fstatSync(folder);
    try {
      chmodSync(`/proc/self/fd/${folder}`, (mode & 0o7777) | 0o700);
    } catch {
      throw error;
    }
    try {
      return act();
    } finally {
      chmodSync(`/proc/self/fd/${folder}`, mode & 0o7777);
    }
  }
}

/** Undefined: it belongs to another user and is closed. An agent is nobody else than we are, so it cannot have been there either. */
export function unlessClosed<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (isClosed(error)) return undefined;
    throw error;
  }
}

function isClosed(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EACCES";
}

export function joined(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}
