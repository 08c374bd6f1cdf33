import { expect, test } from "vitest";
import { bounded, jsonLine, outputTo, shown, shownInLine } from "./output.ts";

test("escapes, control characters and marks that reorder text are shown", () => {
  expect(shown("a\u001b[2J\u0007b\rc\u0000\u007f\u009b31m\u202eevil")).toBe("a␛[2J␇b␍c␀\\u007f\\u009b31m\\u202eevil");
});

test("line feeds, tabs and letters of every script stay", () => {
  expect(shown("a\n\tä 日本 👍🏽")).toBe("a\n\tä 日本 👍🏽");
});

test("a name stays on its line", () => {
  expect(shownInLine("a\nother.txt  +1 -0\u001b[2J\tb")).toBe("a⏎other.txt  +1 -0␛[2J b");
});

test("a line of JSON keeps its value and holds nothing that a terminal obeys", () => {
  const value = { text: "\u001b]0;x\u0007 \u009b \u007f \u202e \u2028 \\u001b \n" };
  expect(JSON.parse(jsonLine(value))).toEqual(value);
  expect(shown(jsonLine(value))).toBe(jsonLine(value));
});

test("output is cut to lines and characters, with a note", () => {
  expect(bounded("1\r\n2\n3\n4\n\n", { lines: 2, characters: 100 })).toBe("1\n2\n… 2 more lines");
  expect(bounded("x".repeat(10), { lines: 2, characters: 4 })).toBe("xxxx…");
  expect(bounded("", { lines: 2, characters: 4 })).toBe("");
});

test("colours are for terminals, unless refused", () => {
  const terminal = { write: () => undefined, isTTY: true };
  expect(outputTo(terminal, {}).colour).toBe(true);
  expect(outputTo(terminal, { NO_COLOR: "1" }).colour).toBe(false);
  expect(outputTo(terminal, { TERM: "dumb" }).colour).toBe(false);
  expect(outputTo({ write: () => undefined }, {}).colour).toBe(false);
  expect(outputTo(terminal, { FORCE_COLOR: "0" }).colour).toBe(false);
  expect(outputTo({ write: () => undefined }, { FORCE_COLOR: "1", NO_COLOR: "1" }).colour).toBe(true);
});

test("a line is as long as the terminal is wide, or as somebody says, or 80", () => {
  const write = () => undefined;
  expect(outputTo({ write, columns: 100 }, {}).columns).toBe(100);
  expect(outputTo({ write, columns: 100 }, { COLUMNS: "33" }).columns).toBe(33);
  expect(outputTo({ write, columns: 0 }, { COLUMNS: "wide" }).columns).toBe(80);
  expect(outputTo({ write }, {}).columns).toBe(80);
});
