import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { jailOwner } from "../environments/jail/index.ts";
import { makeRepository } from "../testing/repository.ts";
import { bringBack, type BringingBack, type Brought } from "./bring-back.ts";
import { prepareWorkspace, type Workspace } from "./prepare.ts";
import { sharedOwner } from "./testing/on-record.ts";

let place: string;
let repo: string;
let copy: Workspace;

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), "corral-bring-"));
  repo = makeRepository(join(place, "repo"), { "file.txt": "one\n", "other.txt": "other\n" });
  copy = await prepareWorkspace({
    repo,
    destination: join(place, "workspaces/one"),
    branch: "corral/one",
    newOwner: sharedOwner(),
  });
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

test("an untouched workspace brings nothing", async () => {
  expect(await bring()).toEqual({ kind: "nothing-new" });
  expect(inRepo("branch", "--list", "corral/*")).toBe("");
});

test("the agent's commits arrive, and what it left as one commit under the user's name", async () => {
  write({ "file.txt": "two\n" });
  inCopy("commit", "--all", "--quiet", "--message=by the agent");
  write({ "new/file.txt": "new\n", ".gitignore": "ignored\n", ignored: "x" });
  rmSync(join(copy.path, "other.txt"));
  const brought = await bring();
  expect(brought).toEqual({
    kind: "brought",
    branch: "corral/one",
    commit: inRepo("rev-parse", "corral/one").trim(),
    before: undefined,
    commits: 2,
    files: 4,
    insertions: 3,
    deletions: 2,
    leftovers: true,
    skipped: [],
  });
  expect(inRepo("log", "--format=%an %ae %G? %s", "main..corral/one")).toBe(
    "Ada ada@example.test N left\nAgent agent@example.test N by the agent\n",
  );
  expect(inRepo("ls-tree", "-r", "--name-only", "corral/one")).toBe(".gitignore\nfile.txt\nnew/file.txt\n");
  expect(inRepo("status", "--porcelain", "--branch")).toBe("## main\n");
  expect(inCopy("status", "--porcelain")).toContain("?? new/");
});

test("the branch only moves forward, whatever the agent does to its history", async () => {
  write({ "file.txt": "left\n" });
  const first = commitOf(await bring());
  expect(await bring({ before: first })).toEqual({ kind: "nothing-new" });
  write({ "file.txt": "left again\n" });
  const second = commitOf(await bring({ before: first }));
  expect(parents(second)).toEqual([first]);
  inCopy("commit", "--all", "--quiet", "--message=committed");
  const third = commitOf(await bring({ before: second }));
  expect(parents(third)).toEqual([inCopy("rev-parse", "HEAD").trim(), second]);
  inCopy("commit", "--amend", "--quiet", "--message=amended");
  const fourth = commitOf(await bring({ before: third }));
  expect(parents(fourth)).toEqual([inCopy("rev-parse", "HEAD").trim(), third]);
  expect(inRepo("show", "corral/one:file.txt")).toBe("left again\n");
});

test("a branch that the user went on with, or has checked out, is left to them", async () => {
  write({ "file.txt": "two\n" });
  const first = commitOf(await bring());
  inRepo("checkout", "--quiet", "corral/one");
  write({ "file.txt": "three\n" });
  const second = await bring({ before: first });
  expect(second).toMatchObject({ branch: "corral/one-2" });
  inRepo("commit", "--allow-empty", "--quiet", "--message=by the user");
  inRepo("checkout", "--quiet", "main");
  const users = inRepo("rev-parse", "corral/one");
  write({ "file.txt": "four\n" });
  expect(await bring({ before: commitOf(second) })).toMatchObject({ branch: "corral/one-2", before: commitOf(second) });
  expect(inRepo("rev-parse", "corral/one")).toBe(users);
});

