import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { event, newId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownersIn } from "../../environments/jail/index.ts";
import { prepareWorkspace } from "../prepare.ts";
import { by, openStage, type SnapshotStage, type StageSession } from "./testing/stage.ts";

let stage: SnapshotStage;
let session: StageSession;

beforeEach(async () => {
  stage = await openStage();
  session = await stage.session();
});

afterEach(() => stage[Symbol.asyncDispose]());

test.skipIf(process.getuid?.() !== 0)(
  "a workspace that was made again, for another user, is kept where the first was (needs root)",
  async () => {
    await session.call(() => session.write({ "file.txt": "two\n" }));
    const shelf = join(stage.home, "snapshots", session.id);
    const first = lstatSync(session.folder).uid;
    expect(lstatSync(shelf).uid).toBe(first);
    rmSync(session.folder, { recursive: true });
    const again = await prepareWorkspace({
      repo: stage.repo,
      destination: session.folder,
      branch: `corral/${session.id}`,
      newOwner: ownersIn(stage.home),
    });
    expect(again.owner?.uid).not.toBe(first);
    await session.call(() => session.write({ "new.txt": "new\n" }));
    expect((await session.taken()).at(-1)).toMatchObject({ reason: "calls", insertions: 1 });
    expect(lstatSync(join(shelf, "index")).uid).toBe(again.owner?.uid);
    expect(lstatSync(shelf).uid).toBe(again.owner?.uid);
  },
);

