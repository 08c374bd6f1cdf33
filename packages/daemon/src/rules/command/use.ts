import type { Effect, Piece, PlainWord } from "../piece.ts";
import { textOf } from "./words.ts";

export interface PathUse {
  readonly isBelow?: boolean;
  readonly isGuess?: boolean;
  readonly isText?: boolean;
}

/** Where the pieces of a command line are collected, and what they lead to is taken apart in turn. */
export interface Taking {
  add(piece: Piece): void;
  /** A file that is used, in every place that it may be in. */
  path(kind: "read" | "write", word: PlainWord, via: readonly string[], how?: PathUse): void;
  unclear(text: string, why: string, via: readonly string[]): void;
  /** A command line inside of this one. */
  script(text: string, via: readonly string[]): void;
  /** A command as words, the first of which is its program. */
  command(words: readonly PlainWord[], via: readonly string[]): void;
  assign(name: string, how: "for a command" | "in the shell", text: string, via: readonly string[]): void;
  /** The shell may stand there from now on, or not; undefined: nobody knows where. */
  move(word: PlainWord | undefined): void;
  /** What is taken apart meanwhile may stand in one of these, too; undefined: nobody knows where. */
  within(folders: readonly (PlainWord | undefined)[], take: () => void): void;
  disturb(how: "moved" | "words"): void;
}

/** A program with its words. */
export interface Use {
  readonly program: string;
  readonly words: readonly PlainWord[];
  /** Without the program. */
  readonly rest: readonly PlainWord[];
  readonly via: readonly string[];
  readonly taking: Taking;
}

export function does(
  { words, via, taking }: Use,
  effect: Effect,
  more: { mayWrap?: boolean; alike?: readonly PlainWord[] } = {},
): void {
  taking.add({ kind: "command", text: textOf(words), words, effect, ...more, ...through(via) });
}

/** Words that are put together again and read by a shell. */
export function joined(words: readonly PlainWord[], via: readonly string[], taking: Taking): void {
  if (words.some(({ value }) => value === undefined))
    return taking.unclear(textOf(words), "what is run is known only when it runs", via);
  taking.script(words.map(({ value }) => value).join(" "), via);
}

export function through(via: readonly string[]): { via?: readonly string[] } {
  return via.length === 0 ? {} : { via };
}
