import { CorralError } from "@corral/protocol";
import { type Closeness, findLines, nearest, numbered, reindent } from "./match.ts";

export interface Replacement {
  readonly old: string;
  readonly new: string;
  /** Everywhere, instead of at the one place there is. */
  readonly all?: boolean | undefined;
}

export interface Replaced {
  readonly text: string;
  /** First lines of what was put in, from 1 on. */
  readonly lines: readonly number[];
  readonly closeness: Closeness;
}

/** Replaces a piece of a text that is quoted exactly, or, whole lines, nearly so. Throws what a model can act on. */
export function replaceIn(text: string, wish: Replacement): Replaced {
  if (wish.old === "") throw refused("`old` is empty: quote what is to be replaced, or write the whole file.");
  if (wish.old === wish.new) throw refused("`old` and `new` are the same: nothing would change.");
  return replaceExactly(text, wish) ?? replaceLines(text, wish);
}

function replaceExactly(text: string, { old, new: put, all = false }: Replacement): Replaced | undefined {
  const places = placesOf(text, old);
  if (places.length === 0) return undefined;
  const lines = places.map((place) => lineAt(text, place));
  if (places.length > 1 && !all) throw ambiguous(lines);
  const fitting = put.replaceAll(/\r?\n/g, endingOf(text));
  return { text: text.replaceAll(old, () => fitting), lines, closeness: "exact" };
}

/** Lines that are not concerned keep their ends, whatever these are. */
function replaceLines(text: string, { old, new: put, all = false }: Replacement): Replaced {
  const pieces = text.split(/(?<=\n)/);
  const lines = pieces.map((piece) => piece.replace(/\r?\n$/, ""));
  const quoted = wholeLines(old);
  const found = findLines(lines, quoted);
  if (found.length === 0) throw notFound(lines, quoted);
  if (found.length > 1 && !all) throw ambiguous(found.map(({ at }) => at + 1));
  const replacement = put === "" && old.endsWith("\n") ? [] : wholeLines(put);
  for (const { at } of found.toReversed()) {
    const fitting = reindent(replacement, quoted, lines.slice(at, at + quoted.length));
    if (fitting === undefined) throw notFound(lines, quoted);
    const end = pieces[at + quoted.length - 1]!.endsWith("\n") ? endingOf(text) : "";
    const put = fitting.join(endingOf(text)) + (fitting.length === 0 ? "" : end);
    pieces.splice(at, quoted.length, put, ...Array.from({ length: quoted.length - 1 }, () => ""));
  }
  return { text: pieces.join(""), lines: found.map(({ at }) => at + 1), closeness: found[0]!.closeness };
}

/** The line end that a text uses, by its first. */
export function endingOf(text: string): "\n" | "\r\n" {
  return /\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n";
}

function wholeLines(text: string): readonly string[] {
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function placesOf(text: string, piece: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + piece.length)) places.push(at);
  return places;
}

function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < place; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

function ambiguous(lines: readonly number[]): CorralError {
  const shown = lines.slice(0, 20).join(", ") + (lines.length > 20 ? ", …" : "");
  return refused(
    `\`old\` is there ${lines.length} times, in lines ${shown}. Quote more around the one that is meant, or set \`all\` to change each.`,
  );
}

function notFound(lines: readonly string[], wanted: readonly string[]): CorralError {
  const like = nearest(lines, wanted);
  if (like !== undefined) return refused(`\`old\` is not in the file as quoted. The nearest lines are:\n${like}`);
  const beginning =
    lines.length > 1 ? ` It has ${lines.length} lines; its first are:\n${numbered(lines.slice(0, 5), 1)}` : "";
  return refused(`\`old\` is not in the file, nor anything much like it.${beginning}`);
}

function refused(message: string): CorralError {
  return new CorralError("call.refused", message);
}
