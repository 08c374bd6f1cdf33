import { expect, test } from "vitest";
import { Markdown } from "./markdown.ts";

function rendered(
  text: string,
  { columns = 80, pieces = [text] }: { columns?: number; pieces?: string[] } = {},
): string {
  const markdown = new Markdown(() => columns);
  return pieces.map((piece) => markdown.push(piece)).join("") + markdown.end();
}

/** With tags in the place of what terminals obey. */
function tagged(text: string): string {
  const tags: Record<string, string> = { 1: "<b>", 22: "</>", 36: "<c>", 39: "</c>", 2: "<d>" };
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\u001b\[(\d+)m/g, (_, code: string) => tags[code] ?? code);
}

test.each([
  ["plain words", "plain words"],
  ["# Title\nand text", "<b>Title</>\nand text"],
  ["a **bold** word", "a <b>bold</> word"],
  ["run `npm test` now", "run <c>npm test</c> now"],
  ["- one\n* two\n  - three", "• one\n• two\n  • three"],
  ["2 * 3 ** 4", "2 * 3 ** 4"],
  ["`**not bold**`", "<c>**not bold**</c>"],
  ["#no heading", "#no heading"],
  ["**never closed\nnext", "<b>never closed</>\nnext"],
  ["-", "-"],
  ["a *", "a *"],
  ["\u001b[2J", "␛[2J"],
])("%j is shown as it is meant", (text, meant) => {
  expect(tagged(rendered(text))).toBe(meant);
});

test("what is fenced is left as it is, and dim", () => {
  expect(tagged(rendered("```sh\n# **no** title\n```\ndone"))).toBe(
    "<d>```sh</>\n<d># **no** title</>\n<d>```</>\ndone",
  );
});

test("words go to the next line whole, and items are set in", () => {
  expect(rendered("one two three four five six", { columns: 20 })).toBe("one two three four\nfive six");
  expect(tagged(rendered("- one two three **four** five", { columns: 20 }))).toBe("• one two three <b>four</>\n  five");
});

test("however it is cut into pieces, the same is shown", () => {
  const text = "# Title\n\nSome **bold** and `code` words\n- an *item*\n```\n**x**\n```\nand 2 ** 3 the end **";
  expect(tagged(rendered(text, { pieces: text.split("") })).replaceAll("</><d>", "")).toBe(tagged(rendered(text)));
});
