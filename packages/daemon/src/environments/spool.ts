import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/**
 * The spool as seen from outside. What is in it may have been put there by an agent: links are never
 * followed, nothing but regular files is read and nothing but FIFOs is talked to, and every read is
 * bounded. File names come from ids of a strict shape, never from the folder.
 */
export class Spool {
  readonly folder: string;
  /** Commands that lasted long enough to get a limit file. */
  readonly #limited = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  exists(): boolean {
    return lstatSync(this.folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
  }

  hasBegun(id: string): boolean {
    return lstatSync(this.#path(id, "out"), { throwIfNoEntry: false }) !== undefined;
  }

  /** How the command ended; undefined as long as that is not written down completely. */
  ending(id: string): Ending | undefined {
    const path = this.#path(id, "rc");
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    return parseEnding(withRegularFile(path, (fd) => readRange(fd, 0, endingLimit).toString("latin1")) ?? "");
  }

  /** Complete when it returns, and replaced as a whole when it was there before. */
  writeCommand(id: string, text: string): void {
    const path = this.#path(id, "cmd");
    try {
      writeNew(path, text);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const beside = `${path}.${process.pid}`;
      unlinkIfThere(beside);
      writeNew(beside, text);
      renameSync(beside, path);
    }
  }

  /** What the keeper holds the command to while nobody is there. */
  writeLimit(id: string, seconds: number): void {
    const path = this.#path(id, "limit");
    unlinkIfThere(path);
    writeNew(path, `${seconds}\n`);
    this.#limited.add(id);
  }

  /** The bytes of an output from `from` on, at most `limit`, and its whole size now. */
  readOutput(id: string, stream: OutputStream, from: number, limit: number): { bytes: Buffer; size: number } {
    const read = (fd: number) => {
      const { size } = fstatSync(fd);
      return { bytes: readRange(fd, from, Math.min(limit, size - from)), size };
    };
    return withRegularFile(this.#path(id, extensions[stream]), read) ?? { bytes: Buffer.alloc(0), size: 0 };
  }

  /** Gives back what a command's output takes on the disk, when that is much. */
  shrink(id: string): void {
    for (const stream of ["out", "err"] as const) {
      const path = this.#path(id, stream);
      if ((lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) <= keptOutput) continue;
      withRegularFile(path, (fd) => ftruncateSync(fd), constants.O_WRONLY);
    }
  }

  /** The command's text goes first and its ending last: cut short, it can neither run again nor look begun. */
  remove(id: string): void {
    const limit = this.#limited.delete(id) ? (["limit"] as const) : [];
    for (const extension of ["cmd", ...limit, "out", "err", "rc"] as const) unlinkIfThere(this.#path(id, extension));
  }

  /** Throws when there is no such FIFO, or, opened for writing alone, nobody who reads it. */
  openFifo(name: "go" | "done" | "here", access: number): number {
    const fd = openSync(join(this.folder, name), access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (fstatSync(fd).isFIFO()) return fd;
    closeSync(fd);
    throw new Error(`${name} in the spool is not a FIFO`);
  }

  #path(id: string, extension: "cmd" | "limit" | "out" | "err" | "rc"): string {
    if (!safeId.test(id)) throw new TypeError(`not an id for a command: ${JSON.stringify(id)}`);
    return `${this.folder}/${id}.${extension}`;
  }
}

export type OutputStream = "stdout" | "stderr";

export interface Ending {
  readonly exitCode: number;
  /** Why the shell did not live through it; undefined when it did. */
  readonly shellLost: "respawned" | "limit" | "aborted" | undefined;
}

const safeId = /^[A-Za-z0-9_-]{1,100}$/;
const extensions = { stdout: "out", stderr: "err" } as const;
const endingLimit = 32;
const keptOutput = 16_384;
const endingShape = /^(\d{1,3})(?: (respawned|limit|aborted))?\n$/;

function parseEnding(text: string): Ending | undefined {
  const match = endingShape.exec(text);
  return match === null ? undefined : { exitCode: Number(match[1]), shellLost: match[2] as Ending["shellLost"] };
}

function withRegularFile<T>(path: string, use: (fd: number) => T, access: number = constants.O_RDONLY): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    return fstatSync(fd).isFile() ? use(fd) : undefined;
  } finally {
    closeSync(fd);
  }
}

function readRange(fd: number, from: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, length));
  let filled = 0;
  while (filled < buffer.length) {
    const got = readSync(fd, buffer, filled, buffer.length - filled, from + filled);
    if (got === 0) break;
    filled += got;
  }
  return buffer.subarray(0, filled);
}

const writeNewFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

function writeNew(path: string, text: string): void {
  const fd = openSync(path, writeNewFlags, 0o644);
  try {
    writeFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
