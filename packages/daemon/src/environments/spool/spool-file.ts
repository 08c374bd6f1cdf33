import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from "node:fs";

/**
 * Files in a folder that an agent can write to. Links are never followed, and the type of an entry is checked
 * before it is read or written.
 */

/** What is in the spool, or whether it is there, cannot be found out. */
export class SpoolUnreadable extends Error {
  /** What the system said, if it said something. */
  readonly code: string | undefined;
  /** The machine or this process is short of something; otherwise somebody has meddled. */
  readonly mayPass: boolean;

  constructor(message: string, { mayPass, cause, code }: { mayPass: boolean; cause?: unknown; code?: string }) {
    super(message, { cause });
    this.mayPass = mayPass;
    this.code = code ?? (cause as NodeJS.ErrnoException | undefined)?.code;
  }

  get isForWantOfRoom(): boolean {
    return noRoom.has(this.code ?? "");
  }
}

export function unreadable(cause: unknown): SpoolUnreadable {
  const { code = "" } = cause as NodeJS.ErrnoException;
  return new SpoolUnreadable(`The spool cannot be used: ${String(cause)}`, { mayPass: passing.has(code), cause });
}

const noRoom: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

/** Not an agent's doing, or nothing that a better moment would not mend. */
const passing: ReadonlySet<string> = new Set([
  ...["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EAGAIN", "EINTR", "EIO"],
  ...noRoom,
]);

export function openFifo(path: string, access: number): number {
  const fd = openSync(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(fd).isFIFO()) return fd;
  closeSync(fd);
  throw new Error(`${path} is not a FIFO`);
}

export function openRegularFile(path: string, access: number): number {
  const fd = openSync(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error(`${path} is not a file`);
}

export function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw unreadable(cause);
  }
}

/** Undefined: nothing is there, or it is no regular file. */
export function withRegularFile<T>(
  path: string,
  use: (fd: number, found: Stats) => T,
  access: number = constants.O_RDONLY,
): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if (notARegularFile.has((cause as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw unreadable(cause);
  }
  try {
    const found = fstatSync(fd);
    return found.isFile() ? use(fd, found) : undefined;
  } catch (cause) {
    throw unreadable(cause);
  } finally {
    closeSync(fd);
  }
}

/** What opening says of nothing, a link, a folder, and of FIFOs and sockets without another end. */
const notARegularFile: ReadonlySet<string> = new Set(["ENOENT", "ELOOP", "EISDIR", "ENXIO"]);

export function readRange(fd: number, from: number, length: number): Buffer {
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

/** Throws when something is there already. */
export function openNew(path: string): number {
  return openSync(path, writeNewFlags, 0o644);
}

export function writeNew(path: string, text: string): void {
  const fd = openNew(path);
  try {
    writeFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

export function replace(path: string, text: string): void {
  const beside = `${path}.${process.pid}`;
  try {
    unlinkIfThere(beside);
    writeNew(beside, text);
    renameSync(beside, path);
  } catch (cause) {
    throw unreadable(cause);
  }
}

export function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
