import { expect, test } from "vitest";
import { globOf, pathGlobOf } from "./glob.ts";

const paths = ["a.ts", "b.js", "src/a.ts", "src/lib/b.ts", "src/lib/c[1].ts", "srca.ts"];

const patterns: [string, string[]][] = [
  ["*.ts", ["a.ts", "src/a.ts", "src/lib/b.ts", "src/lib/c[1].ts", "srca.ts"]],
  ["/*.ts", ["a.ts", "srca.ts"]],
  ["./?.ts", ["a.ts"]],
  ["src/**", ["src/a.ts", "src/lib/b.ts", "src/lib/c[1].ts"]],
  ["src/**/*.ts", ["src/a.ts", "src/lib/b.ts", "src/lib/c[1].ts"]],
  ["**/lib/*", ["src/lib/b.ts", "src/lib/c[1].ts"]],
  ["src*", ["srca.ts"]],
  ["[ab].{ts,js}", ["a.ts", "b.js", "src/a.ts", "src/lib/b.ts"]],
  ["[!a-b]*.ts", ["src/lib/c[1].ts", "srca.ts"]],
  [String.raw`c\[1].ts`, ["src/lib/c[1].ts"]],
  ["**", paths],
  ["src", []],
];
test.each(patterns)("%s matches what it says", (pattern, expected) => {
  expect(paths.filter(pathGlobOf(pattern))).toEqual(expected);
});

test("a pattern made to take long does not", () => {
  const fits = globOf(`${"**/*a*".repeat(60)}b`);
  expect(fits(`${"a".repeat(200)}/`.repeat(20))).toBe(false);
});

test("braces without end are refused", () => {
  expect(() => globOf("{a,b}".repeat(20))).toThrow("too many");
});