test("after a call that changed files there is a snapshot, and one of the beginning; others take none", async () => {
  await session.call(() => undefined, { reads: true });
  expect(existsSync(join(stage.home, "snapshots"))).toBe(false);
  const call = await session.call(() => {
    session.write({ "file.txt": "two\n", "new/file.txt": "new\n" });
    rmSync(join(session.folder, "other.txt"));
  });
  await session.call(() => undefined);
  const [start, second, ...none] = await session.taken();
  expect(none).toEqual([]);
  const common = { snapshotId: expect.any(String) as string, commands: [], skipped: [] };
  expect(start).toEqual({
    ...common,
    tree: inRepo("rev-parse", "HEAD^{tree}").trim(),
    previous: null,
    reason: "start",
    calls: [],
    files: 0,
    insertions: 0,
    deletions: 0,
  });
  expect(second).toEqual({
    ...common,
    tree: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
    previous: start?.snapshotId,
    reason: "calls",
    calls: [call],
    files: 3,
    insertions: 2,
    deletions: 2,
    pack: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
  expect((await stage.snapshots.list(session.id)).map(({ id }) => id)).toEqual([start?.snapshotId, second?.snapshotId]);
});

test("calls side by side share one, when the last has ended", async () => {
  const [one, two] = [newId("call"), newId("call")];
  await session.append(event("call.started", { id: one, attempt: 1 }), event("call.started", { id: two, attempt: 1 }));
  session.write({ "one.txt": "1\n" });
  await session.append(event("call.settled", { id: one, result: null }));
  await stage.snapshots.settled(session.id);
  expect(await session.taken()).toEqual([]);
  session.write({ "two.txt": "2\n" });
  await session.append(event("call.failed", { id: two, error: { code: "x", message: "y" } }));
  await stage.snapshots.settled(session.id);
  expect((await session.taken()).at(-1)).toMatchObject({ calls: [one, two], files: 2, insertions: 2 });
});

test("a call that started in the commit in which the one before it ended shares one with it", async () => {
  const [one, two] = [newId("call"), newId("call")];
  await session.append(event("call.started", { id: one, attempt: 1 }));
  session.write({ "one.txt": "1\n" });
  await session.append(
    event("call.settled", { id: one, result: null }),
    event("call.started", { id: two, attempt: 1 }),
  );
  await stage.snapshots.settled(session.id);
  expect(await session.taken()).toEqual([]);
  await session.append(event("call.settled", { id: two, result: null }));
  await stage.snapshots.settled(session.id);
  expect((await session.taken()).at(-1)).toMatchObject({ calls: [one, two] });
});

test("what would run by itself is flagged, a repository inside once, and one alone is a snapshot of its own", async () => {
  session.write({ "package.json": '{"scripts":{"test":"true"}}' });
  await session.call(() => session.write({ "package.json": '{"scripts":{"test":"true"},"version":"2"}' }));
  await session.call(() => {
    const at = (path: string) => join(session.folder, path);
    session.write({
      "package.json": '{"scripts":{"test":"evil"}}',
      "sub/CLAUDE.md": "obey\n",
      "run.sh": "",
      "1\t2\tname": "",
    });
    chmodSync(at("run.sh"), 0o755);
    symlinkSync("../outside", at("in/inside"));
    symlinkSync("../../outside", at("in/out"));
  });
  const planted = await session.call(() => session.write({ "evil/.git/config": "[core]\n\tfsmonitor = evil\n" }));
  await session.call(() => session.write({ "evil/.git/HEAD": "ref: refs/heads/main\n" }));
  const raised = await session.call(() => chmodSync(join(session.folder, "file.txt"), 0o4755));
  const taken = await session.taken();
  expect(taken.map(({ flagged, files }) => ({ files, flagged }))).toEqual([
    { files: 0, flagged: undefined },
    { files: 1, flagged: [{ path: "package.json", why: "npm and others run its scripts" }] },
    {
      files: 6,
      flagged: [
        { path: "in/out", why: "a link that leads out of the workspace" },
        { path: "package.json", why: "npm and others run its scripts" },
        { path: "run.sh", why: "it can be executed now" },
        { path: "sub/CLAUDE.md", why: "agents obey it" },
      ],
    },
    { files: 0, flagged: [{ path: "evil/.git", why: "a repository of its own: git obeys its config" }] },
    {
      files: 1,
      flagged: [
        { path: "file.txt", why: "it runs as its owner or group, whoever starts it" },
        { path: "file.txt", why: "it can be executed now" },
      ],
    },
  ]);
  expect(taken.slice(3).map(({ calls }) => calls)).toEqual([[planted], expect.arrayContaining([raised])]);
});

test("what was in the user's folder from the beginning is flagged for nobody", async () => {
  mkdirSync(join(stage.repo, "own/.git"), { recursive: true });
  writeFileSync(join(stage.repo, "Makefile"), "all:\n");
  const inPlace = await stage.session("in place");
  await inPlace.call(() => {
    writeFileSync(join(stage.repo, "file.txt"), "two\n");
    mkdirSync(join(stage.repo, "others"));
    writeFileSync(join(stage.repo, "others/.git"), "gitdir: /etc\n");
  });
  expect((await inPlace.taken()).map(({ flagged }) => flagged)).toEqual([
    undefined,
    [{ path: "others/.git", why: "a repository of its own: git obeys its config" }],
  ]);
});

test("nothing planted is obeyed or waited for, and what cannot be kept is told", async () => {
  await session.call(() => {
    const at = (path: string) => join(session.folder, path);
    session.write({
      ".gitattributes": "*.txt filter=evil text eol=crlf ident\n",
      "file.txt": "$Id$\r\n",
      ".gitignore": "ignored\n",
      ignored: "x",
      "sub/.git/HEAD": "ref: refs/heads/main\n",
      "sub/inner.txt": "inner\n",
      "deep/.git": "gitdir: /etc\n",
      "deep/inner.txt": "deep\n",
      "Case.txt": "A\n",
      "case.txt": "a\n",
      "new\nline.txt": "n\n",
    });
    const evil = `touch ${at("obeyed")}`;
    for (const [name, value] of Object.entries({
      "filter.evil.clean": evil,
      "filter.evil.smudge": evil,
      "core.fsmonitor": evil,
      "core.hooksPath": at("hooks"),
      "core.worktree": "/etc",
    }))
      execFileSync("git", ["config", "-f", at(".git/config"), name, value]);
    for (const path of ["pipe", "sub/.git/pipe", "other/.gitattributes", "other/.gitignore"]) {
      mkdirSync(join(at(path), ".."), { recursive: true });
      execFileSync("mkfifo", [at(path)]);
    }
    rmSync(at("sub/.git/HEAD"));
    execFileSync("mkfifo", [at("sub/.git/HEAD")]);
    symlinkSync("/etc/shadow", at("shadow"));
    symlinkSync("/dev/zero", at("zero"));
    symlinkSync("..", at("in/loop"));
    writeFileSync(at("secret"), "s");
    chmodSync(at("secret"), 0o000);
    writeFileSync(at("huge"), "");
    truncateSync(at("huge"), 50 * 2 ** 30);
    execFileSync("sh", ["-c", 'printf x >"$(printf "bad\\377name")"'], { cwd: session.folder });
  });
  expect(await session.types()).not.toContain("snapshot.failed");
  const { tree, skipped } = (await session.taken()).at(-1)!;
  expect(skipped.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: "huge", why: "too large" },
    { path: "other/.gitattributes", why: "neither file nor link" },
    { path: "other/.gitignore", why: "neither file nor link" },
    { path: "pipe", why: "neither file nor link" },
    { path: "secret", why: "unreadable" },
  ]);
  expect(existsSync(join(session.folder, "obeyed"))).toBe(false);
  const listed = inSnapshots("-c", "core.quotePath=true", "ls-tree", "-r", tree).split("\n").filter(Boolean);
  expect(listed.map((line) => line.replace(/^(\d+) \S+ \S+\t/, "$1 "))).toEqual([
    "100644 .gitattributes",
    "100644 .gitignore",
    "100644 Case.txt",
    '100644 "bad\\377name"',
    "100644 case.txt",
    "100644 deep/inner.txt",
    "100644 file.txt",
    "100644 in/a.txt",
    "120000 in/loop",
    '100644 "new\\nline.txt"',
    "100644 other.txt",
    "120000 shadow",
    "100644 sub/inner.txt",
    "120000 zero",
  ]);
  expect(inSnapshots("cat-file", "blob", `${tree}:file.txt`)).toBe("$Id$\r\n");
});

