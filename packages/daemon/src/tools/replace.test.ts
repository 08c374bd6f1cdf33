import { expect, test } from "vitest";
import { replaceIn } from "./replace.ts";

const code = "function a() {\n    if (x) {\n        return 1;\n    }\n}\n\nfunction b() {\n    return 2;\n}\n";

function failure(text: string, wish: Parameters<typeof replaceIn>[1]): string {
  try {
    replaceIn(text, wish);
  } catch (error) {
    return (error as Error).message;
  }
  return "it was replaced";
}

test("a piece quoted exactly is replaced, whatever is in it", () => {
  expect(replaceIn("one $1 two", { old: "$1", new: "$& $$" })).toEqual({
    text: "one $& $$ two",
    lines: [1],
    closeness: "exact",
  });
  expect(replaceIn(code, { old: "return 2", new: "return 3" })).toMatchObject({ lines: [8] });
});

test("several places are told by their lines, or all replaced", () => {
  expect(failure("a\nb\na\n", { old: "a", new: "c" })).toBe(
    "`old` is there 2 times, in lines 1, 3. Quote more around the one that is meant, or set `all` to change each.",
  );
  expect(replaceIn("a\nb\na\n", { old: "a", new: "c", all: true })).toMatchObject({ text: "c\nb\nc\n", lines: [1, 3] });
});

test("white space at the ends of lines may differ", () => {
  expect(replaceIn("one  \ntwo\t\nthree\n", { old: "one\ntwo\n", new: "1\n2\n" })).toEqual({
    text: "1\n2\nthree\n",
    lines: [1],
    closeness: "line ends",
  });
});

test("indentation may differ in one way, and what is put in gets that of the file", () => {
  expect(replaceIn(code, { old: "if (x) {\n    return 1;\n}", new: "if (y) {\n    go();\n    return 9;\n}" })).toEqual({
    text: code.replace("if (x) {\n        return 1;", "if (y) {\n        go();\n        return 9;"),
    lines: [2],
    closeness: "indentation",
  });
  const tabs = "a {\n\tb {\n\t\tc;\n\t}\n}\n";
  expect(replaceIn(tabs, { old: "  b {\n    c;\n  }", new: "  b {\n    c;\n    d;\n  }" }).text).toBe(
    "a {\n\tb {\n\t\tc;\n\t\td;\n\t}\n}\n",
  );
});

test("indentation that differs in no one way is refused, and the lines are shown", () => {
  const python = "if a:\n    b()\n  c()\n";
  expect(failure(python, { old: "if a:\n  b()\n  c()", new: "pass" })).toContain("The nearest lines are:\n1\tif a:");
});

test("nearly the same in two places is as ambiguous as exactly the same", () => {
  expect(failure("  x = 1\n    x = 1\n", { old: "x = 1 ", new: "y" })).toContain("2 times, in lines 1, 2");
});

test("a file keeps its line ends, mixed ones too", () => {
  expect(replaceIn("one\r\ntwo\r\nthree\r\n", { old: "one\ntwo", new: "1\n2" }).text).toBe("1\r\n2\r\nthree\r\n");
  expect(replaceIn("one\r\ntwo\nthree\r\n", { old: "two", new: "2\n2" }).text).toBe("one\r\n2\r\n2\nthree\r\n");
});

test("the last line may have no end", () => {
  expect(replaceIn("  a\n  last", { old: "a \nlast", new: "b\nc" }).text).toBe("  b\n  c");
  expect(replaceIn("a  \nb\n", { old: "a\n", new: "" }).text).toBe("b\n");
});

test("what is not there is told with the nearest lines, or with how the file begins", () => {
  expect(failure(code, { old: "function a(n) {\n  return x;\n}", new: "" })).toBe(
    "`old` is not in the file as quoted. The nearest lines are:\n" +
      "1\tfunction a() {\n2\t    if (x) {\n3\t        return 1;\n4\t    }\n5\t}\n6\t\n7\tfunction b() {",
  );
  expect(failure("a\nb\n", { old: "nothing of the kind", new: "" })).toContain("nor anything much like it");
});

test("an edit that says nothing is refused", () => {
  expect(failure("a", { old: "", new: "b" })).toContain("`old` is empty");
  expect(failure("a", { old: "a", new: "a" })).toContain("nothing would change");
});
