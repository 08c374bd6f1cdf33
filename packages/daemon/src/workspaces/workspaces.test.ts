import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, type EventData, newId, type SessionId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { identify, ownerOf } from "../environments/index.ts";
import { historyOf, type Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { makeRepository } from "../testing/repository.ts";
import { bringBack } from "./bring-back.ts";
import { workspaceFolder } from "./folder.ts";
import { workspaceProjections } from "./projection.ts";
import { beginSession, by, registerProject, rowsOfOthers, writeFiles } from "./testing/on-record.ts";
import { openWorkspaces, type Workspaces, type WorkspacesOptions } from "./workspaces.ts";

let place: string;
let repo: string;
let log: Log;
let workspaces: Workspaces;
let session: SessionId;
const defects: string[] = [];
const ended: SessionId[] = [];

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), "corral-workspaces-"));
  repo = makeRepository(join(place, "repo"), { "file.txt": "one\n", "other.txt": "other\n" });
  log = await openSqliteLog({
    file: join(place, "corral.db"),
    projections: [...workspaceProjections, ...rowsOfOthers],
  });
  workspaces = open();
  session = await begin();
});

afterEach(async () => {
  await workspaces.close();
  await log.close();
  rmSync(place, { recursive: true, force: true });
  if (defects.length > 0) throw new Error(defects.splice(0).join("\n"));
  ended.length = 0;
});

test("after an activity with calls its work is brought back; after one without, nothing is looked at", async () => {
  write({ "file.txt": "two\n" });
  await activity({ withCall: false });
  await activity({ withCall: true });
  const brought = await until("workspace.brought-back");
  expect(brought).toEqual({
    branch: `corral/${session}`,
    commit: inRepo("rev-parse", `corral/${session}`).trim(),
    commits: 1,
    files: 1,
    insertions: 1,
    deletions: 1,
    leftovers: true,
    skipped: [],
  });
  await activity({ withCall: true });
  expect(await until("workspace.unchanged")).toEqual({});
  expect(inRepo("log", "-1", "--format=%B", `corral/${session}`)).toContain(
    "Committed by Corral on behalf of the user",
  );
});

test("an activity that began under another daemon is brought back when it ends", async () => {
  const id = newId("activity");
  await append(event("activity.opened", { id }));
  await append(event("call.started", { id: newId("call"), attempt: 1 }));
  await workspaces.close();
  workspaces = open();
  await workspaces.begin();
  write({ "file.txt": "two\n" });
  await append(event("activity.settled", { id, outcome: "done" }));
  expect(await until("workspace.brought-back")).toMatchObject({ files: 1 });
});

test("what a stopped daemon did not get to is brought at the next start, and a failure is told", async () => {
  await workspaces.close();
  write({ "file.txt": "two\n" });
  await activity({ withCall: true });
  workspaces = open();
  await workspaces.begin();
  expect(await until("workspace.brought-back")).toMatchObject({ files: 1 });
  rmSync(workspaceFolder(place, session), { recursive: true });
  await activity({ withCall: true });
  expect(await until("workspace.bring-back-failed")).toEqual({
    message: `There is no workspace at ${workspaceFolder(place, session)}.`,
  });
});

test("the difference has what is not committed, too", async () => {
  expect(await workspaces.diff(session)).toMatchObject({ files: [], patch: "", truncated: false });
  write({ "file.txt": "two\n", "new.bin": "\0\x01" });
  const refs = inRepo("for-each-ref");
  const { files, patch } = await workspaces.diff(session);
  expect(files).toEqual([
    { path: "file.txt", insertions: 1, deletions: 1 },
    { path: "new.bin", insertions: null, deletions: null },
  ]);
  expect(patch).toContain("-one\n+two\n");
  // A look changes nothing; who wants the branch asks for it.
  expect([inRepo("for-each-ref"), (await historyOf(log, session)).map(({ type }) => type)]).toEqual([
    refs,
    ["session.created", "workspace.prepared"],
  ]);
  const { branch, commit } = (await workspaces.bring(session, by)) as EventData<"workspace.brought-back">;
  expect(await workspaces.diff(session)).toMatchObject({ branch, commit, files });
});

test("a difference shows what was planted to hide it, and folders that cannot be looked into", async () => {
  write({ "file.txt": "two\n", ".gitattributes": "* -diff\n", "shut/x.txt": "x\n" });
  chmodSync(join(workspaceFolder(place, session), "shut"), 0);
  const { patch, skipped } = await workspaces.diff(session);
  expect(patch).toContain("-one\n+two\n");
  expect(skipped).toEqual([{ path: "shut/", why: "unreadable" }]);
  chmodSync(join(workspaceFolder(place, session), "shut"), 0o755);
});

