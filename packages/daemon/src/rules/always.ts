import type { JudgedPart, Rulebook, RuleMatch } from "@corral/protocol";
import { runsAnything } from "./command/runs-anything.ts";
import type { CommandPiece, PathPiece, Piece } from "./piece.ts";
import type { Call } from "./port.ts";

/**
 * What "always" would allow, so that the same call is not asked again. Undefined: it is not offered. It never is for what nobody can
 * tell, for programs that run what they are told, for what no rule can allow, or where a rule of a person's asks: that stands until they change it.
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
      return pathOffer(piece);
    case "host":
      return piece.host === undefined ? undefined : { host: piece.host };
    case "command":
      return commandOffer(piece);
    case "unclear":
      return undefined;
  }
}

/** In a rule these signs would stand for other names, too. */
function pathOffer({ kind, path, obeyed }: PathPiece): RuleMatch | undefined {
  return path === undefined || obeyed !== undefined || /[*?]/.test(path) ? undefined : { path, access: kind };
}

/** Exactly these words, but for programs of which other words do no more. */
function commandOffer({ words, via = [], alike = words }: CommandPiece): RuleMatch | undefined {
  // Whoever says always to a wrapped command has the wrapper before their eyes, and it would not be in the rule.
  if (via.length > 0) return undefined;
  const [program, verb] = alike;
  const values = words.map(({ value }) => value);
  if (program?.value === undefined || runsAnything(program.value)) return undefined;
  if (loose.has(program.value)) return { command: `${program.value} *` };
  if (alike === words || words[1] === verb) {
    const both = `${program.value} ${verb?.value ?? ""}`;
    if (looseVerbs.has(both)) return { command: `${both} *` };
  }
  return values.includes(undefined) ? undefined : { command: values.map((value) => quoted(value ?? "")).join(" ") };
}

const loose = new Set(["mkdir", "touch"]);
const looseVerbs = new Set(["git add", "git commit", "git fetch", "git stash", "git branch", "git switch", "git tag"]);

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
