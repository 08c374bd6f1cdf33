/** Shorter values turn up by chance, and are easily guessed. Keys of providers have at least twenty characters. */
export const shortest = 8;
/** `00000000` and `abcabcabc` are placeholders. */
const fewestDifferent = 6;
const longestWord = 20;
const longestNumber = 12;

/**
 * Whether a value is masked wherever it turns up. A value that is masked by mistake makes results unreadable, and calls that hold it are
 * declined. So a value that reads like a name is left alone: words and numbers, joined by anything else (`true`, `localhost:8080`,
 * `sk-no-key-required`, `acme-frontend-2024`). A random value hardly ever reads so.
 */
export function isWorthMasking(value: string): boolean {
  if (value.length < shortest || new Set(value).size < fewestDifferent) return false;
  return !value
    .split(/[^A-Za-z0-9]+/)
    .filter((piece) => piece !== "")
    .every(readsLikeName);
}

/** A number, or words such as `password`, `PASSWORD`, `passWord` and `password123`. */
function readsLikeName(piece: string): boolean {
  if (/^\d+$/.test(piece)) return piece.length <= longestNumber;
  const [, letters = "", digits = ""] = /^([A-Za-z]+)(\d*)$/.exec(piece) ?? [];
  if (letters === "" || digits.length > 4 || letters.length > longestWord) return false;
  const words = letters.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [];
  return words.length === 1 || words.every((word) => word.length >= 3);
}
