import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openFiles, type OpenFiles } from "../files.ts";
import type { Spawn } from "../hands/hand.ts";
import { codeOf, type OpenFixture } from "./fixture.ts";

export function finding(open: OpenFixture): void {
  describe("list", () => {
    test("tells names, kinds and sizes, by name", async () => {
      const { files, run } = await open();
      await run(`mkdir b; printf 123 >a; ln -s a c; mkfifo d; printf x >'e
81a4 7 forged'; : >.hidden`);
      const { items, complete } = await files.list(".");
      expect(complete).toBe(true);
      expect(items.map(({ name: each, kind }) => [each, kind])).toEqual([
        [".hidden", "file"],
        ["a", "file"],
        ["b", "folder"],
        ["c", "link"],
        ["d", "other"],
        ["e\n81a4 7 forged", "file"],
      ]);
      expect(items.find(({ name: each }) => each === "a")?.size).toBe(3);
    });

    test("shows what is no UTF-8 in a name", async () => {
      const { files, run } = await open();
      await run(": >\"$(printf 'a\\377b')\"");
      expect((await files.list(".")).items.map((entry) => entry.name)).toEqual(["a\uFFFDb"]);
    });

    test("is bounded, and says so", async () => {
      const { files, run } = await open();
      await run("mkdir many; cd many; seq -w 03000 | xargs touch");
      const { items, complete } = await files.list("many", { limit: 3 });
      expect([items.map((entry) => entry.name), complete]).toEqual([["00001", "00002", "00003"], false]);
    });

    test("tells what is no folder", async () => {
      const { files } = await open();
      await files.write("file", "");
      expect(await codeOf(files.list("file"))).toBe("file.unsuitable");
      expect(await codeOf(files.list("missing"))).toBe("file.missing");
    });
  });

  describe("glob", () => {
    test("finds by path, without what is ignored", async () => {
      const { files, run } = await open();
      await run(tree);
      const found = (pattern: string, start?: string) =>
        files.glob(pattern, start === undefined ? {} : { in: start }).then(({ items }) => items);
      expect(await found("**")).toEqual([
        ".github/d.yml",
        ".gitignore",
        "bin.dat",
        "keep/build/g.js",
        "notes.txt",
        "src/.gitignore",
        "src/a.ts",
        "src/lib/b.ts",
        "src/lib.ts",
      ]);
      expect(await found("*.ts")).toEqual(["src/a.ts", "src/lib/b.ts", "src/lib.ts"]);
      expect(await found("src/*.ts")).toEqual(["src/a.ts", "src/lib.ts"]);
      expect(await found("src/**/*.{ts,js}")).toEqual(["src/a.ts", "src/lib/b.ts", "src/lib.ts"]);
      expect(await found("[!a].ts", "src")).toEqual(["src/lib/b.ts"]);
      expect(await found("lib/?.ts", "./src/")).toEqual(["src/lib/b.ts"]);
      expect(await found("**", "node_modules")).toEqual(["node_modules/x/e.js"]);
    });

    test("finds what is named itself, behind a link and though it is ignored, too", async () => {
      const { files, run } = await open();
      await run(`${tree}; ln -s src/lib linked`);
      const found = async (start: string) => (await files.glob("**", { in: start })).items;
      expect(await found("linked")).toEqual(["linked/b.ts"]);
      expect(await found("link.ts")).toEqual(["link.ts"]);
      expect(await found("build/f.js")).toEqual(["build/f.js"]);
      expect(await found("src/c.js")).toEqual(["src/c.js"]);
      expect((await files.search({ pattern: "Needle", in: "linked" })).items).toEqual([
        { path: "linked/b.ts", line: 2, text: "the Needle 42 in src/lib/b.ts" },
      ]);
    });

    test("is bounded, and knows what is missing", async () => {
      const { files, run } = await open();
      await run(tree);
      expect(await files.glob("*.ts", { limit: 2 })).toEqual({
        items: ["src/a.ts", "src/lib/b.ts"],
        complete: false,
      });
      expect(await codeOf(files.glob("*", { in: "missing" }))).toBe("file.missing");
    });

    test("ends at its time limit with what it has", async () => {
      const { spawn, run } = await open();
      await run("touch here other");
      const { files, timeoutMs } = outOfTimeAfter("here", spawn);
      expect(await files.glob("he*", { timeoutMs })).toEqual({ items: ["here"], complete: false });
      await files.close();
    });
  });

  describe("search", () => {
    const needle = (path: string) => ({ path, line: 2, text: `the Needle 42 in ${path}` });
    const found = (...paths: string[]) => ({ items: paths.map(needle), complete: true });

    test("finds lines by path and number, without what is ignored and binary", async () => {
      const { files, run } = await open();
      await run(tree);
      const all = found(".github/d.yml", "keep/build/g.js", "notes.txt", "src/a.ts", "src/lib/b.ts", "src/lib.ts");
      expect(await files.search({ pattern: "Needle" })).toEqual(all);
      expect(await files.search({ pattern: "needle" })).toEqual(found());
      expect(await files.search({ pattern: "NEEDLE", ignoreCase: true })).toEqual(all);
      expect(await files.search({ pattern: String.raw`\bN\w+\s\d{2}\b`, glob: "*.ts" })).toEqual(
        found("src/a.ts", "src/lib/b.ts", "src/lib.ts"),
      );
      expect(await files.search({ pattern: String.raw`(?:Nee|x)dle.*?[\w/]+/[ab]\.ts$` })).toEqual(
        found("src/a.ts", "src/lib/b.ts"),
      );
      expect(await files.search({ pattern: "Needle", in: "src", glob: "lib/*" })).toEqual(found("src/lib/b.ts"));
      expect(await files.search({ pattern: "Needle", in: "src/a.ts" })).toEqual(found("src/a.ts"));
      expect(await files.search({ pattern: "Needle", limit: 1 })).toEqual({
        ...found(".github/d.yml"),
        complete: false,
      });
    });

    test("takes a fixed text as it is", async () => {
      const { files } = await open();
      await files.write("file", "a.b\naxb\n-e a.b\n");
      expect((await files.search({ pattern: "a.b", fixed: true })).items.map(({ line }) => line)).toEqual([1, 3]);
      expect((await files.search({ pattern: "-e", fixed: true })).items.map(({ line }) => line)).toEqual([3]);
      expect((await files.search({ pattern: "a(", fixed: true })).items).toEqual([]);
    });

    test("cuts long lines", async () => {
      const { files } = await open();
      await files.write("file", `${"x".repeat(3_000_000)}\nxyz\r\n`);
      expect(await files.search({ pattern: "x" })).toEqual({
        items: [
          { path: "file", line: 1, text: "x".repeat(500) },
          { path: "file", line: 2, text: "xyz" },
        ],
        complete: true,
      });
    });

    test("says what is wrong with a regular expression", async () => {
      const { files } = await open();
      await files.write("file", "text");
      expect(await codeOf(files.search({ pattern: "a(b" }))).toBe("request.invalid");
      expect(await codeOf(files.search({ pattern: "a[b" }))).toBe("request.invalid");
      expect(await codeOf(files.search({ pattern: "two\nlines" }))).toBe("request.invalid");
      expect(await codeOf(files.search({ pattern: "x", in: "missing" }))).toBe("file.missing");
    });

    test("ends at its time limit with what it has", async () => {
      const { spawn, run } = await open();
      await run("echo 'a Needle' >here; echo hay >stack");
      const { files, timeoutMs } = outOfTimeAfter("a Needle", spawn);
      expect(await files.search({ pattern: "Needle", timeoutMs })).toEqual({
        items: [{ path: "here", line: 1, text: "a Needle" }],
        complete: false,
      });
      await files.close();
    });
  });
}

