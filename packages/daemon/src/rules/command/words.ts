import { type Word, type WordPart } from "unbash";
import type { PlainWord } from "../piece.ts";

/** A word as it will be, as far as that can be told before it runs. */
export function plainWord(word: Word): PlainWord {
  const { text } = word;
  const beginning = beginningOf(word.parts);
  return beginning === undefined ? { text, value: word.value } : { text, value: undefined, ...beginning };
}

export function literal(value: string): PlainWord {
  return { text: value, value };
}

/** Whatever a program adds to its words by itself: names that it reads or finds. */
export const anyWords: PlainWord = { text: "…", value: undefined };

/** Whether what it becomes may begin with a dash. */
export function mayBeOption({ value, beginning = "" }: PlainWord): boolean {
  return value === undefined ? beginning === "" || beginning.startsWith("-") : value.startsWith("-") && value !== "-";
}

export function isOption({ value }: PlainWord): boolean {
  return value !== undefined && value.startsWith("-") && value !== "-";
}

export function textOf(words: readonly PlainWord[]): string {
  return words.map(({ text }) => text).join(" ");
}

/** Undefined: all of it is known. Else what stands before the first thing that is not, unless it may be split there. */
function beginningOf(parts: readonly WordPart[] = []): Pick<PlainWord, "beginning" | "isGlob"> | undefined {
  let beginning = "";
  for (const part of parts) {
    const known = knownOf(part);
    if (known === undefined) return unknownFrom(beginning, parts);
    beginning += known;
  }
  return undefined;
}

function unknownFrom(beginning: string, parts: readonly WordPart[]): Pick<PlainWord, "beginning" | "isGlob"> {
  // "$@" is several words, even in quotes.
  if (parts.some(({ type, text }) => splitting.has(type) || (type === "DoubleQuoted" && text.includes("@")))) return {};
  const isGlob = parts.every((part) => part.type === "Glob" || knownOf(part) !== undefined);
  return { beginning, ...(isGlob ? { isGlob } : {}) };
}

function knownOf(part: WordPart): string | undefined {
  if (part.type === "Literal" || part.type === "SingleQuoted") return part.value;
  if (part.type !== "DoubleQuoted") return undefined;
  const inner = part.parts.map((each) => (each.type === "Literal" ? each.value : undefined));
  return inner.includes(undefined) ? undefined : inner.join("");
}

/** What is outside of quotes may become several words. Patterns and braces do so, too, and each word begins in the same way. */
const splitting: ReadonlySet<WordPart["type"]> = new Set([
  "SimpleExpansion",
  "ParameterExpansion",
  "CommandExpansion",
  "ArithmeticExpansion",
  "ProcessSubstitution",
  // Dash reads these as something else.
  "AnsiCQuoted",
  "LocaleString",
] as const);
