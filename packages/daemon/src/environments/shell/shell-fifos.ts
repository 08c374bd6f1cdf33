import { closeSync, writeSync } from "node:fs";
import type { PendingCommand } from "./pending-command.ts";
import { FifoListener } from "../spool/fifo-listener.ts";
import { wordMark } from "../keeper/index.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";

/** The two FIFOs of a shell: `go`, which the worker reads commands from, and `done`, on which it says that they ended. */
export class ShellFifos {
  readonly #go: number;
  readonly done: FifoListener;

  constructor(go: number, done: number, onWords: (words: readonly string[]) => void) {
    this.#go = go;
    this.done = new FifoListener(done, { onWords, onEnd: () => undefined });
  }

  tellWorker(pending: PendingCommand): void {
    const { id, file, pass } = pending;
    try {
      writeSync(this.#go, `${wordMark} ${id} ${file}\n${pass}\n`);
      pending.timesTold++;
    } catch (cause) {
      // Somebody else has filled it up.
      throw new SpoolUnreadable("The shell cannot be reached.", { mayPass: false, cause });
    }
  }

  close(): void {
    closeSync(this.#go);
    this.done.close();
  }
}
