import { widthOf } from "./width.ts";

/** Text broken into lines of at most so many characters, between words; lines that begin with blanks are left alone. */
export function wrap(text: string, columns: number, indent = ""): string {
  return text
    .split("\n")
    .flatMap((line) => (/^\s/.test(line) ? [line] : wrapLine(line, Math.max(columns, narrowest) - indent.length)))
    .map((line) => (line === "" ? "" : indent + line))
    .join("\n");
}

/** Text whose lines after the first are set in. */
export function hang(text: string, columns: number, indent = "    "): string {
  const lines = wrapLine(text, Math.max(columns, narrowest) - indent.length);
  return lines.map((line) => line.trim()).join(`\n${indent}`);
}

/** One line of a list: whole for a program, within the width of a person's terminal. */
export function listed(line: string, { columns, isTerminal }: { columns: number; isTerminal?: boolean }): string {
  return isTerminal === true && widthOf(line) > columns ? hang(line.replaceAll(/ {2,}/g, "  "), columns) : line;
}

/** Two columns; where there is no room beside the left one, the right one stands below it. */
export function table(rows: readonly (readonly [left: string, right: string])[], columns: number): string {
  const width = Math.max(...rows.map(([left]) => widthOf(left)));
  const isBeside = columns - width - 4 >= narrowest;
  return rows
    .map(([left, right]) => {
      if (!isBeside) return `${left === "" ? "" : `  ${left.trimEnd()}\n`}${wrap(right, columns, "      ")}`;
      const lines = wrapLine(right, columns - width - 4);
      return lines.map((line, index) => `  ${padded(index === 0 ? left : "", width)}  ${line}`.trimEnd()).join("\n");
    })
    .join("\n");
}

/** Below this words are read one by one, and a terminal that says it is narrower is not believed. */
const narrowest = 20;

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

function wrapLine(line: string, width: number): string[] {
  const lines = [""];
  for (const word of line.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && widthOf(last) + 1 + widthOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}
