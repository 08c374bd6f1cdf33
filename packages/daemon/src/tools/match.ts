/**
 * Where lines stand in a text, for edits whose author quotes from memory: exactly, or but for white space at the ends of lines, or but
 * for indentation as long as it differs in the same way on every line.
 */

/** How closely lines were matched. */
export type Closeness = "exact" | "line ends" | "indentation";

export interface LineMatch {
  /** First line, from 0 on. */
  readonly at: number;
  readonly closeness: Closeness;
}

/** All places of these lines, at the closest closeness that has any. */
export function findLines(lines: readonly string[], wanted: readonly string[], from = 0): readonly LineMatch[] {
  for (const closeness of ["exact", "line ends", "indentation"] as const) {
    const same = likenesses[closeness];
    const found: LineMatch[] = [];
    const sought = wanted.map(same);
    const last = lines.length - wanted.length;
    const alike = lines.map(same);
    for (let at = from; at <= last; at += 1) {
      if (sought.every((line, index) => alike[at + index] === line)) found.push({ at, closeness });
    }
    if (found.length > 0) return found;
  }
  return [];
}

const likenesses: Readonly<Record<Closeness, (line: string) => string>> = {
  exact: (line) => line,
  "line ends": (line) => line.trimEnd(),
  indentation: (line) => line.trim(),
};

/**
 * New lines with the indentation of the place they come to, where that of the quoted lines differs from it by the same beginning on
 * every line, or by tabs for spaces; undefined: it differs in no way that can be told.
 */
export function reindent(
  replacement: readonly string[],
  quoted: readonly string[],
  found: readonly string[],
): readonly string[] | undefined {
  const known = new Map<string, string>();
  for (const [index, line] of quoted.entries()) {
    if (line.trim() === "") continue;
    const [from, to] = [indentOf(line), indentOf(found[index] ?? "")];
    if ((known.get(from) ?? to) !== to) return undefined;
    known.set(from, to);
  }
  const shift = shiftOf(known);
  if (shift === undefined) return undefined;
  return replacement.map((line) => {
    if (line.trim() === "") return line;
    const indent = indentOf(line);
    return (known.get(indent) ?? shift(indent)) + line.slice(indent.length);
  });
}

type Shift = (indent: string) => string;

/** One way of getting from each quoted indentation to the one that is there. */
function shiftOf(known: ReadonlyMap<string, string>): Shift | undefined {
  const pairs = [...known];
  const [first] = pairs;
  if (first === undefined) return (indent) => indent;
  return candidates(first).find((shift) => pairs.every(([from, to]) => shift(from) === to));
}

function candidates([from, to]: readonly [string, string]): readonly Shift[] {
  const more = to.endsWith(from) ? to.slice(0, to.length - from.length) : undefined;
  const less = from.endsWith(to) ? from.slice(0, from.length - to.length) : undefined;
  const widths = [2, 4, 8];
  return [
    ...(more === undefined ? [] : [(indent: string) => more + indent]),
    ...(less === undefined ? [] : [(indent: string) => (indent.startsWith(less) ? indent.slice(less.length) : indent)]),
    ...widths.map((width) => (indent: string) => indent.replaceAll(" ".repeat(width), "\t")),
    ...widths.map((width) => (indent: string) => indent.replaceAll("\t", " ".repeat(width))),
  ];
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** The lines most like the wanted ones, with their numbers, for whoever has to quote them again; undefined: none is much like them. */
export function nearest(lines: readonly string[], wanted: readonly string[]): string | undefined {
  const anchor = wanted.reduce(
    (best, line, index) => (line.trim().length > wanted[best]!.trim().length ? index : best),
    0,
  );
  const pairs = pairsOf(wanted[anchor] ?? "");
  let best = { at: -1, likeness: 0.4 };
  for (const [index, line] of lines.entries()) {
    const likeness = likenessOf(pairs, line);
    if (likeness > best.likeness) best = { at: index, likeness };
  }
  if (best.at === -1) return undefined;
  const from = Math.max(0, best.at - anchor - 2);
  return numbered(lines.slice(from, Math.min(from + wanted.length + 4, from + 30)), from + 1);
}

/** Lines with their numbers, as they are shown to a model. */
export function numbered(lines: readonly string[], from: number): string {
  const width = String(from + lines.length - 1).length;
  return lines.map((line, index) => `${String(from + index).padStart(width)}\t${line}`).join("\n");
}

const comparedCharacters = 300;

function pairsOf(line: string): ReadonlySet<string> {
  const text = line.trim().slice(0, comparedCharacters);
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
}

function likenessOf(pairs: ReadonlySet<string>, line: string): number {
  const others = pairsOf(line);
  if (pairs.size === 0 || others.size === 0) return 0;
  let shared = 0;
  for (const pair of others) if (pairs.has(pair)) shared += 1;
  return (2 * shared) / (pairs.size + others.size);
}
