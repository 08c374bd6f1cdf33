import { expect, test } from "vitest";
import { titleFrom } from "./title.ts";

test.each([
  ["fix it", "fix it"],
  ["\n\n  Fix   the\tparser \nand then the docs", "Fix the parser"],
  ["\u001b[31mred\u0007", "[31mred"],
  [
    "Find out why the tests of the parser fail on dates before 1970, and mend it",
    "Find out why the tests of the parser fail on dates before…",
  ],
  ["x".repeat(70), `${"x".repeat(60)}…`],
  ["😀".repeat(61), `${"😀".repeat(60)}…`],
  ["\u0000\n ", "untitled"],
])("%j is called %j", (text, title) => {
  expect(titleFrom(text)).toBe(title);
});
