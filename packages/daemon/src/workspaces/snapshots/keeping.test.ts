import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, newId } from "@corral/protocol";
import { expect, test } from "vitest";
import { by, openStage, type SnapshotStage, type StageSession } from "./testing/stage.ts";

test("old snapshots go, the last stays, and what only they needed is removed here and in storage", async () => {
  await using stage = await openStage();
  const session = await stage.session();
  const noise = (nth: number) => Array.from({ length: 3000 }, (_, at) => `${(at * 7919 * nth) % 104729}`).join(" ");
  for (const nth of [1, 2, 3])
    await session.call(() => session.write({ "file.txt": noise(nth), "kept.txt": "kept\n" }));
  const all = await session.taken();
  stage.terms = { ...stage.terms, most: 2 };
  await stage.snapshots.expire();
  const left = await stage.snapshots.list(session.id);
  expect(left.map(({ id }) => id)).toEqual(all.slice(-2).map(({ snapshotId }) => snapshotId));
  await expect(stage.snapshots.get(all[1]!.snapshotId)).rejects.toMatchObject({ code: "not-found" });
  expect(stored(stage)).toHaveLength(1);
  expect(hasFile(stage, session, all[1]!.tree)).toBe(false);
  expect(hasFile(stage, session, all[2]!.tree)).toBe(true);
  stage.terms = { ...stage.terms, most: 100, days: 1 };
  stage.now += 2 * 86_400_000;
  await stage.snapshots.expire();
  expect(await stage.snapshots.list(session.id)).toHaveLength(1);
  await stage.snapshots.restore(all[3]!.snapshotId, {}, by);
  expect(readFileSync(join(session.folder, "file.txt"), "utf8")).toBe(noise(3));
  // The next one builds on what was packed anew.
  await session.call(() => session.write({ "file.txt": "after\n" }));
  expect(await session.types()).not.toContain("snapshot.failed");
  await stage.snapshots.remove(session.id);
  expect([stored(stage), readdirSync(join(stage.home, "snapshots"))]).toEqual([[], []]);
});

test("when the repository is gone, everything is brought back from storage", async () => {
  await using stage = await openStage();
  const session = await stage.session();
  for (const text of ["two\n", "three\n", "four\n"]) await session.call(() => session.write({ "file.txt": text }));
  stage.terms = { ...stage.terms, most: 3 };
  await stage.snapshots.expire();
  await session.call(() => session.write({ "file.txt": "five\n" }));
  const [two, three] = await stage.snapshots.list(session.id);
  rmSync(join(stage.home, "snapshots"), { recursive: true });
  await stage.reopen();
  expect((await stage.snapshots.diff(two!.id, three!.id)).patch).toContain("-two\n+three\n");
  rmSync(join(stage.home, "snapshots"), { recursive: true });
  await session.call(() => session.write({ "file.txt": "six\n" }));
  expect((await session.taken()).at(-1)).toMatchObject({ files: 1, insertions: 1, deletions: 1 });
  await stage.snapshots.restore(two!.id, {}, by);
  expect(readFileSync(join(session.folder, "file.txt"), "utf8")).toBe("two\n");
});

test.each(["removed", "expired"] as const)(
  "what sessions did alike stays for one when it is %s in another",
  async (how) => {
    await using stage = await openStage();
    const [one, other] = [await stage.session(), await stage.session()];
    for (const session of [one, other])
      for (const text of ["two\n", "three\n"]) await session.call(() => session.write({ "file.txt": text }));
    await one.call(() => one.write({ "file.txt": "four\n" }));
    stage.terms = { ...stage.terms, most: 3 };
    await (how === "removed" ? stage.snapshots.remove(one.id) : stage.snapshots.expire());
    rmSync(join(stage.home, "snapshots", other.id), { recursive: true });
    const [, two, three] = await stage.snapshots.list(other.id);
    expect((await stage.snapshots.diff(two!.id, three!.id)).patch).toContain("-two\n+three\n");
  },
);

test.each(["head", "dirty"] as const)("another session begins with what a snapshot (of %s) holds", async (from) => {
  await using stage = await openStage();
  writeFileSync(join(stage.repo, "mine.txt"), "mine\n");
  const first = await stage.session({ from });
  await first.call(() => first.write({ "file.txt": "two\n", "new.txt": "new\n" }));
  const { snapshotId } = (await first.taken()).at(-1)!;
  const id = newId("session");
  const fork = await stage.snapshots.fork(snapshotId, { project: stage.project, session: id });
  await stage.snapshots.remove(first.id);
  const second = await stage.session({ fork }, id);
  const seen = Object.fromEntries(
    readdirSync(second.folder)
      .filter((name) => name.endsWith(".txt"))
      .map((name) => [name, readFileSync(join(second.folder, name), "utf8")]),
  );
  const mine = from === "dirty" ? { "mine.txt": "mine\n" } : {};
  expect(seen).toEqual({ "file.txt": "two\n", ...mine, "new.txt": "new\n", "other.txt": "other\n" });
  const inCopy = (...args: string[]) =>
    execFileSync("git", ["-c", "safe.directory=*", "-C", second.folder, ...args], { encoding: "utf8" });
  expect(inCopy("status", "--porcelain")).toBe("");
  expect(inCopy("log", "--format=%an %s").split("\n").slice(0, 2)).toEqual([
    `Ada Files of ${first.id} as of ${snapshotId}`,
    "Ada first",
  ]);
  await second.call(() => second.write({ "file.txt": "three\n" }));
  expect((await second.taken()).map(({ reason, files }) => [reason, files])).toEqual([
    ["start", 0],
    ["calls", 1],
  ]);
  const elsewhere = stage.snapshots.fork(snapshotId, { project: newId("project"), session: newId("session") });
  await expect(elsewhere).rejects.toMatchObject({ code: "not-found" });
});

