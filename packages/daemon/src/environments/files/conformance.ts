import { CorralError, newId } from "@corral/protocol";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { planOf } from "../plan.ts";
import type { EnvironmentDriver, EnvironmentPlan } from "../port.ts";
import { openFiles, type OpenFiles } from "./files.ts";
import type { Spawn } from "./hand.ts";
import { runProgram } from "./program.ts";

/** Somewhere to try files in. */
export interface FilesUnderTest {
  /** A fresh environment with an empty workspace. */
  open(): Promise<OpenForFiles>;
}

export interface OpenForFiles {
  readonly spawn: Spawn;
  /** A writable folder outside of the walls, by its path there; undefined: there are none. */
  readonly outside?: string;
  readonly close: () => Promise<void>;
}

/** What files promise in every environment, whatever tools it has. */
export function describeFiles(name: string, subject: FilesUnderTest): void {
  describe(`files in ${name}`, () => {
    const cleanUps: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
    });

    async function open(): Promise<Opened> {
      const { spawn, outside, close } = await subject.open();
      const files = openFiles({ spawn });
      cleanUps.push(close, () => files.close());
      return { files, spawn, outside, run: (text) => runInside(spawn, text) };
    }

    describe("read", () => {
      test("gives all bytes of a file, whatever they are, and its version", async () => {
        const { files } = await open();
        const content = randomBytes(300_000);
        const version = await files.write("data", content);
        expect(await files.read("data")).toEqual({ bytes: content, size: 300_000, version });
      });

      test("gives a range, with the whole size and no version", async () => {
        const { files } = await open();
        await files.write("data", "0123456789");
        const part = (range: object) =>
          files.read("data", range).then(({ bytes, ...rest }) => ({ text: bytes.toString(), ...rest }));
        expect(await part({ from: 3, bytes: 4 })).toEqual({ text: "3456", size: 10, version: undefined });
        expect(await part({ from: 8, bytes: 100 })).toEqual({ text: "89", size: 10, version: undefined });
        expect(await part({ from: 50, bytes: 5 })).toEqual({ text: "", size: 10, version: undefined });
        expect(await part({ bytes: 0 })).toEqual({ text: "", size: 10, version: undefined });
      });

      test("cuts a huge file at the limit and tells its size", async () => {
        const { files, run } = await open();
        await run("truncate -s 8G huge");
        const { bytes, size, version } = await files.read("huge", { bytes: 1000 });
        expect([bytes.length, size, version]).toEqual([1000, 8 * 2 ** 30, undefined]);
        expect((await files.read("huge", { from: 8 * 2 ** 30 - 5, bytes: 100 })).bytes).toEqual(Buffer.alloc(5));
      });

      test("gives an empty file and what the kernel makes up", async () => {
        const { files, run } = await open();
        await run(": >empty");
        expect((await files.read("empty")).size).toBe(0);
        expect((await files.read("/proc/self/status")).bytes.toString()).toContain("Pid:");
      });

      test("answers many at once, each its own", async () => {
        const { files } = await open();
        const names = Array.from({ length: 20 }, (_, index) => `file-${index}`);
        await Promise.all(names.map((each) => files.write(each, each.repeat(1000))));
        const read = await Promise.all(names.map((each) => files.read(each)));
        expect(read.map(({ bytes }) => bytes.toString())).toEqual(names.map((each) => each.repeat(1000)));
      });

      const oddNames = [
        "-n",
        "--help",
        "new\nline",
        "quo'te\"s",
        "$(touch owned)",
        "`id`",
        " ",
        "a=b",
        "*",
        "\\",
        "ünïcode",
        "x: Permission denied",
      ];
      test.each(oddNames)("takes the name %j for a name", async (odd) => {
        const { files } = await open();
        await files.write(odd, "old");
        await files.edit(odd, (text) => `${text} and new`);
        expect((await files.read(odd)).bytes.toString()).toBe("old and new");
        expect(await files.list(".")).toEqual({ items: [{ name: odd, kind: "file", size: 11 }], complete: true });
        expect(await files.glob("**")).toEqual({ items: [odd], complete: true });
        expect(await files.search({ pattern: "and" })).toEqual({
          items: [{ path: odd, line: 1, text: "old and new" }],
          complete: true,
        });
        expect(await codeOf(files.read(`${odd}/below`))).toBe("file.missing");
      });

      const unsuitable: [string, string, string][] = [
        ["a folder", "mkdir it", "it"],
        ["a FIFO", "mkfifo it", "it"],
        ["a link to a FIFO", "mkfifo fifo; ln -s fifo it", "it"],
        ["a device", "true", "/dev/zero"],
        ["links in a circle", "ln -s it two; ln -s two it", "it"],
      ];
      test.each(unsuitable)("refuses %s, without waiting", async (_, command, path) => {
        const { files, run } = await open();
        await run(command);
        expect(await codeOf(files.read(path))).toBe("file.unsuitable");
        expect(await codeOf(files.write(path, "text"))).toBe("file.unsuitable");
      });

      test("tells of memory that nobody may read", async () => {
        const { files } = await open();
        expect(await codeOf(files.read("/proc/self/mem"))).toBe("file.failed");
      });

      test("tells what is missing, and no name at all", async () => {
        const { files } = await open();
        expect(await codeOf(files.read("missing"))).toBe("file.missing");
        expect(await codeOf(files.read("missing/below"))).toBe("file.missing");
        expect(await codeOf(files.read("with\0nul"))).toBe("file.unsuitable");
        expect(await codeOf(files.read(""))).toBe("file.unsuitable");
      });

      test("is given up when its signal says so", async () => {
        const { files } = await open();
        await files.write("file", "text");
        const stop = new AbortController();
        const reading = files.read("file", { signal: stop.signal });
        stop.abort(new Error("enough"));
        await expect(reading).rejects.toThrow("enough");
        expect((await files.read("file")).bytes.toString()).toBe("text");
      });

      test("goes on after the processes that did it were ended", async () => {
        const { files, run } = await open();
        await files.write("file", "text");
        for (let time = 0; time < 3; time += 1) {
          const reads = Promise.all([files.read("file"), files.read("file")]);
          await run(endHands);
          expect((await reads).map(({ bytes }) => bytes.toString())).toEqual(["text", "text"]);
        }
      });
    });

    describe("stat", () => {
      test("follows links and tells kind, size, mode and time", async () => {
        const { files, run } = await open();
        await run(
          "mkdir folder; printf 12345 >file; chmod 640 file; touch -d '2024-05-06 07:08:09' file; ln -s file link; mkfifo fifo",
        );
        const file = { kind: "file", size: 5, mode: 0o640, modifiedMs: Date.UTC(2024, 4, 6, 7, 8, 9) };
        expect(await files.stat("file")).toEqual(file);
        expect(await files.stat("link")).toEqual(file);
        expect((await files.stat("folder"))?.kind).toBe("folder");
        expect((await files.stat("fifo"))?.kind).toBe("other");
        expect(await files.stat("missing")).toBeUndefined();
        expect(await files.stat("file/below")).toBeUndefined();
      });
    });

    describe("write", () => {
      test("makes a file and the folders above, and leaves nothing else", async () => {
        const { files } = await open();
        await files.write("one/two/file", "text");
        expect((await files.read("one/two/file")).bytes.toString()).toBe("text");
        expect(await files.list("one/two")).toEqual({
          items: [{ name: "file", kind: "file", size: 4 }],
          complete: true,
        });
      });

      test("keeps the mode, and replaces the file behind a link", async () => {
        const { files, run } = await open();
        await run(
          "mkdir real; echo old >real/file; chmod 751 real/file; ln -s real folder; ln -s folder/file link; ln -s link second",
        );
        await files.write("second", "new");
        expect((await files.read("real/file")).bytes.toString()).toBe("new");
        expect(await files.list(".")).toEqual({
          items: [
            { name: "folder", kind: "link", size: 4 },
            { name: "link", kind: "link", size: 11 },
            { name: "real", kind: "folder", size: expect.any(Number) },
            { name: "second", kind: "link", size: 4 },
          ],
          complete: true,
        });
        expect((await files.stat("real/file"))?.mode).toBe(0o751);
      });

      test("makes the file that a dangling link points to", async () => {
        const { files, run } = await open();
        await run("ln -s there link");
        await files.write("link", "text");
        expect((await files.read("there")).bytes.toString()).toBe("text");
      });

      test("happens only on the version that was expected", async () => {
        const { files, run } = await open();
        const first = await files.write("file", "one", { expected: null });
        expect(await codeOf(files.write("file", "two", { expected: null }))).toBe("file.exists");
        const second = await files.write("file", "two", { expected: first });
        expect(await codeOf(files.write("file", "three", { expected: first }))).toBe("file.changed");
        await run("printf six >file");
        expect(await codeOf(files.write("file", "three", { expected: second }))).toBe("file.changed");
        expect(await codeOf(files.write("missing", "three", { expected: second }))).toBe("file.changed");
        expect((await files.read("file")).bytes.toString()).toBe("six");
        expect((await files.list(".")).items.map((entry) => entry.name)).toEqual(["file"]);
      });

      test("away, or elsewhere, a file goes only as the version that was expected, and over nothing", async () => {
        const { files, run } = await open();
        const version = await files.write("tool", "one");
        await run("chmod 755 tool; ln -s tool link; mkdir folder; printf two >other");
        expect(await codeOf(files.move("tool", "other"))).toBe("file.exists");
        expect(await codeOf(files.move("tool", "link"))).toBe("file.exists");
        expect(await codeOf(files.move("missing", "there"))).toBe("file.missing");
        await files.move("tool", "deep/er/tool", { expected: version });
        expect(await files.stat("deep/er/tool")).toMatchObject({ kind: "file", mode: 0o755 });
        expect(await codeOf(files.remove("deep/er/tool", { expected: "0".repeat(64) }))).toBe("file.changed");
        await files.remove("deep/er/tool", { expected: version });
        expect(await codeOf(files.remove("deep/er/tool"))).toBe("file.missing");
        expect(await codeOf(files.remove("folder"))).toBe("file.unsuitable");
        await run("ln -sf other link");
        expect(await codeOf(files.remove("link"))).toBe("file.unsuitable");
        expect((await files.list(".")).items.map(({ name }) => name)).toEqual(["deep", "folder", "link", "other"]);
      });

      test("never shows half of a file to who reads meanwhile", async () => {
        const { files } = await open();
        const [a, b] = ["a".repeat(200_000), "b".repeat(200_000)];
        await files.write("file", a);
        const seen = new Set<string>();
        const writing = (async () => {
          for (let time = 0; time < 10; time += 1) await files.write("file", time % 2 === 0 ? b : a);
        })();
        for (let time = 0; time < 20; time += 1) seen.add((await files.read("file")).bytes.toString());
        await writing;
        expect([...seen].filter((text) => text !== a && text !== b)).toEqual([]);
      });

      test("is refused where the system's own files are", async () => {
        const { files } = await open();
        expect(await codeOf(files.write("/proc/version", "text"))).toMatch(/^file\.(refused|missing)$/);
        expect(await codeOf(files.write("/proc/new", "text"))).toMatch(/^file\.(refused|missing)$/);
      });
    });

    describe("edit", () => {
      test("changes text, or leaves it", async () => {
        const { files } = await open();
        await files.write("file", "\uFEFFone two");
        const version = await files.edit("file", (text) => text.replace("two", "2"));
        expect(await files.read("file")).toEqual({ bytes: Buffer.from("\uFEFFone 2"), size: 8, version });
        expect(await files.edit("file", () => undefined)).toBeUndefined();
        expect(await codeOf(files.edit("missing", () => ""))).toBe("file.missing");
      });

      test("leaves what is no text alone", async () => {
        const { files } = await open();
        await files.write("file", Buffer.from([0xff, 0xfe, 0x80]));
        expect(await codeOf(files.edit("file", () => "text"))).toBe("file.unsuitable");
        expect((await files.read("file")).bytes).toEqual(Buffer.from([0xff, 0xfe, 0x80]));
      });

      test("by several at once loses none of them", async () => {
        const { files } = await open();
        await files.write("file", "");
        const letters = ["a", "b", "c", "d", "e", "f", "g", "h"];
        await Promise.all(letters.map((letter) => files.edit("file", (text) => text + letter)));
        expect((await files.read("file")).bytes.toString().split("").toSorted()).toEqual(letters);
      });

      test("begins again when somebody else was faster", async () => {
        const { files } = await open();
        await files.write("file", "old");
        let calls = 0;
        let other: Promise<unknown> = Promise.resolve();
        await files.edit("file", (text) => {
          calls += 1;
          if (calls === 1) other = files.write("file", "other");
          return `${text} edited`;
        });
        await other;
        expect([calls, (await files.read("file")).bytes.toString()]).toEqual([2, "other edited"]);
      });

      test("against somebody who never stops ends, and says so or has won", async () => {
        const { files, spawn } = await open();
        await files.write("file", "0");
        const stop = new AbortController();
        const never = "i=0; while :; do i=$((i + 1)); echo $i >.next; mv .next file; done";
        const meddler = await spawn({ argv: ["sh", "-c", never], signal: stop.signal });
        const outcome = await files
          .edit("file", (text) => `${text}mine`)
          .then(
            () => "won",
            (error: unknown) => (error as CorralError).code,
          );
        meddler.kill();
        stop.abort();
        await meddler.ended.catch(() => undefined);
        expect(["won", "file.changed"]).toContain(outcome);
        expect((await files.list(".")).items.filter(({ name: each }) => each.startsWith(".corral"))).toEqual([]);
      });
    });

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

    /** A small tree with everything that finding minds. */
    const tree = `
      mkdir -p src/lib .github .git/objects node_modules/x build keep/build
      for f in src/a.ts src/lib/b.ts src/lib.ts src/c.js .github/d.yml node_modules/x/e.js build/f.js keep/build/g.js .git/objects/h notes.txt; do
        printf 'first line\\nthe Needle 42 in %s\\n' $f >$f
      done
      printf 'node_modules/\\n/build\\n*.txt\\n!notes.txt\\n' >.gitignore
      printf '*.js\\n' >src/.gitignore
      ln -s src/a.ts link.ts; printf 'Needle\\000binary' >bin.dat`;

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

      test("is bounded, and knows what is missing", async () => {
        const { files, run } = await open();
        await run(tree);
        expect(await files.glob("*.ts", { limit: 2 })).toEqual({
          items: ["src/a.ts", "src/lib/b.ts"],
          complete: false,
        });
        expect(await codeOf(files.glob("*", { in: "missing" }))).toBe("file.missing");
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
        const { files, run } = await open();
        await run("yes aaaa | head -c 100000000 >huge");
        const { complete } = await files.search({ pattern: "a[^b]*b", timeoutMs: 1 });
        expect(complete).toBe(false);
      });
    });

    describe("watch", () => {
      test("tells of files that change, come and go", async () => {
        const { files, run } = await open();
        await run("mkdir -p deep/er; echo 1 >file; echo 1 >deep/er/one; echo 1 >other");
        const flat = await watching(files, ["file", "late"]);
        const deep = await watching(files, ["deep"], { deep: true });
        await run("echo 22 >file; echo 2 >other; echo 2 >deep/er/two; rm deep/er/one");
        expect(await flat.told("file")).toEqual(["file"]);
        expect(await deep.told("deep/er/one", "deep/er/two")).toEqual(["deep/er/one", "deep/er/two"]);
        await run("echo >late");
        expect(await flat.told("late")).toEqual(["file", "late"]);
        flat.stop();
        deep.stop();
      });
    });

    test("a write whose process is ended has happened or not, and says which", async () => {
      const { files, run } = await open();
      await files.write("file", "old");
      for (let time = 0; time < 4; time += 1) {
        const content = `${time}`.repeat(3_000_000);
        const writing = files.write("file", content).then(
          () => "written",
          (error: unknown) => (error as CorralError).code,
        );
        await run(endHands);
        const outcome = await writing;
        const now = (await files.read("file")).bytes.toString();
        expect(["written", "file.failed"]).toContain(outcome);
        expect(now === content).toBe(outcome === "written");
      }
      expect((await files.list(".")).items.map((entry) => entry.name)).toEqual(["file"]);
    });

    describe("somebody who swaps folders and links", () => {
      test("never gets a read or a write to the other side of the walls", async ({ skip }) => {
        const { files, spawn, outside } = await open();
        if (outside === undefined) return skip("there are no walls");
        expect(await race({ files, spawn, outside, rounds: 150 })).toEqual({ read: false, written: false });
      });

      test("gets every request an answer", async () => {
        const { files, spawn } = await open();
        const meddler = await spawn({ argv: ["sh", "-c", swapping("safe")] });
        for (let time = 0; time < 30; time += 1) {
          const outcomes = await Promise.allSettled([
            files.read("way/file"),
            files.write("way/file", "new"),
            files.list("way"),
            files.stat("way/file"),
          ]);
          const odd = outcomes.flatMap((each) =>
            each.status === "rejected" && !(each.reason instanceof CorralError) ? [each.reason as unknown] : [],
          );
          expect(odd).toEqual([]);
        }
        meddler.kill();
        await meddler.ended.catch(() => undefined);
      });
    });
  });
}

