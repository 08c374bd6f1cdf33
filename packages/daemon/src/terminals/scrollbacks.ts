import type { TerminalId } from "@corral/protocol";
import type { TerminalPlace } from "./held.ts";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What was on terminals that have ended, as text. */
export interface Scrollbacks {
  /** Returns the address of a file with it. It is there when this returns, whole. */
  write(of: TerminalPlace, id: TerminalId, text: string): Promise<string>;
  /** Undefined when it is no longer kept. */
  read(id: TerminalId): Promise<string | undefined>;
}

/** Each in a file of its own; the newest so many are kept. */
export class ScrollbackFiles implements Scrollbacks {
  readonly #folder: string;
  readonly #most: number;

  constructor(home: string, { most = 200 } = {}) {
    this.#folder = join(home, "terminals");
    this.#most = most;
  }

  async write(_of: TerminalPlace, id: TerminalId, text: string): Promise<string> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const file = join(this.#folder, `${id}.txt`);
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    this.#tidy();
    return pathToFileURL(file).href;
  }

  async read(id: TerminalId): Promise<string | undefined> {
    try {
      return readFileSync(join(this.#folder, `${id}.txt`), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  #tidy(): void {
    const names = readdirSync(this.#folder);
    if (names.length <= this.#most) return;
    const byAge = names
      .map((name) => ({
        file: join(this.#folder, name),
        age: statSync(join(this.#folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
      }))
      .toSorted((a, b) => a.age - b.age);
    for (const { file } of byAge.slice(0, names.length - this.#most)) rmSync(file, { force: true });
  }
}
