import { createHash } from "node:crypto";
import type { HeldContent } from "../environments/index.ts";

/** Exactly what would be put in place, as lines of a difference. What is too long, or no text, is named with its size and its SHA-256. */
export function shownContents(contents: readonly HeldContent[]): string {
  let room = mostCharacters;
  return contents
    .flatMap((name) => linesOf(name))
    .map(({ heading, lines, bytes }) => {
      const text = [heading, ...lines].join("\n");
      const isShown = text.length <= room;
      room -= isShown ? text.length : 0;
      return isShown ? text : `${heading}\n(${bytes.length} bytes, SHA-256 ${digestOf(bytes)})`;
    })
    .join("\n");
}

interface Shown {
  readonly heading: string;
  readonly lines: readonly string[];
  readonly bytes: Buffer;
}

const mostCharacters = 60_000;

function linesOf({ path, entries, before, moved }: HeldContent): readonly Shown[] {
  const none = Buffer.alloc(0);
  if (moved !== undefined)
    return [
      { heading: `+++ ${inLine(path)}`, lines: ["(too large to be shown or put back, or closed to you)"], bytes: none },
    ];
  return entries.flatMap((entry): readonly Shown[] => {
    const { kind, content, isExecutable } = entry;
    const isEmptyFolder = kind === "folder" && !entries.some((each) => each.path.startsWith(`${entry.path}/`));
    if (kind === "folder" && !isEmptyFolder) return [];
    const what = {
      file: isExecutable ? " (can be run)" : "",
      link: " (a link to this)",
      folder: " (an empty folder)",
      other: " (no file)",
    };
    const heading = `+++ ${inLine(entry.path)}${what[kind]}`;
    if (content === undefined) return [{ heading, lines: [], bytes: none }];
    const earlier = entry.path === path && before !== undefined ? marked("-", before) : [];
    return [{ heading, lines: [...earlier, ...marked("+", content)], bytes: content }];
  });
}

/** An agent chooses the names: none may pass for a line of content. */
function inLine(path: string): string {
  return path.replaceAll("\n", "⏎");
}

function marked(mark: "+" | "-", content: Buffer): readonly string[] {
  const text = content.toString("utf8");
  if (!Buffer.from(text, "utf8").equals(content) || text.includes("\0"))
    return [`${mark}(no text: ${content.length} bytes, SHA-256 ${digestOf(content)})`];
  if (text === "") return [];
  const lines = text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `${mark}${line}`);
  return text.endsWith("\n") ? lines : [...lines, "\\ no newline at the end"];
}

function digestOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