test("no branch is reached through a link", async () => {
  write({ "file.txt": "two\n" });
  inRepo("symbolic-ref", "refs/heads/corral/one", "refs/heads/main");
  const main = inRepo("rev-parse", "main");
  expect(await bring()).toMatchObject({ branch: "corral/one-2" });
  rmSync(join(repo, ".git/refs/heads/corral"), { recursive: true });
  mkdirSync(join(place, "elsewhere"));
  symlinkSync(join(place, "elsewhere"), join(repo, ".git/refs/heads/corral"));
  await expect(bring()).rejects.toMatchObject({ code: "workspace.failed" });
  expect(readdirSync(join(place, "elsewhere"))).toEqual([]);
  expect(inRepo("rev-parse", "main")).toBe(main);
});

test.each(["main", "corral/../main", "corral/one.lock", "corral/-x", "corral/a b", "corral/one/two", "../corral/one"])(
  "%j is refused as a branch",
  async (branch) => {
    write({ "file.txt": "two\n" });
    await expect(bring({ branch })).rejects.toMatchObject({ code: "workspace.failed" });
  },
);

test("what no tree can hold is left out and told, everything else arrives", async () => {
  write({ "fine.txt": "fine\n", "unreadable.txt": "x", ".GIT/config": "x" });
  chmodSync(join(copy.path, "unreadable.txt"), 0o000);
  rmSync(join(copy.path, "file.txt"));
  execFileSync("mkfifo", [join(copy.path, "file.txt"), join(copy.path, "fifo")]);
  writeFileSync(join(copy.path, "huge.bin"), "");
  truncateSync(join(copy.path, "huge.bin"), 200 * 2 ** 20);
  execFileSync("git", ["init", "--quiet", join(copy.path, "nested")]);
  write({ "nested/inner.txt": "x" });
  symlinkSync("/etc/passwd", join(copy.path, "link"));
  symlinkSync("/etc/passwd", join(copy.path, ".gitmodules"));
  rmSync(join(copy.path, "other.txt"));
  write({ "other.txt/now-a-folder": "x" });
  const brought = await bring();
  expect(brought).toMatchObject({ kind: "brought", leftovers: true });
  expect((brought as Brought).skipped.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: ".GIT/config", why: "odd name" },
    { path: ".gitmodules", why: "odd name" },
    { path: "fifo", why: "neither file nor link" },
    { path: "file.txt", why: "neither file nor link" },
    { path: "huge.bin", why: "too large" },
    { path: "nested/", why: "nested repository" },
    { path: "unreadable.txt", why: "unreadable" },
  ]);
  expect(inRepo("ls-tree", "-r", "--name-only", "corral/one")).toBe(
    "file.txt\nfine.txt\nlink\nother.txt/now-a-folder\n",
  );
  expect(inRepo("cat-file", "blob", "corral/one:link")).toBe("/etc/passwd");
});

test("nothing is waited for that git would open and never gets to the end of", async () => {
  write({ "in/a.txt": "a\n", "sub/b.txt": "b\n", "linked/c.txt": "c\n", "told/d.txt": "d\n" });
  execFileSync("git", ["init", "--quiet", join(copy.path, "nested")]);
  for (const name of ["nested/.git/HEAD", ".git/packed-refs"]) rmSync(join(copy.path, name), { force: true });
  mkdirSync(join(copy.path, "evil"));
  symlinkSync("../evil", join(copy.path, "linked/.git"));
  write({ "told/.git": "gitdir: ../evil\n" });
  const fifos = [
    "in/.gitignore",
    "sub/.gitattributes",
    "nested/.git/HEAD",
    "evil/HEAD",
    ".git/packed-refs",
    ".gitignore",
  ];
  const pack = `.git/objects/pack/pack-${"0".repeat(40)}`;
  execFileSync(
    "mkfifo",
    [...fifos, `${pack}.idx`, `${pack}.pack`].map((name) => join(copy.path, name)),
  );
  const brought = await bring();
  expect(brought).toMatchObject({ kind: "brought" });
  expect(inRepo("ls-tree", "-r", "--name-only", "corral/one")).toContain("in/a.txt\n");
  expect(inRepo("ls-tree", "-r", "--name-only", "corral/one")).toContain("sub/b.txt\n");
}, 60_000);

