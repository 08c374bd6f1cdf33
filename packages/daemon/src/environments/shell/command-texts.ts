import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, ftruncateSync, writeSync } from "node:fs";
import type { Spool } from "../spool/spool.ts";
import { openNew, replace, SpoolUnreadable, unreadable, writeNew } from "../spool/spool-file.ts";
import { unlessThere } from "../system/unless-there.ts";

/**
 * The texts of a shell's commands, on their way to its worker. To make a file takes longer than all else that is done outside for a
 * short command, so the short ones are written to one file, one after the other.
 *
 * 1. Who made the file is the only one who writes it: what another process has told the worker before names a file of its own.
 * 2. It is written again when the command before has landed: that one has begun, or was given up and never will. A shell has read
 *    a short text whole when it begins with it.
 * 3. An agent can take the file away. Then the next command has another one.
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
