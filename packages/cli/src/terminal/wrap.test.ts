import { expect, test } from "vitest";
import { hang, listed, table, wrap } from "./wrap.ts";

test("text is broken between words, and what is set in stays as it is", () => {
  expect(wrap("one two three four five six\n\n  a line that is set in stays", 20)).toBe(
    "one two three four\nfive six\n\n  a line that is set in stays",
  );
  expect(wrap("one two three four", 24, "    ")).toBe("    one two three four");
});

test("a word longer than the line has a line of its own", () => {
  expect(wrap(`see ${"x".repeat(30)} there`, 20)).toBe(`see\n${"x".repeat(30)}\nthere`);
});

test("the right column hangs beside the left one, or stands below it where it is narrow", () => {
  const rows = [
    ["--json", "print each event as a line"],
    ["--a", "b"],
  ] as const;
  expect(table(rows, 80)).toBe("  --json  print each event as a line\n  --a     b");
  expect(table(rows, 32)).toBe("  --json  print each event as a\n          line\n  --a     b");
  expect(table(rows, 24)).toBe("  --json\n      print each event\n      as a line\n  --a\n      b");
});

test("what hangs is set in from its second line on", () => {
  expect(hang("one two three four five six", 20)).toBe("one two three\n    four five six");
});

test("a list has whole lines for programs, and lines that fit for people", () => {
  const line = "tok_1     valid   read   everything";
  expect(listed(line, { columns: 20 })).toBe(line);
  expect(listed(line, { columns: 40, isTerminal: true })).toBe(line);
  expect(listed(line, { columns: 20, isTerminal: true })).toBe("tok_1  valid\n    read  everything");
});