/** Ends the processes of perl that are in the workspace, and no others. */
const endHands = String.raw`
for process in /proc/[0-9]*; do
  [ "$(readlink $process/cwd 2>/dev/null)" = "$PWD" ] || continue
  case $(tr '\0' ' ' <$process/cmdline) in perl*) kill -9 \${process#/proc/} ;; esac
done
true`.replaceAll("\\$", "$");

/** Reads and writes by a way that is a folder now and a link to the outside then, until both got there or the rounds are over. */
export async function race({ files, spawn, outside, rounds }: Race): Promise<{ read: boolean; written: boolean }> {
  const meddler = await spawn({ argv: ["sh", "-c", swapping(outside)] });
  let [read, written] = [false, false];
  for (let round = 0; round < rounds && !(read && written); round += 1) {
    const [got] = await Promise.all([
      files.read("way/secret").catch(() => undefined),
      files.write("way/file", "planted").catch(() => undefined),
    ]);
    read ||= got !== undefined;
    written ||= existsSync(join(outside, "file"));
  }
  meddler.kill();
  await meddler.ended.catch(() => undefined);
  return { read, written: written || readdirSync(outside).length !== 1 };
}

interface Race {
  readonly files: OpenFiles;
  readonly spawn: Spawn;
  /** Holds the file `secret` and nothing else. */
  readonly outside: string;
  readonly rounds: number;
}

