import type { Performance } from "./performance.ts";

/** Where two performances part. Undefined: that one has nothing there. */
export interface Difference {
  readonly where: string;
  readonly one: string | undefined;
  readonly other: string | undefined;
}

/** In the order in which things happened. None: the same was done. */
export function differences({ facts: one }: Performance, { facts: other }: Performance): readonly Difference[] {
  const places = [...one.keys(), ...[...other.keys()].filter((where) => !one.has(where))];
  return places
    .map((where) => ({ where, one: one.get(where), other: other.get(where) }))
    .filter((place) => place.one !== place.other);
}

/** The piece of both around the first character that differs. */
export function pieces({ one, other }: Difference, around = 80): { readonly one: string; readonly other: string } {
  const [a, b] = [one ?? "(nothing)", other ?? "(nothing)"];
  let same = 0;
  while (same < Math.min(a.length, b.length) && a[same] === b[same]) same += 1;
  const from = Math.max(0, same - around / 2);
  return { one: pieceOf(a, from, around), other: pieceOf(b, from, around) };
}

function pieceOf(text: string, from: number, around: number): string {
  const to = from + around * 2;
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}
