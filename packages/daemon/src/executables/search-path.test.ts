import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { outsideOfRepositories } from "./search-path.ts";

test("no program is looked for in a repository, by whatever name, nor in the folder one happens to be in", () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-search-path-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const each of ["repo/.git", "repo/tools/bin", "own/bin"]) mkdirSync(join(folder, each), { recursive: true });
  symlinkSync(join(folder, "repo/tools/bin"), join(folder, "link"));
  const places = ["repo/tools/bin", "repo/missing", "link", "own/bin"].map((each) => join(folder, each));
  const path = [".", "", "node_modules/.bin", ...places, "/usr/bin"].join(":");
  expect(outsideOfRepositories(path)).toBe(`${join(folder, "own/bin")}:/usr/bin`);
  expect(outsideOfRepositories(".")).toBe("/usr/bin:/bin");
});

test("what an installer keeps in its own repository is found, and what lies in another one below it is not", () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-search-path-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const each of [".git", "bin", "other/.git", "other/bin"]) mkdirSync(join(folder, each), { recursive: true });
  const path = [join(folder, "other/bin"), join(folder, "bin")].join(":");
  expect(outsideOfRepositories(path, [folder])).toBe(join(folder, "bin"));
});
