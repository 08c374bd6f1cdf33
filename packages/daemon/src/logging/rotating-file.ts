import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface Rotation {
  /** A file that would grow beyond this is put aside first. */
  readonly maxBytes: number;
  /** How many files there are at most, the one written to included. */
  readonly maxFiles: number;
}

/**
 * A file of lines that never grows beyond a bound: `daemon.log` is written to, `daemon.1.log` came before it, and so on.
 *
 * 1. One process writes. The file is opened by the first line, so that whoever has nothing to say touches nothing.
 * 2. A line that was written stays, whole, when the process is killed in the next moment.
 * 3. Writing never throws. Lines lost to a full disk are counted, and the count is told once there is room.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #rotation: Rotation;
  readonly #onGap: (lost: number) => string;
  #descriptor: number | undefined;
  #size = 0;
  #lost = 0;
  /** The file ends in the middle of a line. */
  #torn = false;

  /** `onGap` words the line that stands for so many lost ones. */
  constructor(path: string, rotation: Rotation, onGap: (lost: number) => string) {
    this.#path = path;
    this.#rotation = rotation;
    this.#onGap = onGap;
  }

  /** Takes a line with its line feed. */
  write(line: string): void {
    try {
      if (this.#lost > 0) this.#put(this.#onGap(this.#lost));
      this.#lost = 0;
      this.#put(line);
    } catch {
      this.#lost += 1;
      this.close();
    }
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #put(line: string): void {
    const bytes = Buffer.from(line);
    let descriptor = this.#descriptor ?? this.#open();
    if (this.#size > 0 && this.#size + bytes.length > this.#rotation.maxBytes) descriptor = this.#rotate();
    const whole = this.#torn ? Buffer.concat([Buffer.from("\n"), bytes]) : bytes;
    const written = writeSync(descriptor, whole);
    this.#size += written;
    this.#torn = written < whole.length;
    if (this.#torn) throw new Error("there was no room for the line");
  }

  #open(): number {
    makeFolder(dirname(this.#path));
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const descriptor = openSync(this.#path, flags, 0o600);
    this.#descriptor = descriptor;
    this.#size = fstatSync(descriptor).size;
    this.#torn = this.#size > 0 && lastByte(descriptor, this.#size) !== 0x0a;
    return descriptor;
  }

  /** Killed between two of the renames, it leaves a number out, which the next rotation fills. */
  #rotate(): number {
    this.close();
    const { maxFiles } = this.#rotation;
    rmSync(this.#aside(maxFiles - 1), { force: true });
    for (let age = maxFiles - 2; age >= 0; age--) moveIfThere(this.#aside(age), this.#aside(age + 1));
    return this.#open();
  }

  #aside(age: number): string {
    if (age === 0) return this.#path;
    return join(dirname(this.#path), basename(this.#path).replace(/(\.[^.]*)?$/, `.${age}$1`));
  }
}

/** Its parent is there, or there is no place for lines. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function lastByte(descriptor: number, size: number): number | undefined {
  const byte = Buffer.alloc(1);
  readSync(descriptor, byte, 0, 1, size - 1);
  return byte[0];
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
