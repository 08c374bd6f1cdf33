import { configVersion, type SettingKey } from "@corral/protocol";
import { applyEdits, modify } from "jsonc-parser";
import { type Document, withoutMark } from "./document.ts";

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
  return changed(upgraded, ["version"], configVersion);
}

function editable(text: string): string {
  return text.trim() === "" ? fresh : withoutMark(text);
}

const fresh = `{\n  "version": ${configVersion}\n}\n`;

function changed(text: string, path: readonly string[], value: unknown): string {
  const edits = modify(text, [...path], value, {
    formattingOptions: { insertSpaces: !/^\t/m.test(text), tabSize: 2, eol: text.includes("\r\n") ? "\r\n" : "\n" },
    getInsertionIndex: (names) => (path.length === 1 && path[0] === "version" ? 0 : names.length),
  });
  return applyEdits(text, edits);
}
