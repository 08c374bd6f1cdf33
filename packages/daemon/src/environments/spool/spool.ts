import type { LimitHit } from "@corral/protocol";
import { closeSync, constants, ftruncateSync, lstatSync, type Stats, writeSync } from "node:fs";
import { join } from "node:path";
import {
  look,
  openFifo,
  openRegularFile,
  readRange,
  replace,
  SpoolUnreadable,
  unlinkIfThere,
  unreadable,
  withRegularFile,
  writeNew,
} from "./spool-file.ts";

/**
 * The spool as seen from outside. An agent can put anything into it. So links are never followed, only
 * regular files are read, only FIFOs are written to as FIFOs, and every read is bounded. File names are made from ids of
 * a strict shape, never read from the folder. What cannot be determined is thrown as `SpoolUnreadable`; it
 * never counts as missing.
 */
export class Spool {
  readonly folder: string;
  /** What the paths of its files begin with. */
  readonly base: string;
  /** Commands that lasted long enough to get a limit file. */
  readonly #limited = new Set<string>();
  /** How commands ended, where that could not be written down yet. */
  readonly #unwritten = new Map<string, string>();

  /** `prefix`: what the names of its files begin with, when it is one of several in the folder. */
  constructor(folder: string, { prefix = "" }: { prefix?: string } = {}) {
    this.folder = folder;
    this.base = `${folder}/${prefix}`;
  }

