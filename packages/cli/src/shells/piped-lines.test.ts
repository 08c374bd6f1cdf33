import { Readable } from "node:stream";
import { longestCommandText } from "@corral/protocol";
import { expect, test } from "vitest";
import { pipedLines } from "./piped-lines.ts";

const never = new AbortController().signal;

/** The lines that were taken, and the complaint about the one that was not. */
async function taken(...pieces: readonly (string | Uint8Array)[]) {
  const lines: string[] = [];
  try {
    for await (const line of pipedLines(Readable.from(pieces, { objectMode: false }), never)) lines.push(line);
  } catch (error) {
    return { lines, complaint: error instanceof Error ? error.message : String(error) };
  }
  return { lines };
}

test("lines end at a line feed, before which a carriage return is left out, and nowhere else", async () => {
  const separators = "a\u2028b\u2029c\u0085d\re\ff\vg";
  expect(await taken(`one\r\n\n${separators}\nlast`)).toEqual({ lines: ["one", "", separators, "last"] });
  expect(await taken("one\n")).toEqual({ lines: ["one"] });
  expect(await taken("")).toEqual({ lines: [] });
});

test("lines are the same wherever their bytes are cut", async () => {
  const bytes = Buffer.from("écho 1\r\n🐎\n\n");
  expect(await taken(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual({ lines: ["écho 1", "🐎", ""] });
});

test("a line that is no text is refused, with all that follows it", async () => {
  expect(await taken("one\n", Buffer.from("echo 'a\xff'\n", "latin1"), "three\n")).toEqual({
    lines: ["one"],
    complaint: "line 2 is no UTF-8: it is not run, nor are those after it",
  });
  expect(await taken("rm a\0b\n")).toEqual({
    lines: [],
    complaint: "line 1 has a zero byte in it: it is not run, nor are those after it",
  });
  // A character that is cut off at the end is none.
  expect(await taken(Buffer.from("🐎").subarray(0, 3))).toMatchObject({ lines: [], complaint: expect.any(String) });
});

test("a line that is too long is refused, with the limit, as soon as it is", async () => {
  const longest = "🐎".repeat(longestCommandText / 2);
  const complaint = "line 2 is longer than a command may be (200000 characters): it is not run, nor are those after it";
  expect(await taken(`${longest}\n${longest}x\nmore\n`)).toEqual({ lines: [longest], complaint });
  let pieces = 0;
  const endless = Readable.from(
    (function* () {
      yield "first\n";
      for (; ; pieces++) yield Buffer.alloc(65_536, "x");
    })(),
    { objectMode: false },
  );
  const lines = pipedLines(endless, never);
  expect(await lines.next()).toEqual({ done: false, value: "first" });
  await expect(lines.next()).rejects.toThrow(complaint);
  expect(pieces).toBeLessThan(20);
});

test("no more lines are waited for when it is over", async () => {
  const over = new AbortController();
  const input = new Readable({ read: () => undefined });
  input.push("one\n");
  const lines = pipedLines(input, over.signal);
  expect(await lines.next()).toEqual({ done: false, value: "one" });
  const next = lines.next();
  over.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});
