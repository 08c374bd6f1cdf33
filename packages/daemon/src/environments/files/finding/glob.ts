import { CorralError } from "@corral/protocol";

/**
 * Patterns for paths: `?` and `*` within a name, `**` across folders, `[a-z]`, `[!a-z]`, `{one,two}`, `\` before a character that
 * is meant. Agents write both patterns and paths, so matching never takes longer than the one times the other, whatever they are: no regular expressions.
 */
export function globOf(pattern: string): (path: string) => boolean {
  const ways = expandBraces(pattern).map((way) => plainGlobOf(way));
  return (path) => ways.some((fits) => fits(path));
}

/** As in .gitignore: without a slash it is about the name, in whatever folder; with one, about the whole path. */
export function pathGlobOf(pattern: string): (path: string) => boolean {
  const inner = pattern.replace(/^\.?\//, "");
  return globOf(pattern.includes("/") ? inner : `**/${inner}`);
}

/** Braces taken for what they are: characters. */
export function plainGlobOf(pattern: string): (path: string) => boolean {
  const names = pattern.split("/").map((name) => (name === "**" ? many : nameOf(name)));
  // At the end it stands for at least one name: a folder does not lie below itself.
  if (names.at(-1) === many) names.push([many]);
  return (path) =>
    fits(names, path.split("/"), (tokens, name) => fits(tokens, name, (one, character) => one(character)));
}

/** Stands for any number of what a pattern is made of: names in a path, characters in a name. */
const many = Symbol("many");

type Name = readonly (typeof many | One)[];
type One = (character: string) => boolean;

/** Goes back to the latest `many` alone: what an earlier one could take, the latest can take as well. */
function fits<P, T>(
  pattern: readonly (typeof many | P)[],
  items: ArrayLike<T>,
  fitsOne: (part: P, item: T) => boolean,
): boolean {
  let [at, item] = [0, 0];
  let latest: { readonly at: number; item: number } | undefined;
  while (item < items.length) {
    const part = pattern[at];
    if (part === many) {
      at += 1;
      latest = { at, item };
    } else if (part !== undefined && fitsOne(part, items[item]!)) {
      at += 1;
      item += 1;
    } else if (latest !== undefined) {
      latest.item += 1;
      [at, item] = [latest.at, latest.item];
    } else return false;
  }
  return pattern.slice(at).every((part) => part === many);
}

function nameOf(pattern: string): Name {
  const tokens: (typeof many | One)[] = [];
  for (let rest = pattern; rest !== "";) {
    const { token, length } = nextToken(rest);
    tokens.push(token);
    rest = rest.slice(length);
  }
  return tokens;
}

function nextToken(rest: string): { token: typeof many | One; length: number } {
  const first = rest[0]!;
  if (first === "*") return { token: many, length: 1 };
  if (first === "?") return { token: () => true, length: 1 };
  if (first === "\\" && rest.length > 1) return { token: (character) => character === rest[1], length: 2 };
  const list = first === "[" ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest) : null;
  if (list === null) return { token: (character) => character === first, length: 1 };
  const [whole, not = "", members = ""] = list;
  return { token: (character) => isMember(members, character) === (not === ""), length: whole.length };
}

function isMember(members: string, character: string): boolean {
  for (let at = 0; at < members.length; at += 1) {
    const isRange = members[at + 1] === "-" && at + 2 < members.length;
    if (isRange ? members[at]! <= character && character <= members[at + 2]! : members[at] === character) return true;
    if (isRange) at += 2;
  }
  return false;
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