test("a copy that could borrow nothing, and one of uncommitted work, keep all they need", async () => {
  await using stage = await openStage({ in: tmpdir() });
  writeFileSync(join(stage.repo, "mine.txt"), "mine\n");
  const session = await stage.session({ from: "dirty" });
  expect(await session.taken()).toMatchObject([{ reason: "start", pack: expect.any(String) as string }]);
  rmSync(join(session.folder, ".git"), { recursive: true });
  await session.call(() => session.write({ "file.txt": "two\n" }));
  const [start] = await session.taken();
  rmSync(join(session.folder, "mine.txt"));
  await stage.snapshots.restore(start!.snapshotId, {}, by);
  expect(readFileSync(join(session.folder, "mine.txt"), "utf8")).toBe("mine\n");
  expect(readFileSync(join(session.folder, "file.txt"), "utf8")).toBe("one\n");
});

test("in place, what was there at the beginning is kept before anything is done", async () => {
  await using stage = await openStage();
  writeFileSync(join(stage.repo, "mine.txt"), "mine\n");
  const session = await stage.session("in place");
  await session.call(() => {
    rmSync(join(stage.repo, "mine.txt"));
    writeFileSync(join(stage.repo, "file.txt"), "spoilt\n");
  });
  const [start, second] = await session.taken();
  expect([start, second]).toMatchObject([
    { reason: "start", previous: null, files: 1 },
    { reason: "calls", previous: start?.snapshotId, files: 2 },
  ]);
  await stage.snapshots.restore(start!.snapshotId, { paths: ["mine.txt"] }, by);
  expect(readFileSync(join(stage.repo, "mine.txt"), "utf8")).toBe("mine\n");
  expect(readFileSync(join(stage.repo, "file.txt"), "utf8")).toBe("spoilt\n");
});

test("one that fails is told, fails nothing else, and is covered by the next, with its calls", async () => {
  let trouble: Error | undefined = new Error("there is no room");
  await using stage: SnapshotStage = await openStage({
    terms: () => {
      if (trouble !== undefined) throw trouble;
      return stage.terms;
    },
  });
  const session = await stage.session();
  const first = await session.call(() => session.write({ "file.txt": "two\n" }));
  expect((await session.types()).slice(-2)).toEqual(["snapshot.taken", "snapshot.failed"]);
  trouble = undefined;
  const second = await session.call(() => session.write({ "new.txt": "new\n" }));
  expect((await session.taken()).at(-1)).toMatchObject({ calls: [first, second], files: 2 });
});

test("what a stopped daemon did not get to is taken at the next start, and names the calls", async () => {
  await using stage = await openStage();
  const session = await stage.session();
  await stage.snapshots.close();
  const [activity, call] = [newId("activity"), newId("call")];
  await session.append(event("activity.opened", { id: activity }));
  await session.append(event("call.started", { id: call, attempt: 1 }));
  session.write({ "file.txt": "two\n" });
  await session.append(event("call.settled", { id: call, result: null }));
  await stage.reopen();
  await stage.snapshots.begin();
  await stage.snapshots.settled(session.id);
  expect((await session.taken()).at(-1)).toMatchObject({ reason: "calls", calls: [call], files: 1 });
  const folder = join(stage.home, "snapshots", session.id);
  // A lock of one that was killed, and what a loss of power left of an index.
  writeFileSync(join(folder, "index.lock"), "");
  writeFileSync(join(folder, "index"), "DIRC torn");
  await session.call(() => session.write({ "file.txt": "three\n" }));
  expect((await session.taken()).at(-1)).toMatchObject({ files: 1 });
  expect(existsSync(join(folder, "index.lock"))).toBe(false);
});

test("of more files than are kept, some are kept and the rest is counted, until all are", async () => {
  await using stage = await openStage({ mostFiles: 10 });
  const session = await stage.session();
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`many/${at}`, "x"]));
  await session.call(() => session.write(many));
  const [, first] = await session.taken();
  // Files that are as they were may be looked at, too.
  expect([first!.files > 0, first!.files <= 10]).toEqual([true, true]);
  expect(first!.skipped).toEqual([{ path: expect.stringMatching(/^\d\d files$/), why: "too many" }]);
  for (let call = 1; call < 10; call++) await session.call(() => undefined);
  const [, ...all] = await session.taken();
  expect(all.reduce((sum, { files }) => sum + files, 0)).toBe(25);
  expect(all.at(-1)!.skipped).toEqual([]);
});

test("one that takes too long is given up and told, and fails nothing else", async () => {
  await using stage = await openStage({ longestMs: 1 });
  const session = await stage.session();
  await session.call(() => session.write({ "file.txt": "two\n" }));
  expect((await session.types()).at(-1)).toBe("snapshot.failed");
});

function stored({ home }: SnapshotStage): string[] {
  return readdirSync(join(home, "storage"), { recursive: true, encoding: "utf8" }).filter((name) =>
    /[0-9a-f]{60}$/.test(name),
  );
}

function hasFile({ home }: SnapshotStage, { id }: StageSession, tree: string): boolean {
  const args = [
    "-c",
    "safe.directory=*",
    `--git-dir=${join(home, "snapshots", id)}`,
    "cat-file",
    "-e",
    `${tree}:file.txt`,
  ];
  try {
    execFileSync("git", args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
