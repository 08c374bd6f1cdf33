import { expect, test } from "vitest";
import { ignoredBy } from "./ignore.ts";

test("the deepest and last rule that fits decides, and what lies in an ignored folder is ignored", () => {
  const isIgnored = ignoredBy(
    new Map([
      ["", "# comment\n*.log\n!keep.log\n/top\nbuild/\ndocs/*.md\n\\#odd\ntrailing   \n{a,b}\n"],
      ["sub", "!*.log\n*.txt\r\n"],
    ]),
  );
  const paths = [
    ...[
      "a.log",
      "keep.log",
      "x/keep.log",
      "top",
      "x/top",
      "build/a",
      "x/build/b",
      "build2",
      "docs/a.md",
      "docs/x/a.md",
    ],
    ...["#odd", "trailing", "a", "{a,b}", "sub/a.log", "sub/a.txt", "a.txt", "build/keep.log"],
  ];
  expect(paths.filter((path) => isIgnored(path))).toEqual([
    ...[
      "a.log",
      "top",
      "build/a",
      "x/build/b",
      "docs/a.md",
      "#odd",
      "trailing",
      "{a,b}",
      "sub/a.txt",
      "build/keep.log",
    ],
  ]);
});

test("a folder that is asked about itself is not ignored, its rules still count", () => {
  const isIgnored = ignoredBy(new Map([["", "node_modules\n*.map\n"]]));
  expect([
    isIgnored("node_modules/a.js"),
    isIgnored("node_modules/a.js", "node_modules"),
    isIgnored("node_modules/a.map", "node_modules"),
  ]).toEqual([true, false, true]);
});