test("a pipe in the user's folder that git would wait for keeps a merge from beginning", async () => {
  write({ "file.txt": "two\n" });
  mkdirSync(join(repo, "in"));
  execFileSync("mkfifo", [join(repo, "in/.gitattributes")]);
  await expect(workspaces.merge(session, {}, by)).rejects.toMatchObject({
    message: expect.stringContaining("in/.gitattributes is a pipe") as string,
  });
  expect(inRepo("log", "--format=%s", "main")).toBe("first\n");
});

test("a difference that nobody could read whole is cut, its files are all there", async () => {
  const line = `${"x".repeat(99)}\n`;
  write({ "a.txt": line.repeat(50_000), "b.txt": "b\n", "huge.txt": line.repeat(170_000) });
  const { files, patch, truncated } = await workspaces.diff(session);
  expect(files).toEqual([
    { path: "a.txt", insertions: 50_000, deletions: 0 },
    { path: "b.txt", insertions: 1, deletions: 0 },
    { path: "huge.txt", insertions: null, deletions: null },
  ]);
  expect(truncated).toBe(true);
  expect(patch.length).toBeLessThanOrEqual(4 * 2 ** 20);
  expect(patch.endsWith(`\n+${line}`)).toBe(true);
}, 60_000);

test("what no commit can hold is told with the difference, also when nothing is new", async () => {
  write({ "file.txt": "two\n" });
  execFileSync("mkfifo", [join(workspaceFolder(place, session), "fifo")]);
  const skipped = [{ path: "fifo", why: "neither file nor link" }];
  expect(await workspaces.diff(session)).toMatchObject({ skipped });
  expect(await workspaces.diff(session)).toMatchObject({ skipped });
});

test.each([
  [undefined, "fast-forward", 1],
  ["no-ff", "merge", 2],
  ["squash", "squash", 1],
] as const)("merging (%s) changes folder, branch and index, and is on record", async (how, deed, parents) => {
  write({ "file.txt": "two\n", "new/file.txt": "new\n" });
  rmSync(join(workspaceFolder(place, session), "other.txt"));
  writeFileSync(join(repo, "mine.txt"), "mine\n");
  const merged = await workspaces.merge(session, how === undefined ? {} : { how }, by);
  expect(merged).toMatchObject({ kind: "merged", how: deed, to: inRepo("rev-parse", "main").trim() });
  expect(inRepo("log", "-1", "--format=%P").trim().split(" ")).toHaveLength(parents);
  expect(inRepo("status", "--porcelain")).toBe("?? mine.txt\n");
  expect(readdirSync(repo).toSorted()).toEqual([".git", "file.txt", "mine.txt", "new"]);
  expect((await types()).slice(-3)).toEqual(["workspace.brought-back", "workspace.merge-begun", "workspace.merged"]);
  const [head, told] = [inRepo("rev-parse", "main"), await types()];
  // Said again, in whichever way and by whichever daemon, it is done already.
  for (const again of [how, "squash", undefined, "no-ff"] as const)
    expect(await workspaces.merge(session, again === undefined ? {} : { how: again }, by)).toEqual({
      ...merged,
      already: true,
    });
  await workspaces.close();
  workspaces = open();
  expect(await workspaces.merge(session, how === undefined ? {} : { how }, by)).toEqual({ ...merged, already: true });
  expect([inRepo("rev-parse", "main"), await types()]).toEqual([head, told]);
});

test.each([
  ["squash", "squash"],
  ["squash", undefined],
  ["squash", "no-ff"],
  ["no-ff", "squash"],
] as const)("what came after a merge (%s) is merged alone (%s), and it says so", async (first, second) => {
  write({ "file.txt": "two\n" });
  const { commit } = (await workspaces.merge(session, { how: first }, by)) as { commit: string };
  // Both go on from there: the one where the session had changed it, the other elsewhere.
  writeFileSync(join(repo, "other.txt"), "mine\n");
  inRepo("commit", "--quiet", "--all", "--message=mine");
  write({ "file.txt": "three\n" });
  const merged = await workspaces.merge(session, second === undefined ? {} : { how: second }, by);
  expect(merged).toMatchObject({ kind: "merged", since: commit });
  expect(inRepo("diff", "--stat=40", "main^", "main")).toContain("file.txt | 2 +-\n 1 file changed");
  expect(inRepo("show", "main:file.txt") + inRepo("show", "main:other.txt")).toBe("three\nmine\n");
  expect(inRepo("status", "--porcelain")).toBe("");
  expect(inRepo("fsck", "--no-reflogs", "--unreachable")).toBe("");
  expect(await workspaces.merge(session, { how: "squash" }, by)).toEqual({ ...merged, already: true });
});

