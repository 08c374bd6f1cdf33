import { configVersion, type SettingKey } from "@corral/protocol";
import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
  modify,
  type Node,
  parseTree,
  type SyntaxKind,
} from "jsonc-parser";
import type { Document } from "./document.ts";
import { withoutMark } from "./json-file.ts";

/** The text with one setting changed (undefined: taken out); comments and all else stay as they are. */
export function withSetting(text: string, { said }: Document, key: SettingKey, value: unknown): string {
  const place = said.get(key)?.source ?? key.split(".");
  return changed(editable(text), place, value);
}

/** The text in today's version. Values that have moved take their new place; comments stay. */
export function inTodaysVersion(text: string, { said }: Document): string {
  let upgraded = editable(text);
  for (const { path, source, value } of said.values()) {
    if (path.join("\0") === source.join("\0")) continue;
    upgraded = changed(changed(upgraded, source, undefined), path, value);
  }
  return insertedFirst(upgraded, "version", configVersion);
}

function editable(text: string): string {
  return text.trim() === "" ? `{\n  "version": ${configVersion}\n}\n` : withoutMark(text);
}

function changed(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) return applyEdits(text, modify(text, [...path], value, { formattingOptions: styleOf(text) }));
  const present = findNodeAtLocation(root, [...path]);
  if (present === undefined) return value === undefined ? text : inserted(text, root, path, value);
  if (value === undefined) return without(text, present.parent ?? present);
  return text.slice(0, present.offset) + JSON.stringify(value) + text.slice(present.offset + present.length);
}

/** Behind the last property of the innermost object that is there, on a line of its own, past that one's comment. */
function inserted(text: string, root: Node, path: readonly string[], value: unknown): string {
  const depth = path.findLastIndex((_name, index) => findNodeAtLocation(root, path.slice(0, index))?.type === "object");
  const object = findNodeAtLocation(root, path.slice(0, depth));
  const last = object?.children?.at(-1);
  const place = last === undefined ? undefined : endOfLine(text, last);
  if (last === undefined || place === undefined)
    return applyEdits(text, modify(text, [...path], value, { formattingOptions: styleOf(text) }));
  const [name = "", ...rest] = path.slice(depth);
  const whole = rest.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value);
  const indent = /[ \t]*$/.exec(text.slice(0, last.offset))?.[0] ?? "";
  const line = `${JSON.stringify(name)}: ${JSON.stringify(whole, null, 2).replaceAll("\n", `\n${indent}`)}`;
  const end = last.offset + last.length;
  const head = `${text.slice(0, end)}${place.hasComma ? "" : ","}${text.slice(end, place.offset)}`;
  return `${head}${eolOf(text)}${indent}${line}${place.hasComma ? "," : ""}${text.slice(place.offset)}`;
}

/** Where the line ends on which the property does, if nothing but its comma and comments follow there. */
function endOfLine(text: string, property: Node): { offset: number; hasComma: boolean } | undefined {
  const scanner = createScanner(text);
  scanner.setPosition(property.offset + property.length);
  let hasComma = false;
  for (;;) {
    const token = scanner.scan();
    if (token === comma) hasComma = true;
    else if (token === lineBreak) return { offset: scanner.getTokenOffset(), hasComma };
    else if (!trivia.has(token)) return undefined;
  }
}

/** Takes its comma with it, and its line when nothing else is on it. */
function without(text: string, property: Node): string {
  const after = createScanner(text, true);
  after.setPosition(property.offset + property.length);
  const hasComma = after.scan() === comma;
  const end = hasComma ? after.getTokenOffset() + 1 : property.offset + property.length;
  const before = text.slice(0, property.offset).replace(/[ \t]+$/, "");
  const rest = text.slice(end);
  const ownLine = /^[ \t]*\r?\n/.exec(rest);
  if (ownLine !== null && before.endsWith("\n")) return before + rest.slice(ownLine[0].length);
  return text.slice(0, property.offset) + rest.replace(/^[ \t]+/, "");
}

/** In front of everything, where a version is looked for. */
function insertedFirst(text: string, name: string, value: unknown): string {
  const options = { formattingOptions: styleOf(text), getInsertionIndex: () => 0 };
  return applyEdits(text, modify(text, [name], value, options));
}

function styleOf(text: string) {
  return { insertSpaces: !/^\t/m.test(text), tabSize: 2, eol: eolOf(text) };
}

function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

// The parser's constants are a const enum, which does not outlive its types.
const comma = 5 as SyntaxKind.CommaToken;
const lineBreak = 14 as SyntaxKind.LineBreakTrivia;
/** Line comments, block comments and spaces. */
const trivia: ReadonlySet<SyntaxKind> = new Set([12, 13, 15]);
