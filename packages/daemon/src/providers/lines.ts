import { bounds } from "./bounds.ts";
import { refused } from "./failure.ts";

/** Cuts a text that comes in pieces into its lines, whichever way they end. A line that never ends is given up. */
export class Lines {
  readonly #decoder = new TextDecoder();
  readonly #label: string;
  #rest = "";
  /** The last piece ended with a carriage return, whose line feed may begin the next one. */
  #returned = false;

  constructor(label: string) {
    this.#label = label;
  }

  /** The lines that have ended with these bytes. */
  take(bytes: Uint8Array): readonly string[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (this.#returned && text.startsWith("\n")) text = text.slice(1);
    if (text !== "") this.#returned = text.endsWith("\r");
    const lines = text.split(lineEnd);
    const last = lines.pop() ?? "";
    if (lines.length > 0) {
      lines[0] = this.#rest + lines[0]!;
      this.#rest = "";
    }
    // Added to and not looked at: a line of many pieces is put together once.
    this.#rest += last;
    if (this.#rest.length > bounds.line || lines.some(({ length }) => length > bounds.line)) throw this.#tooLong();
    return lines;
  }

  /** What came after the last line's end. */
  end(): string {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = "";
    return rest;
  }

  #tooLong() {
    return refused(
      `${this.#label} sent a line of more than ${bounds.line / 1024 / 1024} MiB in its reply.`,
      "No model server does that. Check its address, or use another model.",
    );
  }
}

const lineEnd = /\r\n|\n|\r/;
