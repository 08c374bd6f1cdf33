import type { Rule, Rulebook, Verdict } from "@corral/protocol";
import {
  type CommandPattern,
  commandPattern,
  isAllowedBy,
  isMeantBy,
  isNamedIn,
  type Match,
} from "./command-pattern.ts";
import { matchesHost } from "./hosts.ts";
import { matchesPath, pathPattern } from "./paths.ts";
import type { CommandPiece, Piece } from "./piece.ts";

/** A rulebook made ready for use. */
export interface Book {
  readonly written: Rulebook;
  readonly rules: readonly ReadyRule[];
}

export interface ReadyRule {
  readonly rule: Rule;
  readonly verdict: Verdict;
  isForTool(tool: string): boolean;
  /** It names nothing but tools: whatever they do is meant. */
  readonly isForAll: boolean;
  speaksOf(piece: Piece): Match;
}

/** Rulebooks are data and come again and again: each is made ready once. */
const ready = new WeakMap<Rulebook, Book>();

export function bookOf(written: Rulebook): Book {
  const known = ready.get(written);
  if (known !== undefined) return known;
  const book = { written, rules: written.rules.map(readyRule) };
  ready.set(written, book);
  return book;
}

function readyRule(rule: Rule): ReadyRule {
  const { tool, command, path, host } = rule.match;
  const isForAll = command === undefined && path === undefined && host === undefined;
  return { rule, verdict: rule.verdict, isForAll, isForTool: toolTest(tool), speaksOf: speaking(rule) };
}

function toolTest(written: string | undefined): (tool: string) => boolean {
  if (written === undefined) return () => true;
  const test = new RegExp(
    `^${written
      .split("*")
      .map((piece) => RegExp.escape(piece))
      .join(".*")}$`,
    "s",
  );
  return (tool) => test.test(tool);
}

function speaking({ verdict, match: { command, path, access, host } }: Rule): (piece: Piece) => Match {
  if (command !== undefined) {
    const pattern = commandPattern(command);
    return (piece) => {
      if (piece.kind !== "command") return "no";
      if (verdict === "allow") return isAllowedBy(pattern, piece.words) ? "yes" : "no";
      return meant(pattern, piece);
    };
  }
  if (path !== undefined) {
    const pattern = pathPattern(path);
    return (piece) => {
      if (piece.kind !== "read" && piece.kind !== "write") return "no";
      const isOther = (access ?? piece.kind) !== piece.kind;
      if (isOther && piece.isGuess !== true) return "no";
      const match = matchesPath(pattern, piece, verdict === "allow" ? "all" : "some");
      return isOther && match === "yes" ? "maybe" : match;
    };
  }
  if (host !== undefined)
    return (piece) => {
      if (piece.kind !== "host") return "no";
      return piece.host === undefined ? "maybe" : matchesHost(host, piece.host) ? "yes" : "no";
    };
  return () => "yes";
}

function meant(pattern: CommandPattern, { words, alike, mayWrap }: CommandPiece): Match {
  const found = isMeantBy(pattern, words);
  if (found === "yes") return found;
  const other = alike === undefined ? "no" : isMeantBy(pattern, alike);
  if (other === "yes" || (mayWrap === true && other === "no" && isNamedIn(pattern, words)))
    return other === "yes" ? "yes" : "maybe";
  return found === "maybe" ? found : other;
}