test("a squashed merge that the user took back is done again, one that they rewrote is not", async () => {
  write({ "file.txt": "two\n" });
  const first = await workspaces.merge(session, { how: "squash" }, by);
  inRepo("commit", "--quiet", "--amend", "--message=in words of my own");
  const mine = inRepo("rev-parse", "main");
  expect(await workspaces.merge(session, { how: "squash" }, by)).toEqual({ kind: "nothing-to-merge" });
  expect(inRepo("rev-parse", "main")).toBe(mine);
  inRepo("reset", "--quiet", "--hard", "main^");
  expect(await workspaces.merge(session, { how: "squash" }, by)).toEqual({
    ...first,
    to: inRepo("rev-parse", "main").trim(),
  });
  expect(readFileSync(join(repo, "file.txt"), "utf8")).toBe("two\n");
});

test("a merge that was given up behind the branch's move is finished when it is said again", async () => {
  write({ "file.txt": "two\n" });
  const { commit: to, branch } = (await workspaces.bring(session, by)) as { commit: string; branch: string };
  const merge = { branch, commit: to, worktree: repo, from: inRepo("rev-parse", "main").trim(), to };
  await append(event("workspace.merge-begun", { ...merge, how: "fast-forward" }));
  await append(event("workspace.merge-given-up", { reason: "the disk was full" }));
  writeFileSync(join(repo, "file.txt"), "two\n");
  inRepo("update-ref", "refs/heads/main", to);
  expect(inRepo("status", "--porcelain")).toBe("MM file.txt\n");
  expect(await workspaces.merge(session, {}, by)).toEqual({ kind: "merged", ...merge, how: "fast-forward" });
  expect(inRepo("status", "--porcelain")).toBe("");
  expect((await types()).slice(-1)).toEqual(["workspace.merged"]);
});

test("conflicts, and changes that are in the way, are told and nothing is touched", async () => {
  write({ "file.txt": "two\n", "new.txt": "new\n" });
  for (const spoil of [
    () => writeFileSync(join(repo, "file.txt"), "mine\n"),
    () => writeFileSync(join(repo, "new.txt"), "mine\n"),
    () => {
      writeFileSync(join(repo, "file.txt"), "mine\n");
      inRepo("add", "file.txt");
    },
  ]) {
    spoil();
    const [before, head] = [inRepo("status", "--porcelain"), inRepo("rev-parse", "HEAD")];
    await expect(workspaces.merge(session, {}, by)).rejects.toMatchObject({ code: "workspace.overlap" });
    expect([inRepo("status", "--porcelain"), inRepo("rev-parse", "HEAD")]).toEqual([before, head]);
    inRepo("reset", "--quiet", "--hard");
    inRepo("clean", "--quiet", "--force");
  }
  writeFileSync(join(repo, "file.txt"), "mine\n");
  inRepo("commit", "--quiet", "--all", "--message=mine");
  await expect(workspaces.merge(session, {}, by)).rejects.toMatchObject({
    code: "workspace.conflict",
    message: expect.stringContaining("file.txt") as string,
  });
  expect(inRepo("status", "--porcelain")).toBe("");
  expect(existsSync(join(repo, ".git/MERGE_HEAD"))).toBe(false);
  expect(await types()).not.toContain("workspace.merge-begun");
});

test("a merge that was cut off anywhere is finished at the next start, and its lock reclaimed", async () => {
  write({ "file.txt": "two\n", "new.txt": "new\n" });
  rmSync(join(workspaceFolder(place, session), "other.txt"));
  await workspaces.bring(session, by);
  const [from, to] = [inRepo("rev-parse", "main").trim(), inRepo("rev-parse", `corral/${session}`).trim()];
  const merge = { branch: `corral/${session}`, commit: to, worktree: repo, from, to, how: "fast-forward" as const };
  const states: (() => void)[] = [
    () => undefined,
    () => writeFileSync(join(repo, ".git/index.lock"), lockOfTheDead),
    () => writeFileSync(join(repo, "file.txt"), "two\n"),
    () => rmSync(join(repo, "other.txt")),
    () => writeFileSync(join(repo, "new.txt"), "new\n"),
    () => inRepo("update-ref", "refs/heads/main", to),
  ];
  for (let count = 1; count <= states.length; count++) {
    for (const state of states.slice(0, count)) state();
    await append(event("workspace.merge-begun", merge));
    await workspaces.close();
    workspaces = open();
    await workspaces.mend();
    expect(await until("workspace.merged", count)).toEqual(merge);
    expect(inRepo("status", "--porcelain", "--branch")).toBe("## main\n");
    expect(inRepo("rev-parse", "HEAD").trim()).toBe(to);
    expect(readdirSync(join(repo, ".git")).filter((name) => /index./.test(name))).toEqual([]);
    inRepo("reset", "--quiet", "--hard", from);
  }
  for (const [nth, name] of ["file.txt", "new.txt"].entries()) {
    writeFileSync(join(repo, name), "mine since\n");
    await append(event("workspace.merge-begun", merge));
    await workspaces.mend();
    const reason = expect.stringContaining(name) as string;
    expect(await until("workspace.merge-given-up", nth + 1)).toEqual({ reason });
    expect(readFileSync(join(repo, name), "utf8")).toBe("mine since\n");
    expect(defects.splice(0)).toEqual([expect.stringContaining("was given up")]);
    inRepo("reset", "--quiet", "--hard", from);
  }
});

