import type { JudgedPart, Rule, Rulebook, Verdict } from "@corral/protocol";
import { whyPathObeyed } from "../environments/index.ts";
import { alwaysFor } from "./always.ts";
import { type Book, bookOf, type ReadyRule } from "./book.ts";
import { takeApart } from "./command/take-apart.ts";
import { byMode, type Default, planned } from "./defaults.ts";
import { placeOf } from "./paths.ts";
import type { PathPiece, Piece } from "./piece.ts";
import type { Call, Judge } from "./port.ts";

export const judge: Judge = (call, rulebook) => {
  const book = bookOf(rulebook);
  const rules = book.rules.filter((rule) => rule.isForTool(call.tool));
  const judged = piecesOf(call, rulebook)
    .map((piece) => ({ piece, part: judgePiece(piece, rules, book) }))
    .filter(({ piece, part }) => part.verdict !== "allow" || !isAside(piece));
  const parts = judged.map(({ part }) => part);
  const [decisive] = parts.toSorted((one, other) => rank[other.verdict] - rank[one.verdict]);
  const verdict = decisive?.verdict ?? "allow";
  const always = verdict === "ask" ? alwaysFor(call, judged, rulebook) : undefined;
  return { verdict, why: whyOf(decisive), parts, ...(always === undefined ? {} : { always }) };
};

/** It is there for rules that ask or deny, and none did. */
function isAside(piece: Piece): boolean {
  return "isGuess" in piece ? piece.isGuess : piece.kind === "host" && !piece.isAsked;
}

function piecesOf(call: Call, { situation: { folder, workspace } }: Rulebook): readonly Piece[] {
  const { tool, effect, command, paths = [], hosts = [] } = call;
  const pieces: Piece[] = [
    ...(command === undefined ? [] : commandPieces(command, call, folder)),
    ...paths.map(({ path, access, isBelow }) => ({
      ...({ kind: access, text: path, path: placeOf(path, folder, folder) } as const),
      ...(isBelow === true ? { isBelow } : {}),
      ...(workspace === "in-place" && access === "write" ? obeyedIn(path) : {}),
    })),
    ...hosts.map((host) => ({ kind: "host", text: host, host, isAsked: true }) as const),
  ];
  return pieces.length > 0 ? pieces : [{ kind: "tool", text: tool, effect: command === undefined ? effect : "reads" }];
}

function obeyedIn(path: string): Pick<PathPiece, "obeyed"> {
  const obeyed = whyPathObeyed(path);
  return obeyed === undefined ? {} : { obeyed };
}

function commandPieces(command: string, { disturbedShell = "none" }: Call, folder: string): readonly Piece[] {
  const { pieces } = takeApart(command, { folder, from: disturbedShell === "none" ? folder : undefined });
  if (disturbedShell !== "words" || pieces.length === 0) return pieces;
  return [
    { kind: "unclear", text: command, why: "an earlier command may have changed what words mean in this shell" },
    ...pieces,
  ];
}

function judgePiece(piece: Piece, rules: readonly ReadyRule[], book: Book): JudgedPart {
  const decided = piece.kind === "unclear" ? decideUnclear(piece, rules, book) : decide(piece, rules, book);
  const { kind, text } = piece;
  const via = "via" in piece && piece.via !== undefined && piece.via.length > 0 ? { via: [...piece.via] } : {};
  return { kind, text, ...via, ...decided };
}

interface Decided {
  readonly verdict: Verdict;
  readonly why: string;
  readonly rule?: Rule;
}

function decide(piece: Piece, rules: readonly ReadyRule[], { written: { mode, situation, problems } }: Book): Decided {
  const usual = byMode(piece, mode, situation);
  const ruled = strictestRule(piece, rules);
  const decided = ruled === undefined ? usual : mode === "plan" ? stricter(ruled, planned(piece, situation)) : ruled;
  return withProblems(stricter(decided, leastFor(piece)), problems);
}

/** A rule speaks of names. What somebody obeys in the user's own folder is allowed by its content alone, which a question shows. */
function leastFor(piece: Piece): Default {
  const why = "obeyed" in piece ? piece.obeyed : undefined;
  return why === undefined ? { verdict: "allow", why: "" } : { verdict: "ask", why };
}

function strictestRule(piece: Piece, rules: readonly ReadyRule[]): Decided | undefined {
  let strictest: Decided | undefined;
  for (const ready of rules) {
    const match = ready.speaksOf(piece);
    if (match === "no" || (match === "maybe" && ready.verdict === "allow")) continue;
    const verdict = match === "maybe" ? "ask" : ready.verdict;
    if (strictest !== undefined && rank[strictest.verdict] >= rank[verdict]) continue;
    strictest = { verdict, why: match === "maybe" ? couldBe(ready.rule) : because(ready.rule), rule: ready.rule };
  }
  return strictest;
}

/** It could be anything, so it is allowed only where everything is. */
function decideUnclear(piece: Extract<Piece, { kind: "unclear" }>, rules: readonly ReadyRule[], book: Book): Decided {
  const { mode, situation, problems } = book.written;
  const usual = byMode(piece, mode, situation);
  const forAll = strictestRule(
    piece,
    rules.filter(({ isForAll }) => isForAll),
  );
  const feared = rules.find(({ verdict, isForAll }) => !isForAll && verdict !== "allow");
  const open = forAll === undefined ? usual : mode === "plan" ? stricter(forAll, planned(piece, situation)) : forAll;
  if (open.verdict !== "allow" || feared === undefined) return withProblems(open, problems);
  return { verdict: "ask", why: `${piece.why}, and ${couldBe(feared.rule)}`, rule: feared.rule };
}

/** With a broken file nobody knows what it would have asked or denied. */
function withProblems(decided: Decided, [problem]: Rulebook["problems"]): Decided {
  if (problem === undefined || decided.verdict !== "allow") return decided;
  const { file, line, column, message } = problem;
  return { verdict: "ask", why: `rules are broken, so everything is asked: ${file}:${line}:${column}: ${message}` };
}

function stricter(ruled: Decided, limit: Default): Decided {
  return rank[limit.verdict] > rank[ruled.verdict] ? limit : ruled;
}

const rank: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

function because(rule: Rule): string {
  return rule.because ?? `a rule says ${rule.verdict}: ${inWords(rule)}`;
}

function couldBe(rule: Rule): string {
  return `it could be what a rule would ${rule.verdict}: ${inWords(rule)}`;
}

/** A rule's subject as a person wrote it. */
function inWords({ match }: Pick<Rule, "match">): string {
  const { tool, command, path, access, host } = match;
  const subject = command ?? (path === undefined ? host : `${access ?? "read or write"} ${path}`);
  return (
    [...(tool === undefined ? [] : [`tool ${tool}`]), ...(subject === undefined ? [] : [subject])].join(", ") ||
    "everything"
  );
}

function whyOf(part: JudgedPart | undefined): string {
  if (part === undefined) return "there is nothing to judge";
  const inside = part.via === undefined ? "" : ` (in ${part.via.join(" ")})`;
  return `${part.text}${inside}: ${part.why}`;
}