  exists(): boolean {
    return lstatSync(this.folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
  }

  hasBegun(id: string): boolean {
    return look(this.#path(id, "out")) !== undefined;
  }

  /** Whether only its first file was made: its worker has run nothing of it, and will not, once it has gone on to something else. */
  isUnbegun(id: string): boolean {
    return this.hasBegun(id) && look(this.#path(id, "err")) === undefined;
  }

  /** How the command ended; undefined as long as that is not written down completely. */
  ending(id: string): Ending | undefined {
    const path = this.#path(id, "rc");
    const found = look(path);
    if (found === undefined) return undefined;
    if (!found.isFile()) throw noFile();
    return parseEnding(endingIn(path) ?? "");
  }

  /** Throws when something is in the place of its end that is none, and never can be. */
  checkEnding(id: string): void {
    const found = look(this.#path(id, "rc"));
    if (found?.isFile() === false) throw noFile();
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
    this.endUnbegun(id, why);
    return true;
  }

  /** Writes down that a command never began and never will. As long as that is not written the keeper may take it for one that runs. */
  endUnbegun(id: string, why?: LimitHit): void {
    this.#write(id, { exitCode: givenUpCode, shellLost: why });
  }

  /** Writes down what its worker has said of a command, and cannot write any more. */
  settle(id: string, ending: Ending): void {
    this.#write(id, ending);
  }

  /** What there was no room for before. */
  writeAgain(): void {
    for (const [id, text] of this.#unwritten) {
      try {
        if (this.ending(id) === undefined) replace(this.#path(id, "rc"), text);
      } catch (error) {
        if (error instanceof SpoolUnreadable && error.mayPass) continue;
      }
      this.#unwritten.delete(id);
    }
  }

  /**
   * How long the command may take, in seconds, and since when by the machine's clock, which whoever joins it holds it to, and the keeper while nobody is
   * there. Without, that is the keeper's own grace.
   */
  writeLimit(id: string, { seconds, since }: { seconds: number; since: number }): void {
    const path = this.#path(id, "limit");
    attempt(() => {
      unlinkIfThere(path);
      // A little late, and never early.
      writeNew(path, `${Math.ceil(seconds)}\n${Math.ceil(since)}\n`);
      this.#limited.add(id);
    });
  }

  /** The seconds that a command has left at a moment of the machine's clock; undefined where nobody can tell. */
  timeLeft(id: string, now: number): number | undefined {
    const read = (fd: number, { size }: Stats) => readRange(fd, 0, Math.min(endingLimit, size)).toString("latin1");
    const [, seconds, since] = limitShape.exec(withRegularFile(this.#path(id, "limit"), read) ?? "") ?? [];
    if (since === undefined || Number(since) > now + 1) return undefined;
    this.#limited.add(id);
    return Number(seconds) - Math.max(0, now - Number(since));
  }

  /** The bytes of an output from `from` on, at most `limit`, and its whole size now. */
  readOutput(id: string, stream: OutputStream, from: number, limit: number): { bytes: Buffer; size: number } {
    const read = (fd: number, { size }: Stats) => ({
      bytes: readRange(fd, from, Math.min(limit, size - from)),
      size,
    });
    return withRegularFile(this.#path(id, extensions[stream]), read) ?? { bytes: Buffer.alloc(0), size: 0 };
  }

  isEmpty(id: string, stream: OutputStream): boolean {
    return look(this.#path(id, extensions[stream]))?.size === 0;
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
   * The command's text goes first and its ending last: cut short, it does not look begun and never over. What an agent
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

  /** What the keeper has written down of the stops that it did last. */
  latestStops(): readonly string[] {
    const tail = (fd: number, { size }: Stats) => readRange(fd, Math.max(0, size - tailBytes), tailBytes);
    return withRegularFile(`${this.base}stops`, tail)?.toString("latin1").split("\n") ?? [];
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

  /** What a command's text is in that has a file of its own, without what names begin with. */
  textFile(id: string): string {
    return fileOf(id, "cmd");
  }

  #write(id: string, { exitCode, shellLost }: Ending): void {
    this.#unwritten.set(id, `${exitCode}${shellLost === undefined ? "" : ` ${shellLost}`}\n`);
    this.writeAgain();
  }

  #path(id: string, extension: Extension): string {
    return this.base + fileOf(id, extension);
  }

  #fifo(name: FifoName): string {
    return typeof name === "string" ? `${this.base}${name}` : this.#path(...name);
  }
}

export type OutputStream = "stdout" | "stderr";

export interface Ending {
  readonly exitCode: number;
  /** Why the shell did not live through it; undefined when it did. */
  readonly shellLost: "respawned" | "aborted" | LimitHit | undefined;
}

const safeId = /^[A-Za-z0-9_-]{1,100}$/;
const extensions = { stdout: "out", stderr: "err" } as const;
const endingLimit = 32;
const tailBytes = 1_024;

/** What a shell says of a command ended by TERM. */
export const givenUpCode = 143;
const keptOutput = 16_384;
const limitShape = /^(\d{1,9})\n(\d{1,11})\n$/;
const endingShape = /^(\d{1,3})(?: (respawned|aborted|time|memory|pids|disk|output))?\n$/;

function fileOf(id: string, extension: Extension): string {
  if (!safeId.test(id)) throw new TypeError(`not an id for a command: ${JSON.stringify(id)}`);
  return `${id}.${extension}`;
}

function endingIn(path: string): string | undefined {
  return withRegularFile(path, (fd, { size }) => readRange(fd, 0, Math.min(endingLimit, size)).toString("latin1"));
}

function noFile(): SpoolUnreadable {
  return new SpoolUnreadable("The end of the command is no file.", { mayPass: false });
}

/**
 * What the worker said on `done` of how this command ended, and what was said after it; undefined when nothing was said, or by somebody who does not
 * know the pass.
 */
export function endingTold(
  said: readonly string[],
  { id, pass }: { id: string; pass: string },
): { readonly ending: Ending; readonly after: readonly string[] } | undefined {
  for (const [index, word] of said.entries()) {
    const told =
      word.startsWith(`${id} `) && word.endsWith(` ${pass}`) ? word.slice(id.length + 1, -pass.length - 1) : "";
    if (/^\d{1,3}$/.test(told))
      return { ending: { exitCode: Number(told), shellLost: undefined }, after: said.slice(index + 1) };
  }
  return undefined;
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
