import { shown } from "./output.ts";
import { widthOf } from "./width.ts";

/** What the text is in, besides plain words. */
type Style = "bold" | "code" | "heading";

const on: Record<Style, string> = { bold: "\u001b[1m", code: "\u001b[36m", heading: "\u001b[1m" };
const off: Record<Style, string> = { bold: "\u001b[22m", code: "\u001b[39m", heading: "\u001b[22m" };
const dimmed = ["\u001b[2m", "\u001b[22m"] as const;

/** The beginning of a line of which it cannot be told yet what it begins. */
const undecided = /^ *(?:#{1,6}|[-*+]|`{1,2})?$/;
const narrowest = 20;

/**
 * Light Markdown for a terminal, while it streams: headings, bold, code, lists and fences; words are not broken at the margin. Whatever
 * is not closed on its line ends with it, so nothing bleeds. What is pushed comes out whole, but for the marks; a word may be held back until it ends.
 */
export class Markdown {
  readonly #columns: () => number;
  /** Undecided: begins a line, or may be half of a mark. */
  #held = "";
  #isLineStart = true;
  #isFenced = false;
  #isMark = false;
  readonly #open = new Set<Style>();
  #column = 0;
  #word = "";
  #wordWidth = 0;
  #blanks = "";
  #indent = "";
  #out = "";

  constructor(columns: () => number) {
    this.#columns = () => Math.max(columns(), narrowest);
  }

  push(text: string): string {
    for (const character of text) this.#take(character);
    return this.#given();
  }

  /** What was held back. The next push begins a line. */
  end(): string {
    if (this.#isLineStart) this.#begin();
    this.#inline("");
    this.#endLine("");
    this.#isFenced = false;
    return this.#given();
  }

  #take(character: string): void {
    if (character === "\n") {
      if (this.#isLineStart) this.#begin();
      this.#inline("");
      return this.#endLine("\n");
    }
    if (!this.#isLineStart) return this.#inline(character);
    this.#held += character;
    if (!undecided.test(this.#held) || this.#held.length > 80) this.#begin();
  }

  /** The line's beginning is known: a fence, a heading, an item or words. */
  #begin(): void {
    const line = this.#held;
    this.#held = "";
    this.#isLineStart = false;
    if (/^ *```/.test(line)) {
      this.#isFenced = !this.#isFenced;
      this.#isMark = true;
      return this.#literal(line);
    }
    if (this.#isFenced) return this.#literal(line);
    const heading = /^ *#{1,6} (.*)$/.exec(line);
    if (heading !== null) {
      this.#style("heading");
      return this.#words(heading[1] ?? "");
    }
    const item = /^( *)([-*+]) (.*)$/.exec(line);
    if (item === null) return this.#words(line);
    const [, indent = "", , rest = ""] = item;
    this.#indent = `${indent}  `;
    this.#out += `${indent}• `;
    this.#column = indent.length + 2;
    this.#words(rest);
  }

  #words(text: string): void {
    for (const character of text) this.#inline(character);
  }

  /** An asterisk waits for the next character, and two of them for what they stand before. */
  #inline(character: string): void {
    if (this.#isMark || this.#isFenced) return this.#literal(character);
    const text = this.#held + character;
    this.#held = "";
    if (character !== "" && !this.#open.has("code") && (text === "*" || (text === "**" && !this.#open.has("bold")))) {
      this.#held = text;
      return;
    }
    if (text === "**" && this.#open.has("bold")) return this.#style("bold");
    if (text.startsWith("**") && /^\*\*[^\s*]$/u.test(text)) {
      this.#style("bold");
      return this.#plain(text.slice(2));
    }
    for (const each of text) this.#plain(each);
  }

  #plain(character: string): void {
    if (character === "`" && !this.#open.has("heading")) return this.#style("code");
    if (character === " ") {
      this.#endWord();
      this.#blanks += " ";
      return;
    }
    const seen = shown(character);
    this.#word += seen;
    this.#wordWidth += widthOf(seen);
  }

  #literal(text: string): void {
    if (text !== "") this.#out += `${dimmed[0]}${shown(text)}${dimmed[1]}`;
  }

  #style(style: Style): void {
    this.#word += this.#open.has(style) ? off[style] : on[style];
    if (!this.#open.delete(style)) this.#open.add(style);
  }

  #endWord(): void {
    if (this.#word === "") return;
    const width = this.#blanks.length + this.#wordWidth;
    const isOver = this.#wordWidth > 0 && this.#column > this.#indent.length && this.#column + width > this.#columns();
    this.#out += isOver ? `\n${this.#indent}${this.#word}` : this.#blanks + this.#word;
    this.#column = isOver ? this.#indent.length + this.#wordWidth : this.#column + width;
    this.#word = "";
    this.#wordWidth = 0;
    this.#blanks = "";
  }

  #endLine(end: string): void {
    for (const style of [...this.#open]) this.#style(style);
    this.#endWord();
    this.#out += end;
    this.#isLineStart = true;
    this.#isMark = false;
    this.#column = 0;
    this.#blanks = "";
    this.#indent = "";
  }

  #given(): string {
    const given = this.#out.replaceAll(dimmed[1] + dimmed[0], "");
    this.#out = "";
    return given;
  }
}
