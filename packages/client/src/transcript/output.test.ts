import { expect, test } from "vitest";
import { emptyOutput, grow, keptLive } from "./output.ts";

test("what is printed for hours keeps its newest part and its count", () => {
  const start = grow(emptyOutput, { offset: 0, text: "a".repeat(keptLive) });
  const grown = grow(start, { offset: keptLive, text: "bc" });
  expect({ length: grown.text.length, tail: grown.text.slice(-3), end: grown.end }).toEqual({
    length: keptLive,
    tail: "abc",
    end: keptLive + 2,
  });
  expect(grow(grown, { offset: keptLive, text: "bcd" }).text.slice(-4)).toBe("abcd");
});
