import { closeSync, writeSync } from "node:fs";
import type { Flight } from "./flight.ts";
import { Hearing } from "../spool/hearing.ts";
import { wordMark } from "../keeper/index.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";

/** The two FIFOs of a shell. */
export class Channel {
  readonly #go: number;
  readonly done: Hearing;

  constructor(go: number, done: number, onWords: (words: readonly string[]) => void) {
    this.#go = go;
    this.done = new Hearing(done, { onWords, onEnd: () => undefined });
  }

  tellWorker(flight: Flight): void {
    const { id, file, pass } = flight;
    try {
      writeSync(this.#go, `${wordMark} ${id} ${file}\n${pass}\n`);
      flight.timesTold++;
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
