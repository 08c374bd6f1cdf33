import type { ArtifactNamed, CommandResult } from "@corral/protocol";
import { expect, test } from "vitest";
import { followWhole, type OutputPlace } from "./whole-output.ts";

const endOf = (stdoutBytes: number) => ({ stdoutBytes, stderrBytes: 0 }) as CommandResult;

/** A command whose stdout is this text by now, and a place for it. */
function stage({ before = "", above = 4, fails = "" }: { before?: string; above?: number; fails?: string } = {}) {
  const output = { text: "", reads: 0, begun: 0, finished: 0 };
  const kept = { text: before };
  const named = (): ArtifactNamed => ({ id: "art_a", url: "file:///a", bytes: kept.text.length });
  const step = (name: string) => (fails === name ? Promise.reject(new Error(name)) : Promise.resolve(named()));
  const place: OutputPlace = {
    begin: () => ((output.begun += 1), step("begin")),
    append: (bytes) => ((kept.text += Buffer.from(bytes).toString()), step("append")),
    finish: () => ((output.finished += 1), step("finish")),
  };
  const readWhole = (_: string, stream: string, { from = 0, bytes = 0 } = {}) => {
    output.reads += 1;
    const text = stream === "stdout" ? output.text : "";
    return Promise.resolve({ bytes: Buffer.from(text.slice(from, from + bytes)), size: text.length });
  };
  const whole = followWhole({ results: { readWhole }, id: "cal_a", place: () => place, above, everyMs: 1 });
  return { output, kept, whole };
}

test("a short output is not even read", async () => {
  const { output, whole } = stage();
  output.text = "1234";
  expect(await whole.rest(endOf(4))).toEqual({});
  expect(output).toMatchObject({ reads: 0, begun: 0 });
});

test("a long one arrives whole, while it grows and in the end", async () => {
  const { output, kept, whole } = stage();
  output.text = "12345";
  whole.more("stdout");
  await expect.poll(() => kept.text, { interval: 1 }).toBe("12345");
  output.text = "1234567890";
  expect(await whole.rest(endOf(10))).toEqual({ artifacts: { stdout: { id: "art_a", url: "file:///a", bytes: 10 } } });
  expect([kept.text, output.begun, output.finished]).toEqual(["1234567890", 1, 1]);
});

test("what was there before, from before a crash, is not brought again", async () => {
  const { output, kept, whole } = stage({ before: "123" });
  output.text = "1234567890";
  await whole.rest(endOf(10));
  expect(kept.text).toBe("1234567890");
});

test("what the command left behind writes on, and nobody waits for it", async () => {
  const { output, kept, whole } = stage();
  output.text = "1234567890, and on and on";
  await whole.rest(endOf(10));
  expect(kept.text).toBe("1234567890");
});

test.each(["begin", "append", "finish"])(
  "a place that fails at %s costs the artifact, not the result",
  async (fails) => {
    const { output, whole } = stage({ fails });
    output.text = "1234567890";
    whole.more("stdout");
    expect(await whole.rest(endOf(10))).toEqual({});
  },
);
