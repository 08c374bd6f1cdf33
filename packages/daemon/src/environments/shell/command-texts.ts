import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, ftruncateSync, writeSync } from "node:fs";
import type { Spool } from "../spool/spool.ts";
import { openNew, replace, SpoolUnreadable, unreadable, writeNew } from "../spool/spool-file.ts";
import { unlessThere } from "../system/unless-there.ts";

/**
 * Passes the texts of commands to a shell's worker. Creating a file takes longer than everything else that is done outside for a
 * short command. So short texts share one file, one after the other.
 *
 * 1. Only the process that made the file writes it. Another process that uses the same shell has a file of its own.
 * 2. The file is rewritten only after the command before has ended: that one has begun, or was given up and never will. A shell reads
 *    a short text whole before it runs it.
 * 3. An agent can delete the file. The next command then gets a new one.
 */
export class CommandTexts {
  readonly #spool: Spool;
  #shared: SharedFile | undefined;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  /** Complete when it returns. */
  write(id: string, text: string): WrittenText {
    const own = this.#spool.textFile(id);
    const bytes = Buffer.from(text);
    try {
      return bytes.length > mostShared ? this.#writeOwn(own, text) : this.#writeShared(bytes);
    } catch (error) {
      throw error instanceof SpoolUnreadable ? error : unreadable(error);
    }
  }

  close(): void {
    if (this.#shared !== undefined) closeSync(this.#shared.fd);
    this.#shared = undefined;
  }

  #writeOwn(file: string, text: string): WrittenText {
    const path = this.#spool.base + file;
    const isNew = unlessThere(() => writeNew(path, text));
    if (!isNew) replace(path, text);
    return { file, isNew };
  }

  #writeShared(bytes: Buffer): WrittenText {
    if (this.#shared !== undefined && fstatSync(this.#shared.fd).nlink === 0) this.close();
    const shared = (this.#shared ??= this.#newShared());
    // Before it is written: what does not fit may leave a part of it there.
    shared.size = Math.max(shared.size, bytes.length);
    const written = writeSync(shared.fd, bytes, 0, bytes.length, 0);
    if (written < bytes.length)
      throw new SpoolUnreadable("The command did not fit.", { mayPass: true, code: "ENOSPC" });
    if (bytes.length < shared.size) ftruncateSync(shared.fd, bytes.length);
    shared.size = bytes.length;
    return shared;
  }

  #newShared(): SharedFile {
    const open = (file: string) => openNew(this.#spool.base + file);
    let fd: number | undefined;
    if (unlessThere(() => (fd = open(firstFile)))) return { fd: fd!, size: 0, file: firstFile, isNew: true };
    const file = `${firstFile}-${randomBytes(8).toString("hex")}`;
    return { fd: open(file), size: 0, file, isNew: false };
  }
}

export interface WrittenText {
  /** What its name adds to what the shell's names begin with. */
  readonly file: string;
  /** Nobody ran the command before; otherwise it may have begun, or ended. */
  readonly isNew: boolean;
}

interface SharedFile extends WrittenText {
  readonly fd: number;
  size: number;
}

/** In bytes: what every shell reads at once. */
const mostShared = 1_024;

/** No command's id is the name of a file, so it is nobody else's. */
const firstFile = "command";
