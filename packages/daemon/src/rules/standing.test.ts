import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Rulebook } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { marksOf, type StandingRules, stillStand } from "./standing.ts";

const situation = { environment: "jail", workspace: "copy", folder: "/workspace" } as const;
const rulebook: Rulebook = { mode: "ask", situation, rules: [], problems: [] };

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync("/var/tmp/corral-standing-");
  file = join(folder, "rules.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** As seen when all that was written by now is long ago. */
function standing(...files: readonly string[]): StandingRules {
  return { rulebook, files: marksOf(files, Date.now() + 60_000)! };
}

test("files that are not there stand until one is", () => {
  const deeper = join(folder, "repo", ".corral", "rules.json");
  const rules = standing(file, deeper);
  expect(stillStand(rules)).toBe(true);
  mkdirSync(join(folder, "repo", ".corral"), { recursive: true });
  expect(stillStand(rules)).toBe(false);
  const now = standing(file, deeper);
  writeFileSync(deeper, "{}");
  expect(stillStand(now)).toBe(false);
});

const changes: readonly (readonly [string, () => void])[] = [
  ["written over with as many bytes", () => writeFileSync(file, "[}")],
  [
    "replaced by another",
    () => {
      writeFileSync(`${file}.new`, "{}");
      renameSync(`${file}.new`, file);
    },
  ],
  ["taken away", () => unlinkSync(file)],
  [
    "made a link",
    () => {
      renameSync(file, `${file}.old`);
      symlinkSync(`${file}.old`, file);
    },
  ],
];
test.each(changes)("a file that is %s no longer stands", async (_, change) => {
  writeFileSync(file, "{}");
  const rules = standing(file);
  expect(stillStand(rules)).toBe(true);
  await nextTick(file);
  change();
  expect(stillStand(rules)).toBe(false);
});

test("what a link leads to is looked at, too", async () => {
  writeFileSync(`${file}.real`, "{}");
  symlinkSync(`${file}.real`, file);
  const rules = standing(file);
  expect(stillStand(rules)).toBe(true);
  await nextTick(file);
  writeFileSync(`${file}.real`, "[}");
  expect(stillStand(rules)).toBe(false);
});

test("a file that was just written may be written again and look the same, so it never stands", () => {
  writeFileSync(file, "{}");
  expect(marksOf([file], Date.now())).toBeUndefined();
  expect(marksOf([file], Date.now() + 60_000)).toHaveLength(1);
});

test("a place that cannot be looked at, or is none, never stands", () => {
  writeFileSync(file, "{}");
  expect(marksOf([join(file, "rules.json", "deeper")], Date.now() + 60_000)).toBeUndefined();
  expect(marksOf([".corral/rules.json"], Date.now() + 60_000)).toBeUndefined();
});

/** Until the file system's clock has gone on. */
async function nextTick(beside: string): Promise<void> {
  const probe = `${beside}.probe`;
  writeFileSync(probe, "");
  const before = marksOf([probe], Infinity);
  while (JSON.stringify(marksOf([probe], Infinity)) === JSON.stringify(before)) {
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(probe, "");
  }
}
