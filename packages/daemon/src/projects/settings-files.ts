import { createHash } from "node:crypto";
import { constants, lstatSync } from "node:fs";
import { lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CorralError, projectConfigFiles } from "@corral/protocol";
import { besideOf, removeHalfWritten } from "../half-written/index.ts";

/** The files of a folder that may hold settings for Corral. All of them are inert until trusted, whoever wrote them. */
export const settingsFiles: readonly string[] = Object.values(projectConfigFiles);

const largest = 256 * 1024;

export type ReadFile =
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "read"; readonly content: string; readonly sha256: string };

/** Reads a file of the folder itself: no link is followed, nothing but a plain file of a sensible size is opened. */
export async function readSettingsFile(worktree: string, path: string): Promise<ReadFile> {
  try {
    // Most have none, and calls of agents wait for this: asked at once, it takes a tenth of the time.
    if (lstatSync(dirname(join(worktree, path)), { throwIfNoEntry: false }) === undefined) return { kind: "absent" };
    await mustBeOwnFolder(dirname(join(worktree, path)));
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    await using file = await open(join(worktree, path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { size } = await mustBePlain(file);
    if (size > largest) return { kind: "unreadable", reason: `it has more than ${largest} bytes` };
    // One byte more than was seen: a file that grows meanwhile is not half read.
    const { bytesRead, buffer } = await file.read(Buffer.alloc(size + 1), 0, size + 1, 0);
    if (bytesRead !== size) return { kind: "unreadable", reason: "it changed while it was read" };
    const bytes = buffer.subarray(0, size);
    return { kind: "read", content: bytes.toString("utf8"), sha256: hash(bytes) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "absent" };
    return { kind: "unreadable", reason: code === "ELOOP" ? "it is a link" : message };
  }
}

/** Puts the whole content in place at once; a link in its place is replaced, not followed. */
export async function writeSettingsFile(worktree: string, path: string, content: string): Promise<void> {
  const place = join(worktree, path);
  const fresh = besideOf(place);
  try {
    await mkdir(dirname(place)).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    });
    await mustBeOwnFolder(dirname(place));
    removeHalfWritten(place);
    await rm(fresh, { force: true });
    await using file = await open(fresh, "wx", 0o644);
    await file.writeFile(content);
    await file.sync();
    await rename(fresh, place);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CorralError("project.unwritable", `${place} could not be written: ${why}`, { cause });
  }
}

/** Removes what daemons left in the folder that were killed while they wrote its settings. */
export function removeHalfWrittenSettings(worktree: string): void {
  for (const place of settingsFiles.map((path) => join(worktree, path))) {
    if (lstatSync(dirname(place), { throwIfNoEntry: false })?.isDirectory() === true) removeHalfWritten(place);
  }
}

export function hash(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

async function mustBeOwnFolder(folder: string): Promise<void> {
  const found = await lstat(folder);
  if (!found.isDirectory()) throw new Error(`${folder} is no folder of its own`);
}

async function mustBePlain(file: { stat(): Promise<{ isFile(): boolean; size: number }> }): Promise<{ size: number }> {
  const found = await file.stat();
  if (!found.isFile()) throw new Error("it is no plain file");
  return found;
}
