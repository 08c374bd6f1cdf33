/** About what fits on a line beside an id and a state. */
const longest = 60;

/** What a session is called after the first that was said to it: its first line, cut between words. */
export function titleFrom(text: string): string {
  const line = text
    .split("\n")
    .map((each) => each.replaceAll(/[\s\p{Cc}]+/gu, " ").trim())
    .find((each) => each !== "");
  if (line === undefined) return "untitled";
  const letters = Array.from(new Intl.Segmenter().segment(line), ({ segment }) => segment);
  if (letters.length <= longest) return line;
  const cut = letters.slice(0, longest).join("");
  const lastSpace = cut.lastIndexOf(" ");
  return `${(lastSpace > longest / 2 ? cut.slice(0, lastSpace) : cut).replace(/[\s.,;:–-]+$/u, "")}…`;
}
