import { expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { hiddenLine } from "../terminal/hidden-line.ts";
import { testWorld } from "../testing/world.ts";

test.each([
  [["auth"], "what should be done with keys?"],
  [["auth", "logon", "openai"], "what should be done with keys?"],
  [["auth", "login"], "which provider?"],
  [["auth", "login", "openai", "sk-secret"], 'unexpected word "sk-secret"'],
  [["auth", "list", "openai"], "what should be done with keys?"],
])("%j is a mistake that is explained", async (words, complaint) => {
  const { world, written } = testWorld();
  expect(await dispatch(words, world)).toBe(2);
  expect(written.err).toContain(`error: ${complaint}`);
});

test.each([
  ["secret\r", "secret"],
  ["secrex\u007ft\n", "secret"],
  ["wrong\u0015secret\r", "secret"],
  ["secret\u0003", undefined],
  ["\u0004", undefined],
])("keys %j make the hidden line %j, which is not shown", async (keys, line) => {
  let shown = "";
  let released = 0;
  const screen = {
    size: () => ({ columns: 80, rows: 24 }),
    onResize: () => () => undefined,
    write: (bytes: Uint8Array | string) => void (shown += bytes.toString()),
    takeKeys: (listener: (typed: Uint8Array) => void) => {
      setImmediate(() => {
        for (const key of keys) listener(Buffer.from(key));
      });
      return () => void (released += 1);
    },
  };
  expect(await hiddenLine(screen, "Key: ")).toBe(line);
  expect([shown, released]).toEqual(["Key: \r\n", 1]);
});
