import type { JudgedPart, Rulebook, RuleMatch } from "@corral/protocol";
import type { Piece } from "./piece.ts";
import type { Call } from "./port.ts";

/**
 * What "always" would allow, so that the same call is not asked again. Undefined: it is not offered. It never is for what nobody can
 * tell, for programs that run what they are told, or where a rule of a person's asks: that stands until they change it.
 */
export function alwaysFor(
  { tool }: Call,
  judged: readonly { readonly piece: Piece; readonly part: JudgedPart }[],
  { problems, mode }: Rulebook,
): RuleMatch[] | undefined {
  if (problems.length > 0 || mode === "plan") return undefined;
  const asked = judged.filter(({ part }) => part.verdict === "ask");
  const offered = asked.map(({ piece, part }) => (part.rule === undefined ? offerFor(piece) : undefined));
  if (offered.some((each) => each === undefined)) return undefined;
  return offered.flatMap((each) => (each === undefined ? [] : [{ tool, ...each }]));
}

function offerFor(piece: Piece): RuleMatch | undefined {
  switch (piece.kind) {
    case "tool":
      return {};
    case "read":
    case "write":
      return piece.path === undefined ? undefined : { path: piece.path, access: piece.kind };
    case "host":
      return { host: piece.host };
    case "command":
    case "unclear":
      return undefined;
  }
}
