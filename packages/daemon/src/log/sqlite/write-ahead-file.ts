import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

/**
 * The file of the write-ahead log, synced by ourselves: SQLite as it comes with Node syncs with `fsync`, which also
 * writes down when the file was changed, and with it the file system's journal. `fdatasync` on a file that has its
 * length already waits for the data alone, which takes half the time or less.
 *
 * Whatever SQLite has written to the file is durable when `sync` returns, whichever descriptor it was written through. SQLite keeps no locks
 * on this file, so closing a descriptor of it loses none.
 */
export class WriteAheadFile {
  readonly #file: string;
  readonly #fd: number;

  constructor(file: string) {
    this.#file = file;
    this.#fd = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW);
  }

  /**
   * Gives the file its length in advance, in zeros, which end a log that is read. Nobody may write to the log meanwhile: to be called
   * inside of a transaction that may write. Where there is little room, or none is given, all stays as it was.
   */
  extend(bytes: number): void {
    const { size } = fstatSync(this.#fd);
    if (size >= bytes || roomBeside(this.#file) < bytes * 50) return;
    try {
      for (let at = size; at < bytes;) at += writeSync(this.#fd, zeros, 0, Math.min(zeros.length, bytes - at), at);
    } catch {
      ftruncateSync(this.#fd, size);
    }
  }

  sync(): void {
    fdatasyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** A page at a time: of what is written at once Linux makes one large page, all of which counts as written for every few bytes in it. */
const zeros = Buffer.alloc(4096);

function roomBeside(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}