test("links on the way to what is covered lead to nothing outside, and keep nothing from being taken", async () => {
  const outside = join(stage.home, "made-outside");
  await session.call(() => {
    const at = (path: string) => join(session.folder, path);
    execFileSync("git", ["init", "--quiet", at("sub")]);
    for (const [folder, to] of Object.entries({
      a: `/oldroot${outside}`,
      b: "/oldroot/etc",
      c: "/nowhere",
      d: "../e",
    })) {
      session.write({ [`${folder}/file`]: "x\n" });
      symlinkSync(to, at(`${folder}/.git`));
    }
    mkdirSync(at("e"));
    execFileSync("mkfifo", [at("e/HEAD")]);
  });
  expect(await session.types()).not.toContain("snapshot.failed");
  const { tree, skipped } = (await session.taken()).at(-1)!;
  expect(existsSync(outside)).toBe(false);
  expect(inSnapshots("ls-tree", "-r", "--name-only", tree).split("\n")).toEqual(
    expect.arrayContaining(["a/file", "b/file", "c/file", "d/file"]),
  );
  expect(skipped).toEqual([{ path: "e/HEAD", why: "neither file nor link" }]);
});

test("a file that is larger than allowed is named, and the rest is there", async () => {
  stage.terms = { ...stage.terms, largestFile: 10 };
  await session.call(() => session.write({ "small.txt": "small\n", "large.txt": "larger than ten\n" }));
  expect((await session.taken()).at(-1)).toMatchObject({
    files: 1,
    skipped: [{ path: "large.txt", why: "too large" }],
  });
});

test("ignored files are left out, but for those that the rule names", async () => {
  await session.call(() =>
    session.write({ ".gitignore": "*.env\nout/\n", "a.env": "1", "out/x": "1", "b/c.env": "1" }),
  );
  expect((await session.taken()).at(-1)).toMatchObject({ files: 1 });
  stage.terms = { ...stage.terms, ignored: ["*.env"] };
  await session.call(() => session.write({ "a.env": "2" }));
  const { tree } = (await session.taken()).at(-1)!;
  expect(inSnapshots("ls-tree", "-r", "--name-only", tree).split("\n")).toEqual(
    expect.arrayContaining(["a.env", "b/c.env"]),
  );
});

test("any two can be compared, and one with what there is now", async () => {
  await session.call(() => session.write({ "file.txt": "two\n" }));
  await session.call(() => session.write({ "file.txt": "three\n" }));
  const [start, two, three] = (await session.taken()).map(({ snapshotId }) => snapshotId);
  const files = [{ path: "file.txt", insertions: 1, deletions: 1 }];
  expect(await stage.snapshots.diff(start!, three)).toMatchObject({ session: session.id, files, truncated: false });
  expect((await stage.snapshots.diff(three!, two)).patch).toContain("-three\n+two\n");
  session.write({ "file.txt": "four\n" });
  expect((await stage.snapshots.diff(two!, undefined)).patch).toContain("-two\n+four\n");
  expect(await session.taken()).toHaveLength(3);
  const other = await stage.session();
  await other.call(() => other.write({ "file.txt": "else\n" }));
  const elsewhere = (await other.taken()).at(-1)!.snapshotId;
  await expect(stage.snapshots.diff(start!, elsewhere)).rejects.toMatchObject({ code: "not-found" });
});

