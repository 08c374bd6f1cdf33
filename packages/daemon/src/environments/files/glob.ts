import { CorralError } from "@corral/protocol";

/**
 * Patterns for paths: `?` and `*` within a name, `**` across folders, `[a-z]`, `[!a-z]`, `{one,two}`, `\` before a character that
 * is meant. Agents write both patterns and paths, so matching takes time in proportion to both, whatever they are: no regular expressions.
 */
export function globOf(pattern: string): (path: string) => boolean {
  const ways = expandBraces(pattern).map((way) => machineOf(way));
  return (path) => ways.some((tokens) => matches(tokens, path));
}

/** As in .gitignore: without a slash it is about the name, in whatever folder; with one, about the whole path. */
export function pathGlobOf(pattern: string): (path: string) => boolean {
  const inner = pattern.replace(/^\.?\//, "");
  return globOf(pattern.includes("/") ? inner : `**/${inner}`);
}

/** Braces taken for what they are: characters. */
export function plainGlobOf(pattern: string): (path: string) => boolean {
  const tokens = machineOf(pattern);
  return (path) => matches(tokens, path);
}

type Token =
  | { readonly kind: "one"; readonly fits: (character: string) => boolean }
  /** Any characters of one name. */
  | { readonly kind: "name" }
  /** Any folders, each with its slash. */
  | { readonly kind: "folders" }
  /** Whatever follows. */
  | { readonly kind: "rest" };

function machineOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at);
    const startsName = at === 0 || pattern[at - 1] === "/";
    if (startsName && rest.startsWith("**/")) {
      tokens.push({ kind: "folders" });
      at += 3;
    } else if (startsName && rest === "**") {
      tokens.push({ kind: "rest" });
      at += 2;
    } else {
      const { token, length } = characterToken(rest);
      if (token.kind !== "name" || tokens.at(-1)?.kind !== "name") tokens.push(token);
      at += length;
    }
  }
  return tokens;
}

function characterToken(rest: string): { token: Token; length: number } {
  const first = rest[0]!;
  if (first === "*") return { token: { kind: "name" }, length: 1 };
  if (first === "?") return { token: one((c) => c !== "/"), length: 1 };
  if (first === "\\" && rest.length > 1) return { token: one((c) => c === rest[1]), length: 2 };
  const list = first === "[" ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest) : null;
  if (list === null) return { token: one((c) => c === first), length: 1 };
  const [whole, not = "", members = ""] = list;
  return { token: one((c) => c !== "/" && isMember(members, c) === (not === "")), length: whole.length };
}

function one(fits: (character: string) => boolean): Token {
  return { kind: "one", fits };
}

function isMember(members: string, character: string): boolean {
  for (let at = 0; at < members.length; at += 1) {
    const isRange = members[at + 1] === "-" && at + 2 < members.length;
    if (isRange ? members[at]! <= character && character <= members[at + 2]! : members[at] === character) return true;
    if (isRange) at += 2;
  }
  return false;
}

/** All places in the pattern that the path up to here can have led to, carried on character by character. */
function matches(tokens: readonly Token[], path: string): boolean {
  let places = reach(tokens, [0]);
  for (const character of path.split("")) {
    const next: number[] = [];
    for (const place of places) step(tokens, { place, character, next });
    if (next.length === 0) return false;
    places = reach(tokens, next);
  }
  return places.has(tokens.length);
}

/** In the middle of a folder's name that `**` stands for: the place plus a half. */
const midName = 0.5;

function step(
  tokens: readonly Token[],
  { place, character, next }: { place: number; character: string; next: number[] },
): void {
  const token = tokens[Math.floor(place)];
  if (token === undefined) return;
  if (token.kind === "one" && token.fits(character)) next.push(place + 1);
  else if (token.kind === "rest" || (token.kind === "name" && character !== "/")) next.push(place);
  else if (token.kind === "folders") next.push(character === "/" ? Math.floor(place) : Math.floor(place) + midName);
}

/** What can be skipped is skipped as well. */
function reach(tokens: readonly Token[], places: readonly number[]): Set<number> {
  const reached = new Set(places);
  for (const place of reached) {
    const token = tokens[place];
    if (token !== undefined && token.kind !== "one") reached.add(place + 1);
  }
  return reached;
}

function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const todo = [pattern];
  for (let way = todo.pop(); way !== undefined; way = todo.pop()) {
    const [whole, before = "", inner = "", after = ""] = /^((?:[^\\{]|\\[^])*)\{([^{}]*)\}([^]*)$/.exec(way) ?? [];
    if (whole === undefined) done.push(way);
    else todo.push(...inner.split(",").map((choice) => `${before}${choice}${after}`));
    if (done.length + todo.length > 256) {
      throw new CorralError("request.invalid", `The pattern ${pattern} stands for too many others.`, {
        hint: "Use fewer braces.",
      });
    }
  }
  return done;
}
