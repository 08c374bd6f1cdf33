import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { besideOf, removeHalfWritten } from "./half-written.ts";

test("what killed writers left goes; what may still be written, and what is somebody's own, stays", () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-half-written-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const place = join(folder, "config.json");
  const dead = spawnSync("true").pid;
  const stay = [
    "config.json",
    "config.json.1",
    "config.json.new",
    `config.json.${process.ppid}.new`,
    `config.json.x${dead}.new`,
    `other.json.${dead}.new`,
  ];
  const go = [`config.json.${dead}.new`, "config.json.1.new"];
  for (const name of [...stay, ...go]) writeFileSync(join(folder, name), "half");
  writeFileSync(besideOf(place), "of an earlier process with the same number");
  utimesSync(join(folder, "config.json.1.new"), 0, 0);
  removeHalfWritten(place);
  expect(readdirSync(folder).toSorted()).toEqual(stay.toSorted());
  removeHalfWritten(join(folder, "none", "config.json"));
});