test("folders that cannot be looked into, and files in them, are told, and kept as they were", async () => {
  await session.call(() => session.write({ "in/b.txt": "b\n" }));
  await session.call(() => {
    session.write({ "in/a.txt": "two\n", "shut/x.txt": "x\n", "half/y.txt": "y\n", "file.txt": "two\n" });
    for (const [name, mode] of Object.entries({ in: 0, shut: 0o300, half: 0o600, "file.txt": 0 }))
      chmodSync(join(session.folder, name), mode);
  });
  const { tree, skipped } = (await session.taken()).at(-1)!;
  expect(skipped.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
    ["file.txt", "half/", "in/", "shut/"].map((path) => ({ path, why: "unreadable" })),
  );
  expect(inSnapshots("ls-tree", "-r", "--name-only", tree)).toBe("file.txt\nin/a.txt\nin/b.txt\nother.txt\n");
  expect(inSnapshots("cat-file", "blob", `${tree}:in/a.txt`)).toBe("a\n");
  const [start] = await session.taken();
  await expect(stage.snapshots.restore(start!.snapshotId, {}, by)).rejects.toMatchObject({ code: "workspace.overlap" });
  // Told once.
  await session.call(() => undefined);
  expect(await session.taken()).toHaveLength(3);
  for (const name of ["in", "shut", "half"]) chmodSync(join(session.folder, name), 0o755);
});

test("what many planted pipes are in is left out as a whole, and everything else is kept", async () => {
  await session.call(() => {
    session.write({ "file.txt": "two\n", "many/known.txt": "known\n" });
  });
  await session.call(() => {
    session.write({ "file.txt": "three\n", "many/known.txt": "changed\n" });
    const folders = Array.from({ length: 600 }, (_, at) => join(session.folder, "many", String(at)));
    for (const folder of folders) mkdirSync(folder);
    execFileSync(
      "mkfifo",
      folders.map((folder) => join(folder, ".gitattributes")),
    );
    execFileSync("mkfifo", [join(session.folder, "in/.gitignore")]);
  });
  const { tree, skipped } = (await session.taken()).at(-1)!;
  expect(skipped).toEqual([
    { path: "many/", why: "too many" },
    { path: "in/.gitignore", why: "neither file nor link" },
  ]);
  expect(inSnapshots("cat-file", "blob", `${tree}:file.txt`)).toBe("three\n");
  expect(inSnapshots("cat-file", "blob", `${tree}:many/known.txt`)).toBe("known\n");
});

test("a difference shows what was planted to hide it, and waits for nothing", async () => {
  await session.call(() => session.write({ "file.txt": "two\n", ".gitattributes": "* -diff\n" }));
  const [start, second] = (await session.taken()).map(({ snapshotId }) => snapshotId);
  rmSync(join(session.folder, ".gitattributes"));
  execFileSync("mkfifo", [join(session.folder, ".gitattributes")]);
  expect((await stage.snapshots.diff(start!, second)).patch).toContain("-one\n+two\n");
});

test("all files are restored, links are replaced and not followed, and that can be undone", async () => {
  const outside = join(stage.home, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "a.txt"), "mine\n");
  await session.call(() => session.write({ "file.txt": "two\n", "deep/er/x.txt": "x\n" }));
  const good = (await session.taken()).at(-1)!.snapshotId;
  await session.call(() => {
    rmSync(join(session.folder, "in"), { recursive: true });
    symlinkSync(outside, join(session.folder, "in"));
    rmSync(join(session.folder, "deep"), { recursive: true });
    execFileSync("mkfifo", [join(session.folder, "deep"), join(session.folder, ".gitattributes")]);
    session.write({ "file.txt": "spoilt\n", "extra.txt": "extra\n" });
  });
  const restored = await stage.snapshots.restore(good, {}, by);
  expect(stage.ended).toEqual([session.id]);
  expect(filesIn(session.folder)).toEqual({
    "deep/er/x.txt": "x\n",
    "file.txt": "two\n",
    "in/a.txt": "a\n",
    "other.txt": "other\n",
  });
  expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("mine\n");
  expect((await stage.snapshots.get(restored.after)).tree).toBe((await stage.snapshots.get(good)).tree);
  await stage.snapshots.restore(restored.before, {}, by);
  expect(readlinkSync(join(session.folder, "in"))).toBe(outside);
  expect(readFileSync(join(session.folder, "extra.txt"), "utf8")).toBe("extra\n");
});