test("what the user has on the way to a new file, below it, or in a repository there, is not lost in a merge", async () => {
  write({ "way/new.txt": "new\n", "inner/file.txt": "new\n", plain: "new\n" });
  const spoils: Record<string, () => void> = {
    "way/new.txt": () => writeFileSync(join(repo, "way"), "mine\n"),
    plain: () => {
      mkdirSync(join(repo, "plain"));
      writeFileSync(join(repo, "plain/mine.txt"), "mine\n");
    },
    "inner/file.txt": () => {
      execFileSync("git", ["init", "--quiet", join(repo, "inner")]);
      writeFileSync(join(repo, "inner/file.txt"), "mine\n");
    },
  };
  for (const [told, spoil] of Object.entries(spoils)) {
    spoil();
    const before = inRepo("status", "--porcelain");
    await expect(workspaces.merge(session, {}, by)).rejects.toMatchObject({
      code: "workspace.overlap",
      message: `Uncommitted changes of yours are in the way: ${told}.`,
    });
    expect(inRepo("status", "--porcelain")).toBe(before);
    inRepo("clean", "--quiet", "--force", "--force", "-d");
  }
});

test("a merge waits until the user is through with one of their own", async () => {
  write({ "new.txt": "new\n" });
  inRepo("checkout", "--quiet", "-b", "side");
  writeFileSync(join(repo, "file.txt"), "side\n");
  inRepo("commit", "--quiet", "--all", "--message=side");
  inRepo("checkout", "--quiet", "main");
  writeFileSync(join(repo, "file.txt"), "main\n");
  inRepo("commit", "--quiet", "--all", "--message=main");
  expect(() => inRepo("merge", "side")).toThrow("Command failed");
  writeFileSync(join(repo, "file.txt"), "resolved\n");
  await expect(workspaces.merge(session, {}, by)).rejects.toMatchObject({ code: "workspace.busy" });
  inRepo("add", "file.txt");
  await expect(workspaces.merge(session, {}, by)).rejects.toMatchObject({ code: "workspace.busy" });
  inRepo("commit", "--quiet", "--message=resolved");
  expect(await workspaces.merge(session, {}, by)).toMatchObject({ kind: "merged" });
  expect(readFileSync(join(repo, "file.txt"), "utf8")).toBe("resolved\n");
});

/** Whose process number is anybody's by now. */
const lockOfTheDead = `corral ${JSON.stringify({ pid: 1, startTime: "never", bootId: "before" })}\n`;

test("two sessions that are merged at once wait for each other", async () => {
  write({ "file.txt": "two\n" });
  const first = session;
  session = await begin();
  write({ "second.txt": "second\n" });
  const merged = await Promise.all([workspaces.merge(first, {}, by), workspaces.merge(session, {}, by)]);
  expect(merged).toMatchObject([{ kind: "merged" }, { kind: "merged" }]);
  expect(inRepo("status", "--porcelain")).toBe("");
  expect(readFileSync(join(repo, "file.txt"), "utf8") + readFileSync(join(repo, "second.txt"), "utf8")).toBe(
    "two\nsecond\n",
  );
});

test("locks that a killed git of Corral's left are reclaimed: of the index, of HEAD, of the branch", async () => {
  write({ "file.txt": "two\n" });
  await workspaces.bring(session, by);
  const [from, to] = [inRepo("rev-parse", "main").trim(), inRepo("rev-parse", `corral/${session}`).trim()];
  const merge = { branch: `corral/${session}`, commit: to, worktree: repo, from, to, how: "fast-forward" as const };
  await append(event("workspace.merge-begun", merge));
  for (const [name, text] of [
    ["index.lock", lockOfTheDead],
    [`index.lock.${randomUUID()}`, lockOfTheDead],
    ["HEAD.lock", ""],
    ["refs/heads/main.lock", `${to}\n`],
    ["index.corral.lock", "half"],
  ] as const)
    writeFileSync(join(repo, ".git", name), text);
  expect(() => inRepo("commit", "--allow-empty", "--message=refused")).toThrow(/index.lock/);
  await workspaces.mend();
  expect(await until("workspace.merged")).toEqual(merge);
  expect(locksIn(repo)).toEqual([]);
  inRepo("commit", "--quiet", "--allow-empty", "--message=goes again");
});

test("what daemons left that were killed before they had the lock goes with the next merge; a living one's stays", async () => {
  write({ "file.txt": "two\n" });
  await workspaces.bring(session, by);
  const beside = () => join(repo, ".git", `index.lock.${randomUUID()}`);
  const [dead, empty, living] = [beside(), beside(), beside()];
  writeFileSync(dead, lockOfTheDead);
  writeFileSync(empty, "");
  utimesSync(empty, 0, 0);
  writeFileSync(living, `corral ${JSON.stringify(identify(process.pid))}\n`);
  await workspaces.merge(session, {}, by);
  expect([dead, empty, living].map((path) => existsSync(path))).toEqual([false, false, true]);
});

