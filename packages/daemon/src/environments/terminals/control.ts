import type { SpawnedProcess } from "../port.ts";

/**
 * A client of tmux in control mode: commands go in, one a line; their answers come out in order, between `%begin` and `%end`, and in between
 * what panes print, as `%output`.
 *
 * 1. Commands are answered in the order in which they were asked.
 * 2. An answer stands in its true place among the output: what was printed before it comes before, the rest after.
 * 3. A line that never ends is not kept: what says it is ended.
 */
export class ControlMode {
  readonly #spawned: SpawnedProcess;
  readonly #onOutput: (bytes: Buffer) => void;
  readonly #asked: ((answer: Answer) => void)[] = [];
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** The answer that is being told. */
  #block: { readonly stamp: string; readonly lines: string[]; readonly isOurs: boolean } | undefined;
  #isOver = false;
  readonly #attached = Promise.withResolvers<boolean>();
  /** Whether it came to a session. What is asked before then is answered for nobody. */
  readonly attached = this.#attached.promise;
  /** When the client has ended, and all that it said was heard. */
  readonly over: Promise<void>;

  constructor(spawned: SpawnedProcess, onOutput: (bytes: Buffer) => void) {
    this.#spawned = spawned;
    this.#onOutput = onOutput;
    spawned.stderr.resume();
    spawned.stdout.on("data", (piece: Buffer) => this.#hear(piece));
    const heard = new Promise<void>((resolve) => spawned.stdout.once("close", () => resolve()));
    const ended = spawned.ended.then(
      () => heard,
      () => undefined,
    );
    this.over = ended.then(() => this.#end());
  }

  /** Calls back in the answer's place among the output. What is asked when the client has ended is answered with nothing. */
  ask(command: string, onAnswer: (answer: Answer) => void = () => undefined): void {
    if (this.#isOver) return onAnswer({ ok: false, lines: [] });
    this.#asked.push(onAnswer);
    this.#spawned.stdin.write(`${command}\n`);
  }

  /** The answer to the next command of the line that was asked last. */
  also(onAnswer: (answer: Answer) => void): void {
    if (this.#isOver) onAnswer({ ok: false, lines: [] });
    else this.#asked.push(onAnswer);
  }

  kill(): void {
    this.#spawned.kill();
  }

  #hear(piece: Buffer): void {
    let from = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, from)) {
      const line = Buffer.concat([...this.#rest, piece.subarray(from, end)]);
      this.#rest = [];
      this.#restBytes = 0;
      from = end + 1;
      this.#take(line);
    }
    this.#rest.push(piece.subarray(from));
    this.#restBytes += piece.length - from;
    if (this.#restBytes > longestLine) this.#spawned.kill();
  }

  #take(line: Buffer): void {
    const isMark = line[0] === percent;
    if (this.#block !== undefined) return this.#takeOfBlock(line, isMark ? line.toString("latin1") : "");
    if (!isMark) return;
    if (line.subarray(0, outputMark.length).equals(outputMark)) return this.#onOutput(unescaped(line));
    const [mark, time, number, flags] = line.toString("latin1").split(" ");
    if (mark === "%session-changed") this.#attached.resolve(true);
    if (mark === "%begin") this.#block = { stamp: `${time} ${number} ${flags}`, lines: [], isOurs: flags === "1" };
  }

  #takeOfBlock(line: Buffer, mark: string): void {
    const block = this.#block;
    if (block === undefined) return;
    const ok = mark === `%end ${block.stamp}`;
    if (ok || mark === `%error ${block.stamp}`) {
      this.#block = undefined;
      if (block.isOurs) this.#asked.shift()?.({ ok, lines: block.lines });
    } else if (block.lines.push(line.toString("utf8")) > mostLines) this.#spawned.kill();
  }

  #end(): void {
    this.#isOver = true;
    this.#attached.resolve(false);
    for (const onAnswer of this.#asked.splice(0)) onAnswer({ ok: false, lines: [] });
  }
}

export interface Answer {
  readonly ok: boolean;
  readonly lines: readonly string[];
}

const newline = 10;
const percent = 37;
const backslash = 92;
const longestLine = 4_000_000;
const mostLines = 100_000;
const outputMark = Buffer.from("%output %");

/** `%output %PANE BYTES`, with control characters and backslashes as three octal digits. */
function unescaped(line: Buffer): Buffer {
  const start = line.indexOf(" ", outputMark.length) + 1;
  const bytes = Buffer.allocUnsafe(line.length - start);
  let length = 0;
  for (let at = start; at < line.length; at++) {
    const byte = line[at] ?? 0;
    if (byte === backslash) {
      bytes[length++] = Number.parseInt(line.toString("latin1", at + 1, at + 4), 8) & 0xff;
      at += 3;
    } else bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}
