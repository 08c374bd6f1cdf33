import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { tinyPng } from "../testing/image.ts";
import { editTool } from "./edit.ts";
import { listTool } from "./list.ts";
import { patchTool } from "./patch.ts";
import { readTool } from "./read.ts";
import { searchTool } from "./search.ts";
import { kinds, openBench, type ToolBench } from "./testing/bench.ts";
import { writeTool } from "./write.ts";

describe.each(kinds)("in a %s environment", (kind) => {
  let bench: ToolBench;
  let folder = 0;
  /** Each test has a folder of its own. */
  let at: (name: string) => string;
  beforeEach(async () => {
    bench ??= await openBench(kind);
    const mine = `t${folder++}`;
    await bench.run(`mkdir -p ${mine}`);
    at = (name) => `${mine}/${name}`;
  });
  afterAll(() => bench?.end());

  test("read shows lines with their numbers, in parts where there are many", async () => {
    await bench.run(`seq 1 5000 >${at("many")}; printf 'a\\nb' >${at("few")}; : >${at("none")}`);
    expect(await bench.call(readTool, { path: at("few") })).toBe("1\ta\n2\tb");
    expect(await bench.call(readTool, { path: at("none") })).toBe("(the file is empty)");
    const first = await bench.call(readTool, { path: at("many") });
    expect(first.split("\n")).toHaveLength(2001);
    expect(first).toContain("(lines 1 to 2000 of 5000; go on with from: 2001)");
    expect(await bench.call(readTool, { path: at("many"), from: 4999 })).toBe(
      "4999\t4999\n5000\t5000\n(lines 4999 to 5000 of 5000)",
    );
    expect(await bench.call(readTool, { path: at("few"), from: 3 })).toContain("has only 2 lines");
  });

  test("read cuts long lines and shows no more than there is room for", async () => {
    await bench.run(
      `head -c 5000 /dev/zero | tr '\\0' x >${at("long")}; yes "$(cat ${at("long")})" | head -n 100 >${at("wide")}`,
    );
    expect(await bench.call(readTool, { path: at("long") })).toBe(`1\t${"x".repeat(2000)}… (3000 more characters)`);
    const wide = await bench.call(readTool, { path: at("wide") });
    expect(wide.length).toBeLessThan(70_000);
    expect(wide).toMatch(/\(lines 1 to \d+ of 100; go on with from: \d+\)$/);
  });

  test("read says what cannot be shown, and what is meant instead", async () => {
    await bench.run(
      `mkdir ${at("folder")}; printf 'a\\0b' >${at("data")}; printf 'caf\\351\\n' >${at("latin")}; : >${at("folder/unique-name")}`,
    );
    expect(await bench.call(readTool, { path: at("data") })).toContain("is binary (3 bytes)");
    expect(await bench.call(readTool, { path: at("folder") })).toContain("is a folder: list it");
    expect(await bench.call(readTool, { path: at("latin") })).toContain("it is not UTF-8");
    expect(await bench.call(readTool, { path: at("unique-name") })).toBe(
      `file.missing: There is no file ${at("unique-name")}. Files of that name: ${at("folder/unique-name")}.`,
    );
  });

  test("read shows images, unless they are too large or broken", async () => {
    await bench.environment.files.write(at("small.png"), tinyPng);
    await bench.environment.files.write(at("large.png"), Buffer.concat([tinyPng, Buffer.alloc(3_750_000)]));
    await bench.environment.files.write(at("cut.png"), tinyPng.subarray(0, 40));
    const begun = await bench.begin(readTool, { path: at("small.png") });
    expect(readTool.describe(await begun.run())).toEqual({
      outcome: "ok",
      text: `${at("small.png")}, image/png:`,
      images: [{ artifact: "art_image", name: at("small.png"), mediaType: "image/png" }],
    });
    expect(bench.kept.get("art_image")).toBe(tinyPng.toString("base64"));
    expect(await bench.call(readTool, { path: at("large.png") })).toContain("Make a smaller one");
    expect(await bench.call(readTool, { path: at("cut.png") })).toBe(
      `call.refused: ${at("cut.png")} is a PNG that is cut off.`,
    );
  });

  test("write makes files, and replaces only what was read and is still the same", async () => {
    const path = at("deep/er/new.ts");
    expect(await bench.call(writeTool, { path, content: "one\n" })).toBe(`Made ${path} (4 bytes).`);
    expect(await bench.call(writeTool, { path, content: "two\n" })).toBe(`Replaced ${path} (4 bytes).`);
    await bench.run(`echo three >${path}; echo theirs >${at("theirs")}`);
    expect(await bench.call(writeTool, { path, content: "four\n" })).toBe(
      `file.changed: ${path} has changed since you read it. Read it again, then decide.`,
    );
    expect(await bench.call(writeTool, { path: at("theirs"), content: "mine" })).toContain("you have not read it");
    await bench.call(readTool, { path });
    await bench.call(writeTool, { path: `./${path}`, content: "four\n" });
    expect([await bench.content(path), await bench.content(at("theirs"))]).toEqual(["four\n", "theirs\n"]);
  });

  test("edit changes a piece and keeps the rest, the mode too", async () => {
    const path = at("tool.sh");
    await bench.run(`printf 'echo one\\n  echo two\\n' >${path}; chmod 755 ${path}`);
    expect(await bench.call(editTool, { path, old: "one", new: "1" })).toBe(`Changed ${path} at line 1.`);
    expect(await bench.call(editTool, { path, old: "echo two \n", new: "echo 2\n" })).toBe(
      `Changed ${path} at line 2. It was there with other white space; this is there now:\n2\t  echo 2`,
    );
    expect(await bench.content(path)).toBe("echo 1\n  echo 2\n");
    expect((await bench.environment.files.stat(path))?.mode).toBe(0o755);
  });

  test("edit of a file that changed since needs the exact words", async () => {
    const path = at("file");
    await bench.call(writeTool, { path, content: "one\n  two\n" });
    await bench.run(`echo three >>${path}`);
    expect(await bench.call(editTool, { path, old: "two ", new: "2" })).toContain("has changed since you read it");
    expect(await bench.call(editTool, { path, old: "two", new: "2" })).toBe(`Changed ${path} at line 2.`);
    expect(await bench.call(editTool, { path: at("missing"), old: "a", new: "b" })).toContain("There is no file");
  });

  test("patch changes several files, or none when one does not fit", async () => {
    await bench.run(
      `printf 'a\\nb\\n' >${at("old")}; printf '#!/bin/sh\\nc\\n' >${at("moves")}; chmod 755 ${at("moves")}; : >${at("gone")}`,
    );
    const patch = (line: string) =>
      [
        ...["*** Begin Patch", `*** Add File: ${at("sub/new")}`, "+new", `*** Update File: ${at("moves")}`],
        ...[`*** Move to: ${at("moved")}`, "@@", "-c", "+d", `*** Delete File: ${at("gone")}`],
        ...[`*** Update File: ${at("old")}`, "@@", ` ${line}`, "-b", "+B", "*** End Patch"],
      ].join("\n");
    expect(await bench.call(patchTool, { patch: patch("z") })).toContain(
      `The hunk of ${at("old")}: these lines are not there`,
    );
    expect(await bench.run(`ls ${at("")}`)).toBe("gone\nmoves\nold\n");
    expect(await bench.call(patchTool, { patch: patch("a") })).toBe(
      [
        `Made ${at("sub/new")}`,
        `Moved ${at("moves")} to ${at("moved")}`,
        `Deleted ${at("gone")}`,
        `Changed ${at("old")}`,
      ].join("\n"),
    );
    expect(await bench.run(`cd ${at("")} && ls && cat old moved sub/new && ./moved`)).toMatch(
      /^moved\nold\nsub\na\nB\n#!\/bin\/sh\nd\nnew\n.*d: not found/,
    );
    expect(await bench.call(patchTool, { patch: `*** Add File: ${at("old")}\n+x` })).toContain("is there already");
  });

  test("what a call had begun when everything died can be gone on with, unless somebody else was there", async () => {
    await bench.run(`cd ${at("")} && echo one >one && echo two >two && echo go >gone`);
    const patch = `*** Update File: ${at("one")}\n@@\n-one\n+1\n*** Update File: ${at("two")}\n*** Move to: ${at("three")}\n@@\n-two\n+3\n*** Delete File: ${at("gone")}`;
    const before = await bench.begin(patchTool, { patch });
    expect(await before.recover()).toEqual({ kind: "join" });
    // Some of it was done: the first file, and the move without the change.
    await bench.run(`cd ${at("")} && echo 1 >one && mv two three`);
    expect(await before.recover()).toEqual({ kind: "join" });
    const { files, versions } = await before.run();
    expect(files.map(({ did }) => did)).toEqual(["update", "move", "delete"]);
    expect(Object.keys(versions)).toEqual([at("one"), at("three")]);
    expect(await bench.run(`cd ${at("")} && ls && cat one three`)).toBe("one\nthree\n1\n3\n");
    expect(await (await bench.begin(writeTool, { path: at("one"), content: "1\n" })).recover()).toEqual({
      kind: "join",
    });
    expect(await before.run()).toEqual({ files, versions });
    await bench.run(`echo else >${at("three")}`);
    expect(await before.recover()).toEqual({
      kind: "unknown",
      reason: `${at("three")} is neither what it was nor what it was to be.`,
    });
  });

  test("a file that is changed between intent and deed is left alone", async () => {
    await bench.run(`echo one >${at("file")}`);
    const begun = await bench.begin(editTool, { path: at("file"), old: "one", new: "1" });
    await bench.run(`echo one more >${at("file")}`);
    await expect(begun.run()).rejects.toMatchObject({ code: "file.changed" });
    expect(await bench.content(at("file"))).toBe("one more\n");
  });

  test("list shows a folder, or finds files", async () => {
    await bench.run(
      `cd ${at("")} && mkdir -p src/deep && echo 12 >src/a.ts && echo >src/deep/b.ts && ln -s a.ts src/link`,
    );
    expect(await bench.call(listTool, { path: at("src") })).toBe("a.ts  3\ndeep/\nlink  (link)");
    expect(await bench.call(listTool, { path: at(""), pattern: "**/*.ts" })).toBe(
      `${at("src/a.ts")}\n${at("src/deep/b.ts")}`,
    );
    expect(await bench.call(listTool, { path: at(""), pattern: "*.none" })).toBe("(nothing)");
    expect(await bench.call(listTool, { path: at("nowhere") })).toContain("file.missing");
  });

  test("search finds lines, and keeps the whole of what is too long", async () => {
    await bench.run(`cd ${at("")} && echo 'const a = 1' >a.ts && echo 'const b = 2' >b.js`);
    expect(await bench.call(searchTool, { pattern: "const [ab]", in: at(""), glob: "*.ts" })).toBe(
      `${at("a.ts")}:1: const a = 1`,
    );
    expect(await bench.call(searchTool, { pattern: "CONST b =", fixed: true, ignoreCase: true, in: at("") })).toBe(
      `${at("b.js")}:1: const b = 2`,
    );
    expect(await bench.call(searchTool, { pattern: "nowhere to be found", in: at("") })).toBe("(no match)");
    expect(await bench.call(searchTool, { pattern: "(", in: at("") })).toContain("request.invalid");
    await bench.run(`seq -f 'line %g of a text that is long enough' 1 3000 >${at("long")}`);
    const text = await bench.call(searchTool, { pattern: "line", in: at("") });
    expect(text.length).toBeLessThan(34_000);
    expect(text).toMatch(/\n\(… \d+ lines left out …\)\n/);
    expect(text).toMatch(/\(3000 lines in 1 files\)\n\(all of it is kept for people as the artifact art_\d+\)$/);
    expect([...bench.kept.values()].at(-1)?.split("\n")).toHaveLength(3000);
  });
});