test("so are those of a branch that was being moved or dropped, and nobody else's", async () => {
  write({ "file.txt": "two\n" });
  const { commit, branch } = (await workspaces.bring(session, by)) as { commit: string; branch: string };
  write({ "file.txt": "three\n" });
  writeFileSync(`${workspaceFolder(place, session)}.depot.tip`, "a".repeat(40));
  writeFileSync(join(repo, `.git/refs/heads/${branch}.lock`), "");
  expect(await workspaces.bring(session, by)).toMatchObject({ kind: "brought", branch, before: commit });
  expect(locksIn(repo)).toEqual([]);
  const tip = inRepo("rev-parse", branch).trim();
  await append(event("workspace.discarded", { folder: join(place, "discarded", `${session}-x`), branch, commit: tip }));
  inRepo("pack-refs", "--all");
  mkdirSync(join(place, "discarded", `${session}-x`), { recursive: true });
  renameSync(workspaceFolder(place, session), join(place, "discarded", `${session}-x`, "workspace"));
  for (const name of [`refs/heads/${branch}.lock`, "packed-refs.lock", "packed-refs.new"]) {
    mkdirSync(join(repo, ".git", name, ".."), { recursive: true });
    writeFileSync(join(repo, ".git", name), "");
  }
  writeFileSync(join(repo, ".git/refs/heads/main.lock"), "");
  await workspaces.mend();
  expect(inRepo("branch", "--list", "corral/*")).toBe("");
  expect(locksIn(repo)).toEqual(["refs/heads/main.lock"]);
});

function locksIn(folder: string): string[] {
  const all = readdirSync(join(folder, ".git"), { recursive: true, encoding: "utf8" });
  return all.filter((name) => /\.lock|\.new$|index\./.test(name));
}

test("what was brought and not told is told the next time", async () => {
  write({ "file.txt": "two\n" });
  const brought = (await workspaces.bring(session, by)) as { commit: string };
  expect(await workspaces.bring(session, by)).toEqual({ kind: "nothing-new" });
  const untold = await begin();
  const { path, base, readable, variables } = (await historyOf(log, untold)).find(
    ({ type }) => type === "workspace.prepared",
  )!.data as EventData<"workspace.prepared">;
  expect(brought.commit).toMatch(/^[0-9a-f]{40}$/);
  writeFileSync(join(path, "file.txt"), "three\n");
  const at = { repo, workspace: path, depot: `${path}.depot`, readable, owner: ownerOf(path), variables };
  const cut = { ...at, head: base, base, branch: `corral/${untold}`, before: undefined, message: "left\n" };
  const first = await bringBack(cut);
  expect(await workspaces.bring(untold, by)).toMatchObject({
    kind: "brought",
    branch: `corral/${untold}`,
    commit: first.kind === "brought" ? first.commit : "",
  });
  expect(await workspaces.bring(untold, by)).toEqual({ kind: "nothing-new" });
});

test("a lock of somebody else's is respected", async () => {
  write({ "file.txt": "two\n" });
  writeFileSync(join(repo, ".git/index.lock"), "");
  await expect(workspaces.merge(session, {}, by)).rejects.toMatchObject({ code: "workspace.busy" });
  expect(readFileSync(join(repo, ".git/index.lock"), "utf8")).toBe("");
  expect(readFileSync(join(repo, "file.txt"), "utf8")).toBe("one\n");
});

