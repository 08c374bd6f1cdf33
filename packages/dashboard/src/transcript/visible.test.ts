import { expect, test } from "vitest";
import { visible } from "./visible.ts";

test.each([
  ["plain text, lines and tabs stay", "a\n\tb <i>é</i>", "a\n\tb <i>é</i>"],
  ["colours go", "\u001b[1;31mred\u001b[0m", "red"],
  ["other control characters show", "a\u001b[2Jb\u0007\u0085", "a␛[2Jb␇\\u0085"],
  ["line ends of other systems are line ends", "a\r\nb", "a\nb"],
  ["what would reorder the text shows", "rm \u202etxt.exe", "rm \\u202etxt.exe"],
])("%s", (_name, text, shown) => {
  expect(visible(text)).toBe(shown);
});
