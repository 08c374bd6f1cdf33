/** A text that grows piece by piece, of which the newest is kept. */
export interface Output {
  readonly text: string;
  /** How much of it was heard, in UTF-16 units from its start. */
  readonly end: number;
}

export const emptyOutput: Output = { text: "", end: 0 };

/** A command may print for hours; the event that closes it brings what is worth keeping. */
export const keptLive = 100_000;

/** Pieces may come again after a broken connection, so only what is new in them counts. */
export function grow({ text, end }: Output, piece: { readonly offset: number; readonly text: string }): Output {
  const newEnd = piece.offset + piece.text.length;
  if (newEnd <= end) return { text, end };
  const fresh = piece.text.slice(Math.max(0, end - piece.offset));
  return { text: (text + fresh).slice(-keptLive), end: newEnd };
}

export function wholeOutput(text: string): Output {
  return { text, end: text.length };
}
