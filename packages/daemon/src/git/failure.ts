/** Git could not do what it was asked. Its words may quote names that an agent chose, so nothing in them that a terminal obeys is kept. */
export class GitFailure extends Error {
  override readonly name = "GitFailure";

  constructor(words: string, options?: ErrorOptions) {
    super(bounded(words.trim().replaceAll(unsafe, "?")), options);
  }
}

/** Control characters but line feed and tab, and marks that reorder text or break lines. */
const unsafe = /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u2028\u2029]/gu;

const longest = 2000;

function bounded(words: string): string {
  return words.length > longest ? `${words.slice(0, longest)}…` : words;
}
