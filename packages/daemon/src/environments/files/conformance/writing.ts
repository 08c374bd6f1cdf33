import type { CorralError } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { codeOf, endHands, type OpenFixture } from "./fixture.ts";

export function writing(open: OpenFixture): void {
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

    test("has no place below a file", async () => {
      const { files } = await open();
      await files.write("file", "text");
      await files.write("other", "text");
      expect(await codeOf(files.write("file/below", "text"))).toBe("file.missing");
      expect(await codeOf(files.write("file/further/below", "text"))).toBe("file.missing");
      expect(await codeOf(files.move("other", "file/below"))).toBe("file.missing");
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
      const made: string[] = [];
      const edit = (path: string, letter: string) => files.edit(path, (text) => (made.push(letter), text + letter));
      await Promise.all(letters.map((letter, index) => edit(index % 2 === 0 ? "file" : "./file", letter)));
      expect((await files.read("file")).bytes.toString().split("").toSorted()).toEqual(letters);
      // One after the other, whatever the file is called: none had to begin again.
      expect(made.toSorted()).toEqual(letters);
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
}
