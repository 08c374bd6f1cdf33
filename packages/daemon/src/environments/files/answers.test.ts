import { expect, test } from "vitest";
import { readEntries, readFacts, readTraces } from "./answers.ts";

test("the time of a file is the same in seconds and as a date", () => {
  const expected = { kind: "file", size: 12, mode: 0o644, modifiedMs: Date.UTC(2026, 10, 16, 0, 18, 9, 631) };
  expect(readFacts(`81a4 12 ${Date.UTC(2026, 10, 16, 0, 18, 9) / 1000}.631005`)).toEqual(expected);
  expect(readFacts("81a4 12 2026-11-16 00:18:09.631005491 +0000")).toEqual(expected);
});

test("a newline in a name neither ends it nor begins another file", () => {
  const answer = Buffer.from("81a4 1 ./b\n\n41ed 2 ./a\n81a4 3 forged\n");
  expect(readEntries(answer)).toEqual([
    { name: "a\n81a4 3 forged", kind: "folder", size: 2 },
    { name: "b\n", kind: "file", size: 1 },
  ]);
});

test("traces are read in both ways of writing time", () => {
  const answer = Buffer.from("81a4 1 7 12.5 ./a b\n41ed 2 8 2026-11-16 00:18:09.63 +0000 /c\n");
  expect(readTraces(answer)).toEqual([
    { path: "./a b", isFolder: false, mode: "81a4", inode: "7", content: "1 12.5" },
    { path: "/c", isFolder: true, mode: "41ed", inode: "8", content: "2 2026-11-16 00:18:09.63 +0000" },
  ]);
});
