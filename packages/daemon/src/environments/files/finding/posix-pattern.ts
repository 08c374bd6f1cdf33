/**
 * A regular expression as ripgrep reads it, in the words of POSIX, for `grep -E`. Only which lines match is asked for, so lazy
 * and greedy are the same. Undefined: it uses what POSIX has no words for.
 */
export function posixPattern(pattern: string): string | undefined {
  let posix = "";
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at);
    const [taken, words] = next(rest) ?? [];
    if (taken === undefined || words === undefined) return undefined;
    posix += words;
    at += taken.length;
  }
  return posix;
}

type Taken = readonly [taken: string, words: string];

function next(rest: string): Taken | undefined {
  const group = /^\(\?[:]?/.exec(rest);
  if (group !== null) return group[0] === "(?:" ? ["(?:", "("] : undefined;
  const repeat = /^([*+?]|\{\d*,?\d*\})\??/.exec(rest);
  if (repeat !== null) return [repeat[0], repeat[1]!];
  const set = /^\[(\^?)((?:\]|\\[^])?(?:\\[^]|\[:\w+:\]|[^\]\\])*)\]/.exec(rest);
  if (set !== null) return setOf(set);
  if (rest[0] === "\\") return escapeOf(rest.slice(0, 2));
  return [rest[0]!, rest[0]!];
}

const classes: Readonly<Record<string, string>> = { d: "0-9", w: "A-Za-z0-9_", s: "[:space:]" };

function escapeOf(escape: string): Taken | undefined {
  const letter = escape[1];
  if (letter === undefined) return undefined;
  const members = classes[letter.toLowerCase()];
  if (members !== undefined) return [escape, letter === letter.toLowerCase() ? `[${members}]` : `[^${members}]`];
  if (letter === "t") return [escape, "\t"];
  if (letter === "b" || letter === "B" || !/[A-Za-z0-9]/.test(letter))
    return [escape, /[-/#&~<>"'`@!%,:;= ]/.test(letter) ? letter : escape];
  return undefined;
}

/** In POSIX a backslash in a set is a backslash, `]` stands first and `-` last. */
function setOf([taken, not = "", members = ""]: RegExpExecArray): Taken | undefined {
  let inner = "";
  const ends = { first: "", last: "" };
  for (const [member] of members.matchAll(/\\[^]|\[:\w+:\]|[^]/g)) {
    const letter = member.startsWith("\\") ? member[1]! : undefined;
    const known = letter === undefined ? undefined : classes[letter];
    if (known !== undefined) inner += known;
    else if (letter === "t") inner += "\t";
    else if (letter !== undefined && /[A-Za-z0-9]/.test(letter)) return undefined;
    else if ((letter ?? member) === "]") ends.first = "]";
    else if (letter === "-") ends.last = "-";
    else if (letter === "^") inner += inner === "" && not === "" ? ((ends.last += "^"), "") : "^";
    else inner += letter ?? member;
  }
  return [taken, `[${not}${ends.first}${inner}${ends.last}]`];
}
