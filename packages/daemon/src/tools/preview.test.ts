import { expect, test } from "vitest";
import { builtInTools } from "./built-in.ts";
import { previewOf } from "./preview.ts";

const preview = (name: string, call: object) => builtInTools.find((tool) => tool.name === name)?.preview?.(call);

test("an edit is shown as what goes and what comes, a new file as what comes", () => {
  expect(preview("edit", { path: "a.ts", old: "one\ntwo\n", new: "three" })).toBe("@@ a.ts\n-one\n-two\n+three");
  expect(preview("write", { path: "b.ts", content: "x\n" })).toBe("@@ b.ts\n+x");
});

test("what is long is shown in part, and how much more there is", () => {
  expect(
    previewOf(
      Array.from({ length: 500 }, () => "+x"),
      ["a.ts"],
    ),
  ).toMatch(/^\+x\n(.*\n)+… 300 more characters$/);
});

test("of what others obey nothing is left out", () => {
  const content = `${"#\n".repeat(50_000)}evil\n`;
  expect(preview("write", { path: "a/.envrc", content })).toMatch(/^@@ a\/\.envrc\n\+#\n[^]*\n\+evil$/);
  expect(preview("edit", { path: ".vscode/tasks.json", old: "x", new: content })).toMatch(/\n\+evil$/);
  const patch = `*** Begin Patch\n*** Add File: a/.envrc\n${"+#\n".repeat(50_000)}+evil\n*** End Patch`;
  expect(preview("patch", { patch })).toContain("\n+evil\n");
});

test("a path stays on its line", () => {
  expect(preview("write", { path: "a\n+b/.envrc", content: "x\n" })).toBe("@@ a⏎+b/.envrc\n+x");
});
