import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeRepository } from "../testing/repository.ts";
import { inspect, notesOf } from "./source.ts";

let place: string;
let repo: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "corral-source-"));
  repo = makeRepository(join(place, "repo"), { "folder/file.txt": "one\n" });
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

const ways: Readonly<Record<string, () => string>> = {
  "on a branch": () => repo,
  "on no branch": () => git(repo, "checkout", "--quiet", "--detach") ?? repo,
  "on a branch with a name of several parts": () => git(repo, "checkout", "--quiet", "-b", "a/main") ?? repo,
  "with branches that are packed": () => git(repo, "pack-refs", "--all") ?? repo,
  "named by one of its folders": () => join(repo, "folder"),
  "named by a link": () => symlinkSync(repo, join(place, "link")) ?? join(place, "link"),
  "whose files are elsewhere": () => {
    mkdirSync(join(place, "files"));
    return git(repo, "config", "core.worktree", join(place, "files")) ?? repo;
  },
  "with settings for each worktree": () => git(repo, "config", "extensions.worktreeConfig", "true") ?? repo,
  "that is a further worktree": () =>
    git(repo, "worktree", "add", "--quiet", join(place, "further")) ?? join(place, "further"),
  "with other hashes": () => {
    const other = join(place, "other");
    git(place, "init", "--quiet", "--object-format=sha256", other);
    return git(other, ...author, "commit", "--quiet", "--allow-empty", "--message=first") ?? other;
  },
  "in which `.git` is an empty folder, below another": () => {
    mkdirSync(join(repo, "folder/.git"));
    return join(repo, "folder");
  },
};

test.each(Object.keys(ways))("a repository %s is seen as git sees it", async (way) => {
  const path = ways[way]!();
  const { worktree, gitFolder, commonFolder, objectFormat, head } = await inspect(path);
  const asked = ["--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-object-format", "HEAD"];
  const told = say(path, "rev-parse", "--path-format=absolute", ...asked);
  expect([worktree, gitFolder, commonFolder, objectFormat, head].map((line) => `${line}\n`).join("")).toBe(told);
});

test("a repository without a commit has no head, and nothing is noted of it", async () => {
  const empty = join(place, "empty");
  git(place, "init", "--quiet", empty);
  const { head } = await inspect(empty);
  expect({ head, notes: await notesOf(empty, head) }).toEqual({ head: "", notes: { submodules: [], lfs: false } });
});

test("a folder that is in no repository, and one that is all of one, are told apart from others", async () => {
  git(place, "init", "--quiet", "--bare", join(place, "bare"));
  for (const path of [place, join(place, "bare")])
    await expect(inspect(path)).rejects.toMatchObject({ code: "project.not-a-repo" });
  await expect(inspect(join(place, "none"))).rejects.toMatchObject({ code: "project.missing" });
});

const author = ["-c", "user.name=A", "-c", "user.email=a@localhost"];

function say(folder: string, ...args: string[]): string {
  return execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" });
}

function git(folder: string, ...args: string[]): undefined {
  say(folder, ...args);
}