test("nothing that the agent planted is run or obeyed", async () => {
  const ran = join(place, "ran");
  const script = join(place, "evil.sh");
  writeFileSync(script, `#!/bin/sh\necho "$0 $*" >>${ran}\ncat >/dev/null 2>&1 </dev/null\nexit 0\n`, { mode: 0o755 });
  const gitFolder = join(copy.path, ".git");
  for (const hook of ["pre-commit", "post-index-change", "reference-transaction", "post-checkout"])
    symlinkSync(script, join(gitFolder, "hooks", hook));
  writeFileSync(
    join(gitFolder, "config"),
    [
      `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${script}\n\tsshCommand = ${script}\n\tpager = ${script}`,
      `\tworktree = ${place}\n\tattributesFile = ${place}/attributes\n\teditor = ${script}\n\talternateRefsCommand = ${script}`,
      `[diff]\n\texternal = ${script}\n[diff "evil"]\n\ttextconv = ${script}\n\tcommand = ${script}`,
      `[filter "evil"]\n\tclean = ${script}\n\tsmudge = ${script}\n\tprocess = ${script}\n\trequired = true`,
      `[merge "evil"]\n\tdriver = ${script}\n[credential]\n\thelper = ${script}\n[gpg]\n\tprogram = ${script}`,
      `[commit]\n\tgpgSign = true\n[alias]\n\twrite-tree = !${script}\n\tadd = !${script}\n[include]\n\tpath = ${place}/more`,
      `[remote "origin"]\n\turl = ext::${script}\n[uploadpack]\n\tpackObjectsHook = ${script}\n`,
    ].join("\n"),
  );
  write({
    ".gitattributes": "* filter=evil diff=evil merge=evil ident working-tree-encoding=UTF-16\n",
    "file.txt": "$Id$ two\n",
    "nested/x": "x",
  });
  mkdirSync(join(gitFolder, "info"), { recursive: true });
  writeFileSync(join(gitFolder, "info/attributes"), "* filter=evil\n");
  writeFileSync(join(gitFolder, "info/exclude"), "*\n");
  writeFileSync(join(gitFolder, "commondir"), `${place}\n`);
  execFileSync("git", ["init", "--quiet", join(copy.path, "nested/sub")]);
  writeFileSync(join(copy.path, "nested/sub/.git/config"), `[core]\n\tfsmonitor = ${script}\n`);
  expect(await bring()).toMatchObject({
    kind: "brought",
    skipped: [{ path: "nested/sub/", why: "nested repository" }],
  });
  expect(existsSync(ran)).toBe(false);
  expect(inRepo("cat-file", "blob", "corral/one:file.txt")).toBe("$Id$ two\n");
  rmSync(join(gitFolder, "commondir"));
  execFileSync("git", ["-c", "safe.directory=*", "-C", copy.path, "-c", `core.worktree=${copy.path}`, "status"], {
    stdio: "ignore",
  });
  expect(existsSync(ran), "plain git in the workspace runs what was planted").toBe(true);
});

test("objects are neither taken from outside nor forged", async () => {
  const outside = makeRepository(join(place, "outside"), { secret: "secret\n" });
  const secret = execFileSync("git", ["-C", outside, "rev-parse", "HEAD"], { encoding: "utf8" }).trim();
  const info = join(copy.path, ".git/objects/info");
  writeFileSync(join(info, "alternates"), `${join(repo, ".git/objects")}\n${outside}/.git/objects\n`);
  writeFileSync(join(copy.path, ".git/refs/heads/corral/one"), `${secret}\n`);
  expect(inCopy("rev-parse", "HEAD")).toBe(`${secret}\n`);
  expect(await bring()).toEqual({ kind: "nothing-new" });
  expect(() => inRepo("cat-file", "-e", secret)).toThrow(/Command failed/);
});

