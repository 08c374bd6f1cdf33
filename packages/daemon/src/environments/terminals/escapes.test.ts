import { expect, test } from "vitest";
import { EscapeFilter, withoutEscapes } from "./escapes.ts";

const passed = (...pieces: readonly (string | Buffer)[]) => {
  const filter = new EscapeFilter();
  return pieces.map((piece) => filter.pass(Buffer.from(piece as string))).join("|");
};

test.each([
  "plain text\r\n\ttabs\b\u0007",
  "\u001b[1;31mred\u001b[0m \u001b[38;2;1;2;3m\u001b[4:3m",
  "\u001b[2J\u001b[H\u001b[10;20H\u001b[K\u001b[3A\u001b[1;20r\u001b[2L\u001bM\u001b7\u001b8",
  "\u001b[?1049h\u001b[?25l\u001b[?1;2004h\u001b=\u001b(0lqk\u001b(B\u001b[4 q\u001b[!p",
  "\u001b]0;a title\u0007",
  "é€😀",
])("what draws is kept: %j", (text) => expect(passed(text)).toBe(text));

test.each([
  ["the clipboard", "\u001b]52;c;ZXZpbA==\u0007"],
  ["the clipboard, ended otherwise", "\u001b]52;c;ZXZpbA==\u001b\\"],
  ["a link", "\u001b]8;;https://evil.example\u001b\\"],
  ["a question for a colour", "\u001b]11;?\u0007"],
  ["a question for the screen's state", "\u001bP$qm\u001b\\"],
  ["a setting of the terminal's own", "\u001bP+p616263\u001b\\"],
  ["an application's command", "\u001b_Gf=100;AAAA\u001b\\"],
  ["windows and their titles", "\u001b[21t\u001b[8;10;10t\u001b[3;0;0t"],
  ["who are you", "\u001b[c\u001b[>c\u001b[=c\u001b[>q\u001bZ\u0005"],
  ["where is the cursor", "\u001b[6n\u001b[?6n\u001b[5n"],
  ["questions for modes", "\u001b[?2004$p\u001b[4$p"],
  ["checksums of the screen", "\u001b[1;1;1;1;5;5*y"],
  ["printing", "\u001b[5i\u001b[?4i"],
  ["keyboard protocols", "\u001b[>1u\u001b[?u\u001b[>4;2m"],
  ["wide mode, and others not known", "\u001b[?3h\u001b[?9001h"],
  ["8-bit controls", "\u009b\u009d\u009c\u0090"],
  ["another encoding", "\u001b%@\u001b G"],
  ["stray controls", "\u0000\u0001\u0018\u001a\u007f"],
])("%s is taken out", (_what, sequence) => expect(passed(`a${sequence}b`)).toBe("ab"));

test("of several modes the wanted ones are kept", () => {
  expect(passed("\u001b[?3;25;9001;1049h")).toBe("\u001b[?25;1049h");
});

test("bytes that are no UTF-8 come out as the mark for them", () => {
  expect(passed(Buffer.from([0x61, 0x9b, 0x36, 0x6e, 0xff]))).toBe("a\uFFFD6n\uFFFD");
});

test("a sequence that is cut waits for its rest, wherever it is cut", () => {
  const text = "a\u001b[1;31mé\u001b]52;c;x\u001b\\b\u001b(0\u001b]2;t\u0007c\u001b[6nd";
  const whole = passed(text);
  const bytes = Buffer.from(text);
  for (let cut = 1; cut < bytes.length; cut++) {
    const filter = new EscapeFilter();
    expect(filter.pass(bytes.subarray(0, cut)) + filter.pass(bytes.subarray(cut))).toBe(whole);
  }
  const filter = new EscapeFilter();
  expect([...bytes].map((byte) => filter.pass(Uint8Array.of(byte))).join("")).toBe(whole);
});

test("a string without an end is swallowed until it ends, and nothing is kept of it meanwhile", () => {
  const filter = new EscapeFilter();
  expect(filter.pass(Buffer.from(`\u001b]52;c;${"x".repeat(10_000)}`))).toBe("");
  expect(filter.pass(Buffer.from("x".repeat(100_000)))).toBe("");
  expect(filter.pass(Buffer.from("x\u001b\\after"))).toBe("after");
});

test("whole strings that are taken out are told", () => {
  const told: string[] = [];
  const filter = new EscapeFilter((string) => told.push(string));
  for (const byte of Buffer.from(
    "a\u001b]7700;one\u0007\u001b]0;title\u0007\u001b[12\u001b]52;c;x\u001b]7700;two\u001b\\",
  ))
    filter.pass(Uint8Array.of(byte));
  expect(told).toEqual(["7700;one", "7700;two"]);
});

test("what is left of one sequence never becomes another", () => {
  expect(passed("\u001b\u001b[6n[6n")).toBe("[6n");
  expect(passed("\u001b[12\u001b[6n;5n")).toBe(";5n");
  expect(passed("\u001b]0;a\u001b[6nb\u0007")).toBe("b\u0007");
});

test("without escapes there is text alone", () => {
  expect(withoutEscapes("\u001b[1mbold\u001b[0m\u001b]0;t\u0007\u001b(B \u0007tab\tline\n")).toBe("bold tab\tline\n");
});
