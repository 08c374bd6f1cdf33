import type { Rule, Rulebook, Verdict } from "@corral/protocol";
import { commandPattern, isAllowedBy, isMeantBy, type Match } from "./command-pattern.ts";
import { matchesHost } from "./hosts.ts";
import { matchesPath, pathPattern } from "./paths.ts";
import type { Piece } from "./piece.ts";

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
      if (verdict !== "allow") return isMeantBy(pattern, piece.words);
      return isAllowedBy(pattern, piece.words) ? "yes" : "no";
    };
  }
  if (path !== undefined) {
    const pattern = pathPattern(path);
    return (piece) => {
      if ((piece.kind !== "read" && piece.kind !== "write") || (access ?? piece.kind) !== piece.kind) return "no";
      return matchesPath(pattern, piece.path);
    };
  }
  if (host !== undefined) return (piece) => (piece.kind === "host" && matchesHost(host, piece.host) ? "yes" : "no");
  return () => "yes";
}
