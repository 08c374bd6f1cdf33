const most = { lines: 400, characters: 40_000 };

/** Lines of a text, each with a mark before it. */
export function marked(mark: "+" | "-", text: string): readonly string[] {
  return text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `${mark}${line}`);
}

/** As much of it as a person may be shown, and how much more there is: the arguments have all of it. */
export function previewOf(lines: readonly string[]): string {
  const shown = lines.slice(0, most.lines).join("\n").slice(0, most.characters);
  const left = lines.join("\n").length - shown.length;
  return left === 0 ? shown : `${shown}\n… ${left} more characters`;
}
