import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readAttachments } from "./attachments.ts";
import { dispatch } from "../dispatch.ts";
import { valuesOf } from "../flags.ts";
import { testWorld } from "../testing/world.ts";

const cwd = mkdtempSync(join(tmpdir(), "corral-attachments-"));
afterAll(() => rmSync(cwd, { recursive: true }));

test("files are read from the folder that one is in, and named without theirs", () => {
  const bytes = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
  writeFileSync(join(cwd, "shot.gif"), bytes);
  expect(readAttachments(["./shot.gif"], { cwd })).toEqual([{ name: "shot.gif", bytes }]);
});

test.each([
  ["none.png", undefined, "none.png cannot be read: ENOENT"],
  ["a.zip", Buffer.from([0x50, 0x4b, 3, 4, 0]), "a.zip is neither an image that models can look at nor text."],
  ["long.txt", Buffer.alloc(300_000, "x"), "long.txt is a text of 300000 bytes; at most 262144 can be attached."],
  ["cut.gif", Buffer.from("GIF89a"), "cut.gif is a GIF that is cut off."],
  ["huge.png", Buffer.alloc(4_000_000), "huge.png has 4000000 bytes; at most 3750000 can be attached."],
])("what cannot be attached is told before a session is begun: %s", async (name, bytes, complaint) => {
  if (bytes !== undefined) writeFileSync(join(cwd, name), bytes);
  const { world, written } = testWorld();
  expect(await dispatch(["run", "--attach", join(cwd, name), "look"], world)).toBe(1);
  expect(written.err).toContain(complaint);
});

test("a flag that may come more than once has all its values, and none from behind --", () => {
  expect(valuesOf(["run", "--attach", "a", "x", "--attach=b", "--", "--attach", "c"], "attach")).toEqual(["a", "b"]);
});
