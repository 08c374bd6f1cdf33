import type { PlainWord } from "./piece.ts";
import { matches, signs, type Token } from "./wildcards.ts";

/** `maybe`: words that are known only when it runs could make it match. */
export type Match = "yes" | "maybe" | "no";

/** The words of a pattern, read as a shell reads words; an unquoted `*` is a wildcard. */
export interface CommandPattern {
  readonly words: readonly WordPattern[];
  /** It ends with a `*` of its own: any words may follow. */
  readonly isOpen: boolean;
}

interface WordPattern {
  /** Undefined: it has a wildcard. */
  readonly literal: string | undefined;
  /** It is a wildcard and nothing else. */
  readonly isStar: boolean;
  readonly fits: (value: string) => boolean;
}

export function commandPattern(written: string): CommandPattern {
  const words = wordsOf(written);
  const isOpen = words.length > 1 && words.at(-1)?.isStar === true;
  return { words: isOpen ? words.slice(0, -1) : words, isOpen };
}

/**
 * Whether a rule that allows speaks of these words: the program by its name or its place in the system, then word by word. A word that
 * is not known yet is matched by a wildcard of its own alone.
 */
export function isAllowedBy({ words: patterns, isOpen }: CommandPattern, words: readonly PlainWord[]): boolean {
  if (words.length < patterns.length || (words.length > patterns.length && !isOpen)) return false;
  return patterns.every((pattern, index) => {
    const value = words[index]?.value;
    if (index === 0) return value !== undefined && pattern.fits(systemName(value));
    return value === undefined ? pattern.isStar && index === patterns.length - 1 && isOpen : pattern.fits(value);
  });
}

/**
 * Whether a rule that asks or denies speaks of these words. It is read generously, since options can be written in many ways: the
 * program by its name wherever it is, the pattern's words in their order with others between them, options anywhere, short ones
 * in any bundle, long ones also shortened.
 */
export function isMeantBy({ words: patterns, isOpen }: CommandPattern, words: readonly PlainWord[]): Match {
  const [program, ...rest] = patterns;
  const [name, ...given] = words;
  if (program === undefined || name === undefined) return "no";
  if (name.value !== undefined && !isNamed(program, name.value)) return "no";
  const isKnown = name.value !== undefined && given.every(({ value }) => value !== undefined);
  const values = given.flatMap(({ value }) => (value === undefined ? [] : [value]));
  if (name.value !== undefined && meansAll(rest, values, isOpen)) return "yes";
  return isKnown ? "no" : "maybe";
}

/** Whether one of the words of a program that nobody knows names a program that the pattern is about. */
export function isNamedIn({ words: [program] }: CommandPattern, [, ...words]: readonly PlainWord[]): boolean {
  if (program?.literal === undefined) return false;
  return words.some(({ value = "" }) => value.split(/(?:^|[;&|(`\n])\s*/).some((each) => startsWith(program, each)));
}

/** Whether a word, or what it may be told to run, begins with the program. */
function startsWith(program: WordPattern, command: string): boolean {
  return isNamed(program, command) || isNamed(program, command.split(/[\s;)`]/, 1)[0] ?? "");
}

/** As it is written, or by its last name, also where file systems do not mind capitals. */
function isNamed({ literal, fits }: WordPattern, program: string): boolean {
  const last = program.slice(program.lastIndexOf("/") + 1);
  if (literal !== undefined) return literal === program || literal === last || literal === last.toLowerCase();
  return fits(program) || fits(last) || fits(last.toLowerCase());
}

function meansAll(patterns: readonly ReadWord[], values: readonly string[], isOpen: boolean): boolean {
  const [options, operands] = [patterns.filter(isOption), patterns.filter((each) => !isOption(each))];
  if (!options.every((option) => values.some((value) => isSameOption(option, value)))) return false;
  const left = values.filter((value) => !value.startsWith("-") || value === "-");
  if (!isOpen && left.length !== operands.length && values.length !== patterns.length) return false;
  let from = 0;
  return operands.every((operand) => {
    const found = values.findIndex((value, index) => index >= from && operand.fits(value));
    from = found + 1;
    return found >= 0;
  });
}

type ReadWord = WordPattern;

function isOption({ literal }: WordPattern): boolean {
  return literal !== undefined && literal.startsWith("-") && literal !== "-" && literal !== "--";
}

function isSameOption({ literal = "", fits }: WordPattern, value: string): boolean {
  if (fits(value)) return true;
  if (literal.startsWith("--")) return isShortened(literal, value);
  if (value.startsWith("--") || !value.startsWith("-")) return false;
  return literal
    .slice(1)
    .split("")
    .every((letter) => value.includes(letter, 1));
}

/** `--forc` and `--force=yes` for `--force`. */
function isShortened(literal: string, value: string): boolean {
  const [name = ""] = value.split("=");
  const [wanted = ""] = literal.split("=");
  return name.length > 2 && wanted.startsWith(name);
}

const systemFolders = /^\/(?:usr\/)?(?:local\/)?s?bin\//;

/** `/bin/ls` is `ls`; `./ls` and `/tmp/ls` are not. */
function systemName(program: string): string {
  return program.replace(systemFolders, "");
}

function wordsOf(written: string): WordPattern[] {
  const found = written.match(/(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"\\]|['"\\])+/gs) ?? [];
  return found.map((word) => {
    const pieces = word.match(/\\.|'[^']*'|"(?:\\.|[^"\\])*"|\*+|[^'"\\*]+|['"\\]/gs) ?? [];
    if (!pieces.some((piece) => piece.startsWith("*"))) {
      const literal = pieces.map(unquoted).join("");
      return { literal, isStar: false, fits: (value) => value === literal };
    }
    const tokens = pieces.flatMap((piece): Token[] => (piece.startsWith("*") ? ["any"] : signs(unquoted(piece))));
    return { literal: undefined, isStar: /^\*+$/.test(word), fits: (value) => matches(tokens, value) };
  });
}

function unquoted(piece: string): string {
  if (piece.length > 1 && piece.startsWith("'")) return piece.slice(1, -1);
  if (piece.length > 1 && piece.startsWith('"')) return piece.slice(1, -1).replaceAll(/\\(["\\$`])/g, "$1");
  return piece.length > 1 && piece.startsWith("\\") ? piece.slice(1) : piece;
}
