import { expect, test } from "vitest";
import { builtInTools } from "./built-in.ts";
import { previewOf } from "./preview.ts";

const preview = (name: string, call: object) => builtInTools.find((tool) => tool.name === name)?.preview?.(call);

test("an edit is shown as what goes and what comes, a new file as what comes", () => {
  expect(preview("edit", { path: "a.ts", old: "one\ntwo\n", new: "three" })).toBe("@@ a.ts\n-one\n-two\n+three");
  expect(preview("write", { path: "b.ts", content: "x\n" })).toBe("@@ b.ts\n+x");
});

test("what is long is shown in part, and how much more there is", () => {
  expect(previewOf(Array.from({ length: 500 }, () => "+x"))).toMatch(/^\+x\n(.*\n)+… 300 more characters$/);
});