test("processes end before files are restored, and what they wrote last can be had back", async () => {
  await using own = await openStage({
    atRest(_occupant, work) {
      worker.write({ "last.txt": "last\n" });
      return work();
    },
  });
  const worker = await own.session();
  await worker.call(() => worker.write({ "file.txt": "two\n" }));
  const [start] = await worker.taken();
  const restored = await own.snapshots.restore(start!.snapshotId, {}, by);
  expect(filesIn(worker.folder)).toEqual({ "file.txt": "one\n", "in/a.txt": "a\n", "other.txt": "other\n" });
  await own.snapshots.restore(restored.before, {}, by);
  expect(filesIn(worker.folder)).toMatchObject({ "file.txt": "two\n", "last.txt": "last\n" });
});

test("single paths are restored, what was not there then goes, and nothing else is touched", async () => {
  await session.call(() => session.write({ "in/a.txt": "b\n", "in/new.txt": "new\n", "file.txt": "two\n" }));
  const [start] = await session.taken();
  await stage.snapshots.restore(start!.snapshotId, { paths: ["in"] }, by);
  expect(filesIn(session.folder)).toEqual({ "file.txt": "two\n", "in/a.txt": "a\n", "other.txt": "other\n" });
  const nowhere = stage.snapshots.restore(start!.snapshotId, { paths: ["no*where"] }, by);
  await expect(nowhere).rejects.toMatchObject({ code: "not-found" });
  // Whatever runs there goes on: nothing could be restored.
  expect(stage.ended).toEqual([session.id]);
  expect(await session.types()).toEqual(expect.arrayContaining(["snapshot.taken", "snapshot.restored"]));
});

test("what was too large to be kept is not lost by restoring", async () => {
  await session.call(() => session.write({ "data.bin": "small\n", "file.txt": "two\n" }));
  const small = (await session.taken()).at(-1)!.snapshotId;
  const large = "z".repeat(2 ** 21);
  await session.call(() => session.write({ "data.bin": large, "file.txt": "three\n" }));
  const now = () => filesIn(session.folder);
  for (const paths of [undefined, ["data.bin"], ["./"]])
    await expect(stage.snapshots.restore(small, paths === undefined ? {} : { paths }, by)).rejects.toMatchObject({
      code: "workspace.overlap",
      message: expect.stringContaining("data.bin") as string,
    });
  expect(now()).toMatchObject({ "data.bin": large, "file.txt": "three\n" });
  expect(stage.ended).toEqual([]);
  await stage.snapshots.restore(small, { paths: ["file.txt"] }, by);
  expect(now()).toMatchObject({ "data.bin": large, "file.txt": "two\n" });
});

test.each(["../outside", "/etc/passwd", "in/../../x", ".."])("%s is no path of a workspace", async (path) => {
  await session.call(() => session.write({ "file.txt": "two\n" }));
  const [start] = await session.taken();
  await expect(stage.snapshots.restore(start!.snapshotId, { paths: [path] }, by)).rejects.toMatchObject({
    code: "not-found",
  });
  expect(stage.ended).toEqual([]);
});

test("nothing is restored in the middle of an activity", async () => {
  await session.call(() => session.write({ "file.txt": "two\n" }));
  const [start] = await session.taken();
  await session.append(event("activity.opened", { id: newId("activity") }));
  await expect(stage.snapshots.restore(start!.snapshotId, {}, by)).rejects.toMatchObject({ code: "session.busy" });
  expect(readFileSync(join(session.folder, "file.txt"), "utf8")).toBe("two\n");
});

function inSnapshots(...args: string[]): string {
  const folder = join(stage.home, "snapshots", session.id);
  return execFileSync("git", ["-c", "safe.directory=*", `--git-dir=${folder}`, ...args], { encoding: "utf8" });
}

function inRepo(...args: string[]): string {
  return execFileSync("git", ["-C", stage.repo, ...args], { encoding: "utf8" });
}

function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => !name.startsWith(".git"));
  const plain = names.filter((name) => lstatSync(join(folder, name)).isFile()).toSorted();
  return Object.fromEntries(plain.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
