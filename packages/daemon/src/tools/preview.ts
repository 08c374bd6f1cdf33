import { whyPathObeyed } from "../environments/index.ts";

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

/** A path, on one line. */
export function heading(path: string): string {
  return `@@ ${path.replaceAll("\n", "⏎")}`;
}

/**
 * As much of it as a person may be shown, and how much more there is: the arguments have all of it. Of what others obey nothing is left out,
 * for it is allowed by its content.
 */
export function previewOf(lines: readonly string[], paths: readonly string[]): string {
  if (paths.some((path) => whyPathObeyed(path) !== undefined)) return lines.join("\n");
  const shown = lines.slice(0, most.lines).join("\n").slice(0, most.characters);
  const left = lines.join("\n").length - shown.length;
  return left === 0 ? shown : `${shown}\n… ${left} more characters`;
}
