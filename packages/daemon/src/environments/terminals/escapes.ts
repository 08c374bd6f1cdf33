/**
 * What of a program's output reaches the terminal of a person. A terminal has to obey most of what full-screen programs say; what makes it answer
 * (its answer would be typed into the program, or into whatever reads next), and what reaches further than its screen, is taken out:
 *
 * - kept: text, movement, erasing, scrolling, colours, cursor shapes, character sets, titles, alternate screen, mouse and paste modes;
 * - taken out: the clipboard (OSC 52), links, colours of the terminal itself and all other OSC, all of DCS, APC, PM and SOS, windows (CSI t),
 *   printing (CSI i), every report (DA, DSR, DECRQM, ENQ, …), keyboard protocols, 8-bit controls, changes of encoding, bytes that are no UTF-8.
 *
 * Only whole sequences and characters come out: what is cut waits for its rest, so output may be joined after any piece.
 */
export class EscapeFilter {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The beginning of a sequence whose end has not come. */
  #begun = "";
  /** In a string that is taken out, until it ends. */
  #isInString = false;
  readonly #onString: (string: string) => void;

  /** Tells each whole OSC string that is taken out. */
  constructor(onString: (string: string) => void = () => undefined) {
    this.#onString = onString;
  }

  pass(bytes: Uint8Array): string {
    const text = this.#begun + this.#decoder.decode(bytes, { stream: true });
    this.#begun = "";
    let out = "";
    for (let at = 0; at < text.length;) {
      if (this.#isInString) at = this.#skipString(text, at);
      else {
        const next = text.indexOf("\u001b", at);
        const end = next < 0 ? text.length : next;
        out += text.slice(at, end).replace(unwanted, "");
        at = end;
        if (at < text.length) {
          const { kept, length, string } = sequenceAt(text, at);
          if (length === "unfinished") return this.#wait(text.slice(at), out);
          if (string !== undefined) this.#onString(string);
          out += kept;
          at += length;
        }
      }
    }
    return out;
  }

  #wait(begun: string, out: string): string {
    if (begun.length <= longest) this.#begun = begun;
    else if (stringStart.test(begun)) {
      this.#isInString = true;
      if (begun.endsWith("\u001b")) this.#begun = "\u001b";
    }
    return out;
  }

  #skipString(text: string, from: number): number {
    stringEnd.lastIndex = from;
    const end = stringEnd.exec(text);
    if (end === null) return text.length;
    this.#isInString = false;
    // Any escape ends a string; the one of its own end goes with it.
    return end[0].startsWith("\u001b") ? end.index : stringEnd.lastIndex;
  }
}

/** Text alone: no sequence at all is left of what was passed. */
export function withoutEscapes(passed: string): string {
  // oxlint-disable-next-line no-control-regex
  return passed
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[ -/]*[0-~])/g, "")
    .replace(/[^\P{Cc}\n\t]/gu, "");
}

/** How long a sequence may be. */
const longest = 4096;

/** Controls but bell, backspace, tab, line feeds, return and the two shifts; delete; and the 8-bit ones. */
// oxlint-disable-next-line no-control-regex
const unwanted = /[\u0000-\u0006\u0010-\u001a\u001c-\u001f\u007f-\u009f]/g;

// oxlint-disable-next-line no-control-regex
const stringEnd = /[\u0007\u0018\u001a\u001b]/g;
// oxlint-disable-next-line no-control-regex
const stringStart = /^\u001b[\]PX^_k]/;

// oxlint-disable-next-line no-control-regex
const csi = /\u001b\[([0-?]*)([ -/]*)([@-~])/y;
// oxlint-disable-next-line no-control-regex
const partOfCsi = /\u001b\[[0-?]*[ -/]*$/y;
// oxlint-disable-next-line no-control-regex
const short = /\u001b([ -/]*)([0-~])/y;
// oxlint-disable-next-line no-control-regex
const partOfShort = /\u001b[ -/]*$/y;

interface Sequence {
  readonly kept: string;
  readonly length: number | "unfinished";
  readonly string?: string;
}

const unfinished: Sequence = { kept: "", length: "unfinished" };

function sequenceAt(text: string, at: number): Sequence {
  if (text[at + 1] === "[") return csiAt(text, at);
  if (stringStart.test(text.slice(at, at + 2))) return stringAt(text, at);
  const found = match(short, text, at);
  if (found === null) return match(partOfShort, text, at) === null ? { kept: "", length: 1 } : unfinished;
  const [whole, intermediates = "", final = ""] = found;
  const isWanted =
    intermediates === "" ? "78=>DEHMNOc".includes(final) : /^[()*+\-./]$/.test(intermediates) || whole === "\u001b#8";
  return { kept: isWanted ? whole : "", length: whole.length };
}

function csiAt(text: string, at: number): Sequence {
  const found = match(csi, text, at);
  // One that is broken off by something else is not begun, and that counts by itself.
  if (found === null)
    return match(partOfCsi, text, at) === null ? { kept: "", length: brokenLength(text, at) } : unfinished;
  const [whole, parameters = "", intermediates = "", final = ""] = found;
  return { kept: keptOfCsi({ whole, parameters, intermediates, final }), length: whole.length };
}

function brokenLength(text: string, at: number): number {
  let end = at + 2;
  while (end < text.length && /[ -?]/.test(text[end] ?? "")) end += 1;
  return end - at;
}

function keptOfCsi({
  whole,
  parameters,
  intermediates,
  final,
}: Record<"whole" | "parameters" | "intermediates" | "final", string>): string {
  if (intermediates !== "")
    return (intermediates === " " && final === "q") || (intermediates === "!" && final === "p") ? whole : "";
  if (/^[\d:;]*$/.test(parameters)) return plainFinals.includes(final) ? whole : "";
  if (!/^\?[\d;]*$/.test(parameters)) return "";
  if (final === "J" || final === "K") return whole;
  if (final !== "h" && final !== "l") return "";
  const modes = parameters
    .slice(1)
    .split(";")
    .filter((mode) => wantedModes.has(mode));
  return modes.length === 0 ? "" : `\u001b[?${modes.join(";")}${final}`;
}

const plainFinals = "@ABCDEFGHIJKLMPSTXZ`abdefghlmrsu";

/** Of DECSET: keys, screen, cursor, wrapping, keypad, mouse, focus, paste, and drawing at once. */
const wantedModes: ReadonlySet<string> = new Set(
  "1 5 7 12 25 45 47 66 1000 1002 1003 1004 1005 1006 1015 1047 1048 1049 2004 2026".split(" "),
);

/** Of all strings only titles are kept, as plain text. */
function stringAt(text: string, at: number): Sequence {
  stringEnd.lastIndex = at + 2;
  const end = stringEnd.exec(text);
  if (end === null) return unfinished;
  const isEscape = end[0] === "\u001b";
  if (isEscape && end.index + 1 >= text.length) return unfinished;
  const length = stringEnd.lastIndex - at + (isEscape ? (text[end.index + 1] === "\\" ? 1 : -1) : 0);
  const string = text.slice(at + 2, end.index);
  const title = /^([02]);(.*)$/su.exec(string);
  const isWhole = end[0] === "\u0007" || (isEscape && text[end.index + 1] === "\\");
  if (text[at + 1] !== "]" || !isWhole) return { kept: "", length };
  if (title === null) return { kept: "", length, string };
  return {
    kept: `\u001b]${title[1]};${(title[2] ?? "").replace(/\p{Cc}|\p{Bidi_Control}/gu, "").slice(0, 200)}\u0007`,
    length,
  };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
