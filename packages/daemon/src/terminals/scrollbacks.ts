import { type ArtifactId, CorralError, type TerminalId } from "@corral/protocol";
import type { Artifacts, Growing } from "../artifacts/index.ts";
import { Secrets } from "../secrets/index.ts";
import type { TerminalPlace } from "./held.ts";

/** What is, or was, on terminals, as text: of each there is a file, from its beginning on. */
export interface Scrollbacks {
  /** Begins the file of one that is open; one that an earlier process began goes on. */
  follow(of: TerminalPlace, id: TerminalId, text: TextOfTerminal): Scrollback;
  /** Undefined when it is no longer kept. */
  read(id: TerminalId): Promise<string | undefined>;
  /** The address of the file that an earlier process left. */
  left(id: TerminalId): Promise<string | undefined>;
}

export interface TextOfTerminal {
  read(): Promise<string>;
  /** Aborted: the terminal is let go of, and nothing of it is written any more. */
  readonly over: AbortSignal;
}

export interface Scrollback {
  /** The address of the file, once there is one. */
  readonly url: string | undefined;
  /** Resolves when the file is there, or cannot be. Never rejects. */
  readonly begun: Promise<void>;
  /** There is something new on the terminal: the file follows soon. */
  touch(): void;
  /** Returns the address of the file, which is there when this resolves, whole; without a text it stays as it was last. */
  finish(text: string | undefined): Promise<string>;
}

/** Each is an artifact of the shell or session, with an id that the terminal's tells. */
export function keepScrollbacks(
  artifacts: Pick<Artifacts, "begin" | "read" | "find">,
  { everyMs = 1000, secrets = new Secrets() }: { readonly everyMs?: number; readonly secrets?: Secrets } = {},
): Scrollbacks {
  return {
    follow(owner, terminal, text) {
      const wanted = { owner, id: artifactOf(terminal), name: `${terminal}.txt`, kind: "scrollback" } as const;
      return new Following(() => artifacts.begin(wanted), text, { everyMs, secrets });
    },
    async read(terminal) {
      try {
        const pieces = await Array.fromAsync(artifacts.read(artifactOf(terminal)));
        return Buffer.concat(pieces).toString("utf8");
      } catch (error) {
        if (error instanceof CorralError && (error.code === "not-found" || error.code === "artifact.expired"))
          return undefined;
        throw error;
      }
    },
    left: async (terminal) => (await artifacts.find(artifactOf(terminal)))?.url,
  };
}

/**
 * 1. One text is asked for at a time, and none for a while after it: the longer that took, the longer.
 * 2. Only what differs from the last text is written. An artifact that grows asks for no event.
 * 3. The last word is that of `finish`: a text that was asked for before it is dropped.
 */
class Following implements Scrollback {
  readonly begun: Promise<void>;
  readonly #begin: () => Promise<Growing>;
  readonly #text: TextOfTerminal;
  readonly #everyMs: number;
  readonly #secrets: Secrets;
  #file: Promise<Growing> | undefined;
  #url: string | undefined;
  #written = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  #isTouched = false;
  #isOver = false;

  constructor(
    begin: () => Promise<Growing>,
    text: TextOfTerminal,
    { everyMs, secrets }: { readonly everyMs: number; readonly secrets: Secrets },
  ) {
    this.#begin = begin;
    this.#text = text;
    this.#everyMs = everyMs;
    this.#secrets = secrets;
    this.begun = this.#open().then(nothing, nothing);
  }

  get url(): string | undefined {
    return this.#url;
  }

  touch(): void {
    this.#isTouched = true;
    this.#lookIn(this.#everyMs);
  }

  async finish(text: string | undefined): Promise<string> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (text !== undefined) await this.#write(text);
    const file = await this.#open();
    return (await file.finish()).url;
  }

  #lookIn(ms: number): void {
    if (!this.#isOver && !this.#text.over.aborted) this.#timer ??= setTimeout(() => void this.#look(), ms).unref();
  }

  /** What fails is tried again with the next, and told at the end. */
  async #look(): Promise<void> {
    const began = performance.now();
    this.#isTouched = false;
    try {
      const text = await this.#text.read();
      // Nothing comes of a terminal that is just being taken up.
      if (!this.#isOver && !this.#text.over.aborted && text !== "") await this.#write(text);
    } catch {
      this.#isTouched = true;
    }
    this.#timer = undefined;
    if (this.#isTouched) this.#lookIn(this.#everyMs + 10 * (performance.now() - began));
  }

  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(this.#secrets.masked(text));
    const file = await this.#open();
    const same = commonLength(this.#written, bytes);
    if (same === bytes.length && same === this.#written.length && file.now.bytes === same) return;
    this.#written = bytes;
    const from = Math.min(same, file.now.bytes);
    await file.replace(from, bytes.subarray(from));
  }

  #open(): Promise<Growing> {
    this.#file ??= this.#begin().then(
      (file) => {
        this.#url = file.url;
        return file;
      },
      (error: unknown) => {
        this.#file = undefined;
        throw error;
      },
    );
    return this.#file;
  }
}

function commonLength(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length);
  if (one.subarray(0, most).equals(other.subarray(0, most))) return most;
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (one.subarray(low, middle).equals(other.subarray(low, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}

function nothing(): void {}

function artifactOf(terminal: TerminalId): ArtifactId {
  return terminal.replace(/^trm_/, "art_") as ArtifactId;
}