test("nothing that came with the branch is obeyed in a merge", async () => {
  const ran = join(place, "ran");
  const script = join(place, "evil.sh");
  writeFileSync(script, `#!/bin/sh\ntouch ${ran}\ncat\n`, { mode: 0o755 });
  mkdirSync(join(repo, ".git/hooks"), { recursive: true });
  for (const hook of ["post-merge", "post-checkout", "reference-transaction", "post-index-change"])
    writeFileSync(join(repo, ".git/hooks", hook), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
  write({
    ".gitattributes": "* filter=evil diff=evil merge=evil\n",
    ".gitconfig": `[filter "evil"]\n\tsmudge = ${script}\n`,
    "file.txt": "two\n",
  });
  expect(await workspaces.diff(session)).toMatchObject({ truncated: false });
  expect(await workspaces.merge(session, {}, by)).toMatchObject({ kind: "merged" });
  expect(existsSync(ran)).toBe(false);
  inRepo("checkout", "--quiet", "-b", "probe");
  expect(existsSync(ran), "plain git runs the hooks").toBe(true);
});

test("repositories inside of it do not reach the user's folder, and are told of before", async () => {
  const workspace = workspaceFolder(place, session);
  const evil = `touch ${join(place, "obeyed")}`;
  inWorkspace("init", "-q", "evil");
  inWorkspace("-C", "evil", "commit", "-q", "--allow-empty", "-m", "inner");
  for (const config of ["evil/.git/config", "bare/config"]) {
    mkdirSync(join(workspace, config, ".."), { recursive: true });
    inWorkspace("config", "-f", config, "core.fsmonitor", evil);
  }
  write({
    "bare/HEAD": "ref: refs/heads/main\n",
    "bare/objects/x": "",
    "bare/refs/x": "",
  });
  inWorkspace("add", "evil", "bare", "file.txt");
  inWorkspace("commit", "-q", "-m", "with another inside");
  inRepo("config", "submodule.recurse", "true");
  expect((await workspaces.diff(session)).flagged).toEqual([
    { path: "bare/HEAD", why: "git takes its folder for a repository, and obeys the config beside it" },
    { path: "evil", why: "another repository stands there: its own settings are obeyed once it is fetched" },
  ]);
  await workspaces.merge(session, {}, by);
  expect(readdirSync(join(repo, "evil"))).toEqual([]);
  expect(inRepo("status", "--porcelain")).toBe("");
  expect(existsSync(join(place, "obeyed"))).toBe(false);
  inWorkspace("status");
  expect(existsSync(join(place, "obeyed")), "plain git obeys it in the workspace").toBe(true);
});

test("settings of submodules that git refuses to trust are not brought", async () => {
  write({ ".gitmodules": evilModules });
  await expect(workspaces.merge(session, {}, by)).rejects.toThrow('".gitmodules" in the session\'s commit');
  expect(existsSync(join(repo, ".gitmodules"))).toBe(false);
});

test("a bring-back or a merge that is refused leaves no object in the user's repo, however often it is tried", async () => {
  write({ "file.txt": "two\n" });
  await workspaces.bring(session, by);
  const before = objectsIn(repo);
  writeFileSync(join(repo, "file.txt"), "mine\n");
  const refuses = async (code: string) => {
    for (const how of ["squash", "no-ff"] as const)
      await expect(workspaces.merge(session, { how }, by)).rejects.toMatchObject({ code });
  };
  await refuses("workspace.overlap");
  expect(objectsIn(repo)).toEqual(before);
  inRepo("commit", "--quiet", "--all", "--message=mine");
  const mine = objectsIn(repo);
  await refuses("workspace.conflict");
  expect(objectsIn(repo)).toEqual(mine);
  write({ ".gitmodules": evilModules });
  for (let n = 0; n < 2; n++) await expect(workspaces.bring(session, by)).rejects.toThrow("does not accept");
  expect(objectsIn(repo)).toEqual(mine);
  // Many come as a pack.
  write(Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`many/${n}.txt`, `${n}\n`])));
  for (let n = 0; n < 2; n++) await expect(workspaces.bring(session, by)).rejects.toThrow("does not accept");
  expect(objectsIn(repo)).toEqual(mine);
});

const evilModules = '[submodule "a"]\n\tpath = a\n\turl = ./a\n\tupdate = !evil\n';

/** All that is in its object folder. */
function objectsIn(folder: string): string[] {
  return readdirSync(join(folder, ".git/objects"), { recursive: true, encoding: "utf8" }).toSorted();
}

test("objects that a killed daemon had not taken in yet are gone after the next start", async () => {
  const before = objectsIn(repo);
  const left = join(repo, ".git/objects", `tmp_objdir-corral-${randomUUID()}`);
  mkdirSync(join(left, "aa"), { recursive: true });
  writeFileSync(join(left, "aa", "b".repeat(38)), "half");
  writeFileSync(`${workspaceFolder(place, session)}.incoming`, left);
  await workspaces.mend();
  expect(objectsIn(repo)).toEqual(before);
  expect(readdirSync(join(place, "workspaces")).filter((name) => name.endsWith(".incoming"))).toEqual([]);
});

test("work that is refused can be discarded, and had back", async () => {
  write({ "file.txt": "two\n" });
  const { commit, branch } = (await workspaces.bring(session, by)) as { commit: string; branch: string };
  write({ ".gitmodules": evilModules });
  expect(await workspaces.discard(session, by)).toEqual({ kind: "discarded", branch, commit });
  expect(existsSync(workspaceFolder(place, session))).toBe(false);
  expect(inRepo("branch", "--list", "corral/*")).toBe("");
  expect(await workspaces.restore(session, by)).toEqual({ kind: "restored", branch, commit });
  expect(readFileSync(join(workspaceFolder(place, session), ".gitmodules"), "utf8")).toBe(evilModules);
  rmSync(join(workspaceFolder(place, session), ".gitmodules"));
  expect(await workspaces.merge(session, {}, by)).toMatchObject({ kind: "merged", commit });
});