function swapping(target: string): string {
  return `mkdir -p safe; echo inside >safe/file
    while :; do ln -sfn ${target} way; rm -f way; mkdir way; echo inside >way/file; rm -rf way; done 2>/dev/null`;
}

/** A driver, as far as files need it. */
interface DriverWithFiles {
  open(home: string): EnvironmentDriver;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  readonly plan?: Partial<EnvironmentPlan>;
}

/** A fresh environment of a driver, with something outside that nobody inside may reach. */
export async function openForFiles(subject: DriverWithFiles): Promise<OpenForFiles> {
  const rooms = await openRooms(subject);
  return { ...rooms.open(), close: rooms.close };
}

/** Where opening takes long: the same for every test, in one environment, with a room of its own for each. */
export function sharedForFiles(subject: DriverWithFiles): FilesUnderTest & { readonly close: () => Promise<void> } {
  let rooms: Promise<Rooms> | undefined;
  return {
    open: async () => ({ ...(await (rooms ??= openRooms(subject))).open(), close: () => Promise.resolve() }),
    close: async () => (await rooms)?.close(),
  };
}

interface Rooms {
  readonly open: () => Omit<OpenForFiles, "close">;
  readonly close: () => Promise<void>;
}

async function openRooms(subject: DriverWithFiles): Promise<Rooms> {
  const home = mkdtempSync(join(tmpdir(), "corral-files-"));
  const [workspace, outside] = [join(home, "workspace"), join(home, "outside")];
  const makeOwn = (folder: string) => {
    mkdirSync(folder);
    if (subject.owner !== undefined) chownSync(folder, subject.owner.uid, subject.owner.gid);
  };
  makeOwn(workspace);
  mkdirSync(outside);
  writeFileSync(join(outside, "secret"), "secret");
  // Only the walls are to be in the way.
  for (const [path, mode] of [
    [home, 0o755],
    [outside, 0o777],
    [join(outside, "secret"), 0o666],
  ] as const)
    chmodSync(path, mode);
  const plan = planOf({ id: newId("environment"), workspace, ...subject.plan });
  const environment = await subject.open(home).open(plan);
  let count = 0;
  return {
    open() {
      // An empty folder: walls may put mount points into the workspace itself.
      const room = `room-${count++}`;
      makeOwn(join(workspace, room));
      return {
        spawn: (program) => environment.spawn({ folder: room, ...program }),
        ...(environment.state.kind !== "local" ? { outside } : {}),
      };
    },
    close: async () => {
      await environment.end();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

interface Opened {
  readonly files: OpenFiles;
  readonly spawn: Spawn;
  readonly outside: string | undefined;
  readonly run: (text: string) => Promise<void>;
}

async function runInside(spawn: Spawn, text: string): Promise<void> {
  const end = await runProgram(spawn, { argv: ["sh", "-c", text], onOutput: () => true, timeoutMs: 60_000 });
  if (end.exitCode !== 0) throw new Error(`exit code ${end.exitCode}: ${end.stderr}`);
}

function codeOf(failing: Promise<unknown>): Promise<string> {
  return failing.then(
    () => "it did not fail",
    (error: unknown) => (error instanceof CorralError ? error.code : String(error)),
  );
}

async function watching(files: OpenFiles, paths: readonly string[], options: { deep?: boolean } = {}) {
  const stop = new AbortController();
  const seen = new Set<string>();
  let onSeen = (): void => undefined;
  await new Promise<void>((resolve, reject) => {
    files.watch(paths, {
      ...options,
      signal: stop.signal,
      onReady: resolve,
      onEnd: reject,
      onChange: (changed) => {
        for (const path of changed) seen.add(path);
        onSeen();
      },
    });
  });
  return {
    stop: () => stop.abort(),
    /** All that was told so far, once these were. */
    told: (...wanted: string[]) =>
      new Promise<string[]>((resolve) => {
        onSeen = () => {
          if (wanted.every((path) => seen.has(path))) resolve([...seen].toSorted());
        };
        onSeen();
      }),
  };
}
