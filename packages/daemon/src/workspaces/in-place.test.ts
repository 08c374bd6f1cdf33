import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeRepository } from "../testing/repository.ts";
import { bringBack } from "./bring-back.ts";
import { openInPlace } from "./in-place.ts";

let place: string;
let repo: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "corral-in-place-"));
  repo = makeRepository(join(place, "repo"), { "file.txt": "one\n" });
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

test("the folder itself is the workspace, and what it holds is committed beside the user's branch and index", async () => {
  const { path, base, head, readable, variables, way } = await openInPlace(repo, {
    branch: "corral/one",
    mayBeRoots: true,
  });
  expect({ path, base, readable, way }).toEqual({
    path: repo,
    base: git("rev-parse", "HEAD").trim(),
    readable: [],
    way: "in place",
  });
  writeFileSync(join(repo, "file.txt"), "two\n");
  writeFileSync(join(repo, "staged.txt"), "staged\n");
  git("add", "staged.txt");
  const [index, status] = [readFileSync(join(repo, ".git/index")), git("status", "--porcelain", "--branch")];
  const work = {
    repo,
    workspace: path,
    depot: join(place, "depot"),
    readable,
    owner: undefined,
    head,
    base,
    variables,
  };
  const brought = await bringBack({ ...work, branch: "corral/one", before: undefined, message: "in place\n" });
  expect(brought).toMatchObject({ kind: "brought", branch: "corral/one", files: 2, leftovers: true });
  expect(git("show", "corral/one:file.txt")).toBe("two\n");
  expect(readFileSync(join(repo, ".git/index")).equals(index)).toBe(true);
  expect(git("status", "--porcelain", "--branch")).toBe(status);
});

test("a linked worktree is worked in at its own place", async () => {
  git("worktree", "add", "--quiet", "-b", "other", join(place, "tree"));
  const { path, readable } = await openInPlace(join(place, "tree"), { branch: "corral/one", mayBeRoots: true });
  expect({ path, readable }).toEqual({ path: join(place, "tree"), readable: [join(repo, ".git/objects")] });
});

test.skipIf(process.getuid?.() !== 0)(
  "a folder of root's is refused where agents are somebody else (needs root)",
  async () => {
    await expect(openInPlace(repo, { branch: "corral/one", mayBeRoots: false })).rejects.toMatchObject({
      code: "workspace.foreign",
    });
  },
);

function git(...args: string[]): string {
  return execFileSync("git", ["-C", repo, ...args], { encoding: "utf8" });
}
