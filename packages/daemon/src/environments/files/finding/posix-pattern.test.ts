import { expect, test } from "vitest";
import { posixPattern } from "./posix-pattern.ts";

const patterns: [string, string | undefined][] = [
  ["plain.*text$", "plain.*text$"],
  [String.raw`\d+\s\w\D\.`, String.raw`[0-9]+[[:space:]][A-Za-z0-9_][^0-9]\.`],
  [String.raw`(?:a|b)*?c+?`, "(a|b)*c+"],
  [String.raw`[\w.-]+@[^\]\s]`, "[A-Za-z0-9_.-]+@[^][:space:]]"],
  [String.raw`a\/b\-c`, "a/b-c"],
  [String.raw`\[x\]\(\)`, String.raw`\[x\]\(\)`],
  ["x{2,3}?", "x{2,3}"],
  ["(?i)a", undefined],
  [String.raw`\p{Greek}`, undefined],
  [String.raw`[\pL]`, undefined],
  ["end\\", undefined],
];
test.each(patterns)("%s is said as %s", (pattern, expected) => {
  expect(posixPattern(pattern)).toBe(expected);
});
