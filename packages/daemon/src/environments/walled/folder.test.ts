import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defaultLimits } from "../plan.ts";
import { WalledFolder } from "./folder.ts";

test("a folder that is disowned has a whole record on file all the while", () => {
  const place = mkdtempSync(join(tmpdir(), "corral-folder-"));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const folder = new WalledFolder(join(place, "env"));
  folder.make({ limits: defaultLimits, cgroups: ["/one", "/two"] });
  expect(folder.hasOpener()).toBe(true);
  const before = openSync(join(folder.path, "record.json"), "r");
  onTestFinished(() => closeSync(before));
  folder.disown();
  // Who reads what was there before, a moment before the other is there, reads all of it.
  const records = [readFileSync(before, "utf8"), readFileSync(join(folder.path, "record.json"), "utf8")];
  const [was, is] = records.map((text) => JSON.parse(text) as { opener: unknown; cgroups: unknown });
  expect(was).toMatchObject({ opener: { pid: process.pid }, cgroups: ["/one", "/two"] });
  expect(is).toEqual({ ...was, opener: null });
  expect({ owned: folder.hasOpener(), limits: folder.limits(), files: readdirSync(folder.path) }).toEqual({
    owned: false,
    limits: defaultLimits,
    files: ["record.json"],
  });
});
