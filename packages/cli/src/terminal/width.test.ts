import { expect, test } from "vitest";
import { cutTo, widthOf } from "./width.ts";

test.each([
  ["abc", 3],
  ["你好", 4],
  ["ｌｓ", 4],
  ["한글", 4],
  ["🎉", 2],
  ["e\u0301", 1],
  ["ünïcödé ✓", 9],
  ["␛[31m", 5],
])("%j takes %i cells", (text, cells) => {
  expect(widthOf(text)).toBe(cells);
});

test("what does not fit is cut between characters", () => {
  expect([cutTo("你好你好", 8), cutTo("你好你好", 7), cutTo("你好你好", 6), cutTo("abc", 2)]).toEqual([
    "你好你好",
    "你好你…",
    "你好…",
    "a…",
  ]);
});