test("what was never brought because it is refused can be discarded, also when the user's repo is gone", async () => {
  write({ ".gitmodules": evilModules });
  expect(await workspaces.discard(session, by)).toEqual({ kind: "discarded" });
  expect(await workspaces.restore(session, by)).toEqual({ kind: "restored" });
  rmSync(join(workspaceFolder(place, session), ".gitmodules"));
  write({ "file.txt": "two\n" });
  const { commit, branch } = (await workspaces.bring(session, by)) as { commit: string; branch: string };
  renameSync(repo, `${repo}.away`);
  expect(await workspaces.discard(session, by)).toEqual({ kind: "discarded", branch, commit });
  expect(existsSync(workspaceFolder(place, session))).toBe(false);
  renameSync(`${repo}.away`, repo);
});

test("what is discarded leaves the repo and can be brought back as it was", async () => {
  write({ "file.txt": "two\n", "ignored.log": "kept too\n", ".gitignore": "*.log\n" });
  const { commit } = (await workspaces.bring(session, by)) as { commit: string };
  expect(await workspaces.discard(session, by)).toEqual({ kind: "discarded", branch: `corral/${session}`, commit });
  expect(ended).toEqual([session]);
  expect(inRepo("branch", "--list", "corral/*")).toBe("");
  expect(existsSync(workspaceFolder(place, session))).toBe(false);
  await expect(workspaces.diff(session)).rejects.toMatchObject({ code: "workspace.none" });
  inRepo("gc", "--quiet", "--prune=now");
  expect(await workspaces.restore(session, by)).toEqual({ kind: "restored", branch: `corral/${session}`, commit });
  expect(inRepo("rev-parse", `corral/${session}`).trim()).toBe(commit);
  expect(readFileSync(join(workspaceFolder(place, session), "ignored.log"), "utf8")).toBe("kept too\n");
  expect(readdirSync(join(place, "discarded"))).toEqual([]);
  write({ "file.txt": "three\n" });
  expect(await workspaces.bring(session, by)).toMatchObject({
    kind: "brought",
    branch: `corral/${session}`,
    before: commit,
  });
  await expect(workspaces.restore(session, by)).rejects.toMatchObject({ code: "workspace.none" });
});

test("processes end before a workspace is discarded or cleared, and the branch has what they wrote last", async () => {
  await workspaces.close();
  let ends = 0;
  workspaces = open({
    now: () => Date.now() + 40 * 86_400_000,
    endEnvironments: () => Promise.resolve(write({ "last.txt": `${(ends += 1)}\n` })),
  });
  const written = () => inRepo("show", `corral/${session}:last.txt`);
  await workspaces.discard(session, by);
  await workspaces.restore(session, by);
  expect(written()).toBe("1\n");
  await activity({ withCall: false });
  await workspaces.cleanUp();
  expect(written()).toBe("2\n");
  expect([ends, existsSync(workspaceFolder(place, session))]).toEqual([2, false]);
});

test("a discard that was cut off is finished, an undo that was is undone, before the session goes on", async () => {
  write({ "file.txt": "two\n" });
  const { commit, branch } = (await workspaces.bring(session, by)) as { commit: string; branch: string };
  const folder = join(place, "discarded", `${session}-x`);
  await append(event("workspace.discarded", { folder, branch, commit }));
  await workspaces.mend();
  expect(existsSync(workspaceFolder(place, session))).toBe(false);
  expect(inRepo("branch", "--list", "corral/*")).toBe("");
  // What the user makes of it afterwards is theirs.
  inRepo("update-ref", `refs/heads/${branch}`, commit);
  await workspaces.mend();
  expect(inRepo("branch", "--list", "corral/*")).toContain(branch);
  inRepo("update-ref", "-d", `refs/heads/${branch}`);
  // As an undo leaves it that was killed after it had moved everything.
  rmSync(join(folder, "dropped"));
  for (const [name, to] of [
    ["workspace", ""],
    ["depot", ".depot"],
    ["record.json", ".json"],
  ] as const)
    execFileSync("mv", [join(folder, name), `${workspaceFolder(place, session)}${to}`]);
  inRepo("update-ref", `refs/heads/${branch}`, commit);
  await workspaces.mend();
  expect(existsSync(workspaceFolder(place, session))).toBe(false);
  expect(await workspaces.restore(session, by)).toMatchObject({ kind: "restored", commit });
  expect(readFileSync(join(workspaceFolder(place, session), "file.txt"), "utf8")).toBe("two\n");
});

test("a discard that cannot be finished keeps no other from being so", async () => {
  write({ "file.txt": "two\n" });
  const [first, folder] = [session, join(place, "discarded", "gone")];
  const { commit, branch } = (await workspaces.bring(first, by)) as { commit: string; branch: string };
  await append(event("workspace.discarded", { folder, branch, commit }));
  session = await begin();
  write({ "file.txt": "three\n" });
  await append(event("workspace.discarded", { folder: join(place, "discarded", "other") }));
  renameSync(repo, `${repo}.away`);
  await workspaces.mend();
  renameSync(`${repo}.away`, repo);
  expect(defects.splice(0)).toEqual([expect.stringContaining(`what was discarded of ${first}`)]);
  expect(existsSync(workspaceFolder(place, session))).toBe(false);
});

