import type { LimitHit } from "@corral/protocol";
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

/**
 * The spool as seen from outside. What is in it may have been put there by an agent: links are never
 * followed, nothing but regular files is read and nothing but FIFOs is talked to, and every read is
 * bounded. File names come from ids of a strict shape, never from the folder. What cannot be found out is
 * thrown as `SpoolUnreadable` and never taken for something that is not there.
 */
export class Spool {
  readonly folder: string;
  readonly #prefix: string;
  /** Commands that lasted long enough to get a limit file. */
  readonly #limited = new Set<string>();

  /** `prefix`: what the names of its files begin with, when it is one of several in the folder. */
  constructor(folder: string, { prefix = "" }: { prefix?: string } = {}) {
    this.folder = folder;
    this.#prefix = prefix;
  }

  exists(): boolean {
    return lstatSync(this.folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
  }

  hasBegun(id: string): boolean {
    return look(this.#path(id, "out")) !== undefined;
  }

  /** How the command ended; undefined as long as that is not written down completely. */
  ending(id: string): Ending | undefined {
    const path = this.#path(id, "rc");
    const found = look(path);
    if (found === undefined) return undefined;
    if (!found.isFile()) throw new SpoolUnreadable("The end of the command is no file.", { mayPass: false });
    return parseEnding(endingIn(path) ?? "");
  }

  /** The same for who was told that it is there, and need not look first. */
  toldEnding(id: string): Ending | undefined {
    const text = endingIn(this.#path(id, "rc"));
    return text === undefined ? this.ending(id) : parseEnding(text);
  }

  /** Writes it down unless it was there before: then it may have begun, or ended. */
  writeNewCommand(id: string, text: string): boolean {
    try {
      writeNew(this.#path(id, "cmd"), text);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unreadable(error);
      return false;
    }
  }

  /** Complete when it returns, and replaced as a whole when it was there before. */
  writeCommand(id: string, text: string): void {
    if (!this.writeNewCommand(id, text)) replace(this.#path(id, "cmd"), text);
  }

  /**
   * Gives a command up that has not begun: from now on it never will. False when it began first. A stop may have
   * taken its id from the worker in the middle of reading it, so waiting for it to begin is of no use.
   */
  giveUp(id: string, why?: LimitHit): boolean {
    try {
      writeNew(this.#path(id, "out"), "");
    } catch {
      return false;
    }
    attempt(() => writeNew(this.#path(id, "rc"), `${givenUpCode}${why === undefined ? "" : ` ${why}`}\n`));
    return true;
  }

  /** What the keeper holds the command to while nobody is there. Without, that is the keeper's own grace. */
  writeLimit(id: string, seconds: number): void {
    const path = this.#path(id, "limit");
    attempt(() => {
      unlinkIfThere(path);
      writeNew(path, `${seconds}\n`);
      this.#limited.add(id);
    });
  }

  /** The bytes of an output from `from` on, at most `limit`, and its whole size now. */
  readOutput(id: string, stream: OutputStream, from: number, limit: number): { bytes: Buffer; size: number } {
    const read = (fd: number, { size }: Stats) => ({
      bytes: readRange(fd, from, Math.min(limit, size - from)),
      size,
    });
    return withRegularFile(this.#path(id, extensions[stream]), read) ?? { bytes: Buffer.alloc(0), size: 0 };
  }

  /** What a command's output takes now, both streams together. */
  outputBytes(id: string): number {
    return (look(this.#path(id, "out"))?.size ?? 0) + (look(this.#path(id, "err"))?.size ?? 0);
  }

  /** Gives back what a command's output takes on the disk, when that is much and can be done. */
  shrink(id: string): void {
    for (const stream of ["out", "err"] as const) {
      const path = this.#path(id, stream);
      attempt(() => {
        if ((look(path)?.size ?? 0) > keptOutput) withRegularFile(path, (fd) => ftruncateSync(fd), constants.O_WRONLY);
      });
    }
  }

  /**
   * The command's text goes first and its ending last: cut short, it can neither run again nor look begun. What an agent
   * put in the way of that stays, until all of the spool goes.
   */
  remove(id: string): void {
    const limit = this.#limited.delete(id) ? (["limit"] as const) : [];
    const paths = (["cmd", ...limit, "out", "err", "rc"] as const).map((extension) => this.#path(id, extension));
    attempt(() => paths.forEach(unlinkIfThere));
  }

  /** All of them or none. Throws when one is no FIFO, or, opened for writing alone, has nobody who reads it. */
  openFifos<const Wanted extends readonly FifoWanted[]>(...wanted: Wanted): { [Each in keyof Wanted]: number } {
    const opened: number[] = [];
    try {
      for (const [name, access] of wanted) opened.push(openFifo(this.#fifo(name), access));
    } catch (cause) {
      for (const fd of opened) closeSync(fd);
      throw unreadable(cause);
    }
    return opened as unknown as { [Each in keyof Wanted]: number };
  }

  hasFifo(name: "go"): boolean {
    return look(this.#fifo(name)) !== undefined;
  }

  /** What the keeper is asked is written here. */
  openControl(): number {
    try {
      return openRegularFile(join(this.folder, "control"), constants.O_WRONLY | constants.O_APPEND);
    } catch (cause) {
      throw unreadable(cause);
    }
  }

  append(fd: number, text: string): void {
    try {
      writeSync(fd, text);
    } catch (cause) {
      throw unreadable(cause);
    }
  }

  /** A program's script; complete when it returns. */
  writeProgram(id: string, text: string): void {
    try {
      writeNew(this.#path(id, "program"), text);
    } catch (cause) {
      throw unreadable(cause);
    }
  }

  /** The exit code of a program; undefined as long as that is not written down completely. */
  programEnding(id: string): number | undefined {
    const path = this.#path(id, "ended");
    if (look(path) === undefined) return undefined;
    return parseEnding(endingIn(path) ?? "")?.exitCode;
  }

  removeProgram(id: string): void {
    attempt(() => programFiles.forEach((extension) => unlinkIfThere(this.#path(id, extension))));
  }

  #path(id: string, extension: Extension): string {
    if (!safeId.test(id)) throw new TypeError(`not an id for a command: ${JSON.stringify(id)}`);
    return `${this.folder}/${this.#prefix}${id}.${extension}`;
  }

  #fifo(name: FifoName): string {
    return typeof name === "string" ? `${this.folder}/${this.#prefix}${name}` : this.#path(...name);
  }
}

/** What is in the spool, or whether it is there, cannot be found out. */
export class SpoolUnreadable extends Error {
  /** What the system said, if it said something. */
  readonly code: string | undefined;
  /** The machine or this process is short of something; otherwise somebody has meddled. */
  readonly mayPass: boolean;

  constructor(message: string, { mayPass, cause }: { mayPass: boolean; cause?: unknown }) {
    super(message, { cause });
    this.mayPass = mayPass;
    this.code = (cause as NodeJS.ErrnoException | undefined)?.code;
  }
}

function unreadable(cause: unknown): SpoolUnreadable {
  const { code = "" } = cause as NodeJS.ErrnoException;
  return new SpoolUnreadable(`The spool cannot be used: ${String(cause)}`, { mayPass: passing.has(code), cause });
}

/** Not an agent's doing, or nothing that a better moment would not mend. */
const passing: ReadonlySet<string> = new Set([
  ...["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EAGAIN", "EINTR", "EIO"],
  ...["ENOSPC", "EDQUOT"],
]);

export type OutputStream = "stdout" | "stderr";

export interface Ending {
  readonly exitCode: number;
  /** Why the shell did not live through it; undefined when it did. */
  readonly shellLost: "respawned" | "aborted" | LimitHit | undefined;
}

const safeId = /^[A-Za-z0-9_-]{1,100}$/;
const extensions = { stdout: "out", stderr: "err" } as const;
const endingLimit = 32;

/** What a shell says of a command ended by TERM. */
export const givenUpCode = 143;
const keptOutput = 16_384;
const endingShape = /^(\d{1,3})(?: (respawned|aborted|time|memory|pids|disk|output))?\n$/;

function endingIn(path: string): string | undefined {
  return withRegularFile(path, (fd, { size }) => readRange(fd, 0, Math.min(endingLimit, size)).toString("latin1"));
}

function parseEnding(text: string): Ending | undefined {
  const match = endingShape.exec(text);
  return match === null ? undefined : { exitCode: Number(match[1]), shellLost: match[2] as Ending["shellLost"] };
}

/** What cannot be done to the spool, because of what an agent did to it or because the disk is full, is let be. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Whatever depends on it finds out when it reads.
  }
}

type FifoName = "go" | "done" | "here" | "words" | readonly [program: string, end: (typeof programFifos)[number]];
type FifoWanted = readonly [name: FifoName, access: number];

const programFifos = ["stdin", "stdout", "stderr", "life"] as const;
const programFiles = ["program", ...programFifos, "ended"] as const;
type Extension = "cmd" | "limit" | "out" | "err" | "rc" | (typeof programFiles)[number];

function openFifo(path: string, access: number): number {
  const fd = openSync(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(fd).isFIFO()) return fd;
  closeSync(fd);
  throw new Error(`${path} is not a FIFO`);
}

function openRegularFile(path: string, access: number): number {
  const fd = openSync(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error(`${path} is not a file`);
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw unreadable(cause);
  }
}

/** Undefined: nothing is there, or it is no regular file. */
function withRegularFile<T>(
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

function replace(path: string, text: string): void {
  const beside = `${path}.${process.pid}`;
  try {
    unlinkIfThere(beside);
    writeNew(beside, text);
    renameSync(beside, path);
  } catch (cause) {
    throw unreadable(cause);
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
