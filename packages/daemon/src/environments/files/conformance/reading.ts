import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { codeOf, endHands, type OpenFixture } from "./fixture.ts";

export function reading(open: OpenFixture): void {
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
}