test("a branch that the user went on with outlives a discard", async () => {
  write({ "file.txt": "two\n" });
  await workspaces.bring(session, by);
  inRepo("checkout", "--quiet", `corral/${session}`);
  await workspaces.discard(session, by);
  expect(inRepo("branch", "--show-current").trim()).toBe(`corral/${session}`);
});

test("what a person changed by hand is recorded as theirs", async () => {
  write({ "file.txt": "by hand\n" });
  await workspaces.bring(session, { actor: "person:ada" }, { edited: true });
  const stored = (await historyOf(log, session)).find(({ type }) => type === "workspace.brought-back");
  expect(stored).toMatchObject({ actor: "person:ada", data: { edited: true } });
  expect(inRepo("log", "-1", "--format=%s", `corral/${session}`)).toContain("Changes made by hand");
});

test("a session in the middle of an activity is neither merged nor discarded", async () => {
  await append(event("activity.opened", { id: newId("activity") }));
  for (const deed of [workspaces.merge(session, {}, by), workspaces.discard(session, by)])
    await expect(deed).rejects.toMatchObject({ code: "session.busy" });
});

test("a workspace that rested long goes, its branch stays; discarded ones go in time", async () => {
  write({ "file.txt": "two\n" });
  await activity({ withCall: false });
  const later = open({ now: () => Date.now() + 40 * 86_400_000 });
  const removed: string[] = [];
  let isKept = false;
  await workspaces.close();
  workspaces = open({
    now: () => Date.now() + 40 * 86_400_000,
    beforeRemoval: (_, folder) => {
      removed.push(readFileSync(join(folder, "file.txt"), "utf8"));
      return Promise.resolve(isKept);
    },
  });
  await later.close();
  await workspaces.cleanUp();
  expect(existsSync(workspaceFolder(place, session)), "what could not be kept stays").toBe(true);
  isKept = true;
  removed.length = 0;
  await workspaces.cleanUp();
  expect(removed).toEqual(["two\n"]);
  // Snapshots still borrow what the user's repo is asked to keep.
  expect(readdirSync(join(place, "workspaces")).filter((name) => name !== ".trash")).toEqual([`${session}.kept`]);
  expect(await until("workspace.cleared")).toEqual({ commit: inRepo("rev-parse", `corral/${session}`).trim() });
  mkdirSync(join(place, "discarded/old"), { recursive: true });
  await workspaces.cleanUp();
  expect(existsSync(join(place, "discarded/old"))).toBe(false);
});

function open(changes: Partial<WorkspacesOptions> = {}): Workspaces {
  return openWorkspaces({
    log,
    home: place,
    spares: { fill: () => Promise.resolve(), close: () => Promise.resolve() },
    endEnvironments: (id) => Promise.resolve(void ended.push(id)),
    terms: () => ({ idleDays: 30, discardedDays: 14 }),
    onDefect: (what, error) => void defects.push(`${what}: ${String(error)}`),
    ...changes,
  });
}

async function begin(): Promise<SessionId> {
  const id = newId("session");
  await beginSession(log, { home: place, repo, project: await registerProject(log, repo), id });
  return id;
}

async function activity({ withCall }: { withCall: boolean }): Promise<void> {
  const id = newId("activity");
  await append(event("activity.opened", { id }));
  if (withCall) await append(event("call.started", { id: newId("call"), attempt: 1 }));
  await append(event("activity.settled", { id, outcome: "done" }));
}

async function append(made: ReturnType<typeof event>): Promise<void> {
  await log.append({ stream: session, ...by, events: [made] });
}

async function types(): Promise<string[]> {
  return (await historyOf(log, session)).map(({ type }) => type);
}

async function until(type: string, nth = 1): Promise<unknown> {
  const enough = new AbortController();
  let seen = 0;
  for await (const page of log.tail({ after: 0, stream: session }, enough.signal)) {
    for (const each of "kind" in page ? [] : page) if (each.type === type && ++seen === nth) return each.data;
  }
  throw new Error("the log ended");
}

function write(files: Record<string, string>): void {
  writeFiles(workspaceFolder(place, session), files);
}

function inWorkspace(...args: string[]): string {
  const who = ["-c", "safe.directory=*", "-c", "user.name=a", "-c", "user.email=a@b"];
  return execFileSync("git", [...who, ...args], {
    cwd: workspaceFolder(place, session),
    encoding: "utf8",
    stdio: "pipe",
  });
}

function inRepo(...args: string[]): string {
  return execFileSync("git", ["-C", repo, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
