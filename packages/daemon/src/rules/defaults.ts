import type { Mode, RuleSituation, Verdict } from "@corral/protocol";
import { isOutside } from "./paths.ts";
import type { PathPiece, Piece } from "./piece.ts";

export interface Default {
  readonly verdict: Verdict;
  readonly why: string;
}

/** What the mode says about a piece of which no rule speaks. */
export function byMode(piece: Piece, mode: Mode, situation: RuleSituation): Default {
  if (piece.kind === "host") return piece.isAsked ? ask("this host was not allowed yet") : allow("the network decides");
  if ("isGuess" in piece && piece.isGuess) return guessed(piece, situation);
  if (mode === "auto" && situation.environment !== "local")
    return situation.workspace === "copy" ? allow("it stays in the workspace's walls") : inPlace(piece);
  return mode === "plan" ? planned(piece, situation) : asked(piece, situation);
}

/** The most that `plan` lets any rule allow. */
export function planned(piece: Piece, situation: RuleSituation): Default {
  if ("isGuess" in piece && piece.isGuess) return guessed(piece, situation);
  if (effectOf(piece) === "writes") return { verdict: "deny", why: "nothing is written while a plan is made" };
  return asked(piece, situation);
}

function guessed({ path, isText }: PathPiece, { environment }: RuleSituation): Default {
  // A slash alone is what things are split at, more often than it is the root.
  const isFar = environment === "local" && isText !== true && path !== "/" && isOutside(path);
  return isFar
    ? ask("it may be a file outside of the workspace, and there are no walls")
    : allow("no rule speaks of it");
}

function asked(piece: Piece, { environment }: RuleSituation): Default {
  if (piece.kind === "unclear") return ask(piece.why);
  if (effectOf(piece) === "writes") return ask(("obeyed" in piece ? piece.obeyed : undefined) ?? "it writes");
  if (effectOf(piece) !== "reads") return ask("it does not plainly read");
  if (piece.kind === "read" && environment === "local" && isOutside(piece.path))
    return ask("it is outside of the workspace, and there are no walls");
  return allow("it only reads");
}

/** The files are the user's own: they are edited, and what else commands do is asked. */
function inPlace(piece: Piece): Default {
  if (piece.kind === "write")
    return isOutside(piece.path) ? ask("it is outside of the workspace") : allow("it is in the workspace");
  if (piece.kind === "tool") return allow("it stays in the workspace's walls");
  if (piece.kind === "unclear") return ask(piece.why);
  return effectOf(piece) === "reads" ? allow("it only reads") : ask("it may change files that are not a copy");
}

function effectOf(piece: Piece): "reads" | "writes" | "runs" {
  switch (piece.kind) {
    case "tool":
    case "command":
      return piece.effect;
    case "read":
      return "reads";
    case "write":
      return "writes";
    case "host":
    case "unclear":
      return "runs";
  }
}

function allow(why: string): Default {
  return { verdict: "allow", why };
}

function ask(why: string): Default {
  return { verdict: "ask", why };
}
