import { tokenPrefix } from "@corral/protocol";
import { shortest } from "./worth.ts";

/** What stands in the place of a secret. It tells which one it is, and nothing of it. */
function maskFor(name: string): string {
  return `[masked: ${name}]`;
}

export interface Secret {
  /** What it is called where it is masked: the variable that holds it, or words. */
  readonly name: string;
  readonly value: string;
}

/** Tokens, codes and visits of any Corral are known by their shape, whoever made them and when. */
const token = { name: "a token of Corral", prefix: tokenPrefix, random: 43 };
const tokenLength = token.prefix.length + token.random;

/**
 * Finds secrets in text, in one pass.
 *
 * 1. The leftmost is masked first, and of several that begin there the longest.
 * 2. What `settled` gives, one piece after the other, is what `mask` gives of the whole, however the text was cut: a piece is held back
 *    from where a secret may begin, and that is shorter than the longest of them.
 */
export class Mask {
  readonly #pattern: RegExp;
  readonly #names: ReadonlyMap<string, string>;
  readonly #byFirst: ReadonlyMap<string, readonly string[]>;
  /** Any character that a secret begins with. */
  readonly #first: RegExp;
  readonly #longest: number;

  constructor(secrets: readonly Secret[]) {
    this.#names = new Map(secrets.map(({ name, value }) => [value, name]));
    const longestFirst = [...this.#names.keys()].toSorted((a, b) => b.length - a.length);
    const alternatives = longestFirst.map((value) => RegExp.escape(value));
    // A random one has a capital letter; a long name in snake case has none.
    const shape = `${token.prefix}(?=[a-z\\d_-]{0,${token.random - 1}}[A-Z])[\\w-]{${token.random}}`;
    // A value that is longer than a token, and begins like one, wins.
    const place = longestFirst.findIndex((value) => value.length <= tokenLength);
    this.#pattern = new RegExp(
      alternatives.toSpliced(place < 0 ? alternatives.length : place, 0, shape).join("|"),
      "g",
    );
    this.#byFirst = Map.groupBy(longestFirst, (value) => value.charAt(0));
    this.#first = new RegExp(
      `[${[...this.#byFirst.keys(), token.prefix.charAt(0)].map((each) => RegExp.escape(each)).join("")}]`,
      "g",
    );
    this.#longest = Math.max(tokenLength, longestFirst[0]?.length ?? 0);
  }

  /** The text itself when nothing was found in it. */
  mask(text: string, found?: (name: string) => void): string {
    if (text.length < shortest) return text;
    return text.replace(this.#pattern, (value) => {
      const name = this.#nameOf(value);
      found?.(name);
      return maskFor(name);
    });
  }

  /** The beginning of a text whose rest is still to come, as far as it is settled, and what has to wait. */
  settled(text: string): { readonly masked: string; readonly held: string } {
    let masked = "";
    for (let from = 0; ;) {
      const open = this.#mayBegin(text, from);
      this.#pattern.lastIndex = from;
      const match = this.#pattern.exec(text);
      if (match === null || match.index >= open)
        return { masked: masked + text.slice(from, open), held: text.slice(open) };
      masked += text.slice(from, match.index) + maskFor(this.#nameOf(match[0]));
      from = match.index + match[0].length;
    }
  }

  /** The first place from which on all of the text is the beginning of a secret that is longer; the end, if there is none. */
  #mayBegin(text: string, from: number): number {
    this.#first.lastIndex = Math.max(from, text.length - this.#longest + 1);
    for (let found = this.#first.exec(text); found !== null; found = this.#first.exec(text)) {
      const tail = text.slice(found.index);
      const values = this.#byFirst.get(found[0]) ?? [];
      if (values.some((value) => value.length > tail.length && value.startsWith(tail))) return found.index;
      if (mayBecomeToken(tail)) return found.index;
    }
    return text.length;
  }

  #nameOf(value: string): string {
    return this.#names.get(value) ?? token.name;
  }
}

function mayBecomeToken(tail: string): boolean {
  if (tail.length >= tokenLength) return false;
  if (tail.length <= token.prefix.length) return token.prefix.startsWith(tail);
  return tail.startsWith(token.prefix) && /^[\w-]*$/.test(tail.slice(token.prefix.length));
}
