import { expect, test } from "vitest";
import { timeLeft } from "./time-left.ts";

test.each([
  [-5, "0 s left"],
  [59_001, "60 s left"],
  [600_000, "10 min left"],
  [86_400_000, "24 h left"],
])("%d milliseconds are %j", (ms, words) => {
  expect(timeLeft(ms)).toBe(words);
});
