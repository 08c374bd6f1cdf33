import { CorralError } from "@corral/protocol";
import { findLines, nearest, reindent } from "./match.ts";
import type { Hunk } from "./patch-text.ts";
import { endingOf } from "./replace.ts";

/** The text with all hunks applied, each behind the one before. Throws which one does not fit, and what is there. */
export function applyHunks(path: string, text: string, hunks: readonly Hunk[]): string {
  const pieces = text.split(/(?<=\n)/);
  const lines = pieces.map((piece) => piece.replace(/\r?\n$/, ""));
  const ending = endingOf(text);
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const name = hunks.length === 1 ? `The hunk of ${path}` : `Hunk ${index + 1} of ${path}`;
    const at = placeOf(name, lines, hunk, from);
    const there = lines.slice(at, at + hunk.old.length);
    const put = fitting(name, hunk, lines, there);
    // Behind a last line without an end, another begins.
    if (at > 0 && put.length > 0 && !pieces[at - 1]!.endsWith("\n")) pieces[at - 1] += ending;
    const isLast = at + hunk.old.length >= pieces.length;
    const hasEnd = !isLast || pieces.length === 0 || pieces.at(-1) === "" || pieces.at(-1)!.endsWith("\n");
    const ends = put.map((line, each) => (each < put.length - 1 || hasEnd ? line + ending : line));
    pieces.splice(at, hunk.old.length, ...ends);
    lines.splice(at, hunk.old.length, ...put);
    from = at + put.length;
  }
  return pieces.join("");
}

function placeOf(name: string, lines: readonly string[], hunk: Hunk, from: number): number {
  let start = from;
  for (const above of hunk.below) {
    const found = findLines(lines, [above], start)[0] ?? {
      at: lines.findIndex((line, at) => at >= start && line.includes(above)),
    };
    if (found.at === -1)
      throw unfit(`${name}: there is no line ${JSON.stringify(above)} to find it by.`, lines, [above]);
    start = found.at + 1;
  }
  if (hunk.old.length === 0) return hunk.below.length > 0 ? start : endOf(lines);
  const places = findLines(lines, hunk.old, start);
  const place = hunk.atEnd ? places.findLast(({ at }) => at + hunk.old.length >= endOf(lines)) : places[0];
  if (place === undefined)
    throw unfit(`${name}: these lines are not there${start > 0 ? ` below line ${start}` : ""}.`, lines, hunk.old);
  if (place.closeness !== "exact" && places.length > 1)
    throw unfit(
      `${name} could be meant for lines ${places.map(({ at }) => at + 1).join(", ")}: say by @@ below which line it is.`,
      [],
      [],
    );
  return place.at;
}

/** Lines that are added alone go to the end; an empty text has none. */
function endOf(lines: readonly string[]): number {
  return lines.length === 1 && lines[0] === "" ? 0 : lines.length;
}

/** Kept lines stay as they are in the file; added ones get its indentation. */
function fitting(name: string, hunk: Hunk, lines: readonly string[], there: readonly string[]): readonly string[] {
  const put = reindent(hunk.new, hunk.old, there);
  if (put === undefined) throw unfit(`${name}: its indentation is not that of the file.`, lines, hunk.old);
  const kept = new Map(hunk.old.map((line, index) => [line, there[index]!]));
  return put.map((line, index) => kept.get(hunk.new[index]!) ?? line);
}

function unfit(message: string, lines: readonly string[], wanted: readonly string[]): CorralError {
  const like = wanted.length === 0 ? undefined : nearest(lines, wanted);
  return new CorralError("call.refused", like === undefined ? message : `${message} The nearest lines are:\n${like}`);
}