test.each([
  ["a link", (folder: string, aside: string) => symlinkSync(aside, folder)],
  ["a file", (folder: string, aside: string) => writeFileSync(folder, `gitdir: ${aside}\n`)],
  ["nothing", () => undefined],
])("with its git folder replaced by %s, a workspace still gives what it holds", async (_, replace) => {
  const aside = join(place, "aside");
  renameSync(join(copy.path, ".git"), aside);
  replace(join(copy.path, ".git"), aside);
  write({ "file.txt": "two\n" });
  expect(await bring()).toMatchObject({ kind: "brought", commits: 1, files: 1, leftovers: true });
});

test("a workspace without commits gives its first", async () => {
  const empty = join(place, "empty");
  execFileSync("git", ["init", "--quiet", "--initial-branch=main", empty]);
  repo = empty;
  copy = await prepareWorkspace({
    repo,
    destination: join(place, "workspaces/two"),
    branch: "corral/two",
    newOwner: sharedOwner(),
  });
  expect(await bring({ branch: "corral/two" })).toEqual({ kind: "nothing-new" });
  write({ "file.txt": "first\n" });
  expect(await bring({ branch: "corral/two" })).toMatchObject({ kind: "brought", commits: 1, files: 1 });
});

test("uncommitted work of the user's comes back below the agent's", async () => {
  writeFileSync(join(repo, "file.txt"), "dirty\n");
  copy = await prepareWorkspace({
    repo,
    destination: join(place, "workspaces/two"),
    branch: "corral/two",
    from: "dirty",
    newOwner: sharedOwner(),
  });
  expect(await bring({ branch: "corral/two" })).toEqual({ kind: "nothing-new" });
  write({ "other.txt": "agent\n" });
  expect(await bring({ branch: "corral/two" })).toMatchObject({ kind: "brought", commits: 1, files: 1 });
  expect(inRepo("log", "--format=%s", "main..corral/two")).toBe(
    "left\nUncommitted work of the user, as the session found it\n",
  );
});

test("killed at any point, it is done again and leaves nothing half done", async () => {
  write({ "file.txt": "two\n" });
  for (const ms of [5, 20, 40, 80, 120, 200]) {
    const killer = new AbortController();
    const timer = setTimeout(() => killer.abort(), ms);
    await bring({ signal: killer.signal }).catch(() => undefined);
    clearTimeout(timer);
    expect(inRepo("fsck", "--strict", "--no-dangling")).toBe("");
  }
  write({ "file.txt": "three\n" });
  // It is told of none of them, and finds the branch where they left it.
  expect(await bring()).toMatchObject({ branch: "corral/one" });
  expect(inRepo("show", "corral/one:file.txt")).toBe("three\n");
});

function bring(changes: Partial<BringingBack> = {}) {
  const { path: workspace, readable, base, head, branch, variables } = copy;
  const depot = `${workspace}.depot`;
  const all = { repo, workspace, depot, readable, base, head, branch, variables, before: undefined, message: "left\n" };
  return bringBack({ ...all, owner: jailOwner(), ...changes });
}

function commitOf(brought: Awaited<ReturnType<typeof bringBack>>): string {
  if (brought.kind !== "brought") throw new Error("nothing was brought");
  return brought.commit;
}

function parents(commit: string): string[] {
  return inRepo("log", "-1", "--format=%P", commit).trim().split(" ");
}

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(copy.path, name, ".."), { recursive: true });
    writeFileSync(join(copy.path, name), text);
  }
  const owner = jailOwner();
  if (owner !== undefined) execFileSync("chown", ["-R", "-h", `${owner.uid}:${owner.gid}`, copy.path]);
}

function inRepo(...args: string[]): string {
  return execFileSync("git", ["-C", repo, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function inCopy(...args: string[]): string {
  const who = ["-c", "user.name=Agent", "-c", "user.email=agent@example.test", "-c", "safe.directory=*"];
  return execFileSync("git", ["-C", copy.path, ...who, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}
