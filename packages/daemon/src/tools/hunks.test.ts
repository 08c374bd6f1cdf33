import { expect, test } from "vitest";
import { applyHunks } from "./hunks.ts";
import { readPatch } from "./patch-text.ts";

const text = "one\ntwo\nthree\nfour\nfive\ntwo\nthree\n";

function updated(patch: string, of = text): string {
  const [step] = readPatch(`*** Begin Patch\n*** Update File: f\n${patch}\n*** End Patch`);
  return step?.kind === "update" ? applyHunks("f", of, step.hunks) : "no update";
}

function failure(act: () => unknown): string {
  try {
    return `done: ${JSON.stringify(act())}`;
  } catch (error) {
    return (error as Error).message;
  }
}

test("a patch names files that come, change, move and go", () => {
  expect(
    readPatch(
      "*** Begin Patch\n*** Add File: a b.ts\n+one\n+\n+two\n*** Update File: c\n*** Move to: d\n@@ class X\n@@ go()\n kept\n-old\n+new\n" +
        "\n*** End of File\n*** Delete File: e\n*** End Patch\n",
    ),
  ).toEqual([
    { kind: "add", path: "a b.ts", content: "one\n\ntwo\n" },
    {
      kind: "update",
      path: "c",
      to: "d",
      hunks: [{ below: ["class X", "go()"], old: ["kept", "old", ""], new: ["kept", "new", ""], atEnd: true }],
    },
    { kind: "delete", path: "e" },
  ]);
});

test.each([
  ["", "The patch is empty"],
  ["*** Begin Patch\nhello\n*** End Patch", 'Line 2 of the patch: there is "hello"'],
  ["*** Update File: f", "it ends, where a hunk of f, begun by @@ should be"],
  ["*** Add File: f\nno plus", "which begins with +"],
  ["*** Update File: f\n@@\nno sign", "lines that begin with a space, - or +"],
  ["*** Delete File: f\n*** Update File: g\n*** Move to: f", "f is in the patch twice"],
])("%j is no patch, and why is told", (patch, why) => {
  expect(failure(() => readPatch(patch))).toContain(why);
});

test("hunks find their lines one below the other", () => {
  expect(updated("@@\n two\n-three\n+3\n@@\n two\n-three\n+third")).toBe("one\ntwo\n3\nfour\nfive\ntwo\nthird\n");
  expect(updated("@@ five\n two\n-three\n+3")).toBe("one\ntwo\nthree\nfour\nfive\ntwo\n3\n");
  expect(updated("@@\n two\n-three\n+3\n*** End of File")).toBe("one\ntwo\nthree\nfour\nfive\ntwo\n3\n");
  expect(updated("@@ -1,2 +1,2 @@\n-one\n+1")).toBe(text.replace("one", "1"));
});

test("lines that only come go behind the line named, or to the end", () => {
  expect(updated("@@ one\n+and a half")).toBe(text.replace("one\n", "one\nand a half\n"));
  expect(updated("@@\n+six")).toBe(`${text}six\n`);
  expect(updated("@@\n+six", "five")).toBe("five\nsix\n");
  expect(updated("@@\n+first", "")).toBe("first\n");
});

test("a file keeps its line ends, its missing last one and the white space of lines that stay", () => {
  expect(updated("@@\n one\n-two\n+2", "one\r\ntwo\r\n")).toBe("one\r\n2\r\n");
  expect(updated("@@\n-last\n+the end", "a\nlast")).toBe("a\nthe end");
  expect(updated("@@\n a {\n-  b\n+  c\n }", "  a {  \n    b\n  }\n")).toBe("  a {  \n    c\n  }\n");
});

test("a hunk that does not fit tells which one and shows what is there", () => {
  expect(failure(() => updated("@@\n-one\n+1\n@@\n four\n-fife\n+5"))).toBe(
    "Hunk 2 of f: these lines are not there below line 1. The nearest lines are:\n2\ttwo\n3\tthree\n4\tfour\n5\tfive\n6\ttwo\n7\tthree",
  );
  expect(failure(() => updated("@@ nine\n-one\n+1"))).toContain('there is no line "nine" to find it by');
});