/** Files that find the time to be up as soon as a program has written this, however fast or slow it is. */
function outOfTimeAfter(text: string, spawn: Spawn): { readonly files: OpenFiles; readonly timeoutMs: number } {
  const timeoutMs = 1e9;
  const limits: (() => void)[] = [];
  const begin = globalThis.setTimeout;
  const clock = vi.spyOn(globalThis, "setTimeout").mockImplementation((onEnd: () => void, ms?: number) => {
    if (ms !== undefined && ms > timeoutMs / 2) limits.push(onEnd);
    return begin(onEnd, ms);
  });
  onTestFinished(() => clock.mockRestore());
  const files = openFiles({
    async spawn(program) {
      const spawned = await spawn(program);
      spawned.stdout.on("data", (chunk: Buffer) => {
        // Whoever listens beside hears it first.
        if (chunk.includes(text)) process.nextTick(() => limits.splice(0).forEach((onEnd) => onEnd()));
      });
      return spawned;
    },
  });
  return { files, timeoutMs };
}

/** A small tree with everything that finding minds. */
const tree = `
  mkdir -p src/lib .github .git/objects node_modules/x build keep/build
  for f in src/a.ts src/lib/b.ts src/lib.ts src/c.js .github/d.yml node_modules/x/e.js build/f.js keep/build/g.js .git/objects/h notes.txt; do
    printf 'first line\\nthe Needle 42 in %s\\n' $f >$f
  done
  printf 'node_modules/\\n/build\\n*.txt\\n!notes.txt\\n' >.gitignore
  printf '*.js\\n' >src/.gitignore
  ln -s src/a.ts link.ts; printf 'Needle\\000binary' >bin.dat`;
