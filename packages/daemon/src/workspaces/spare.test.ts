import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { jailOwner, ownersIn } from "../environments/jail/index.ts";
import { makeRepository } from "../testing/repository.ts";
import { prepareWorkspace } from "./prepare.ts";
import { sharedOwner } from "./testing/on-record.ts";
import { openSpares, type SparesOptions } from "./spare.ts";

let place: string;
let repo: string;
const defects: string[] = [];

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "corral-spare-"));
  repo = makeRepository(join(place, "repo"), { "file.txt": "one\n", "other.txt": "other\n" });
});

afterEach(() => {
  rmSync(place, { recursive: true, force: true });
  if (defects.length > 0) throw new Error(defects.splice(0).join("\n"));
});

test("a spare is taken by the first who comes, and the next one gets a copy of their own", async () => {
  await spares().fill(repo);
  const both = await Promise.all(["one", "two"].map((name) => prepare(name)));
  expect(both.map(({ way }) => way).toSorted()).toEqual(["shared objects", "spare"]);
  for (const { path, branch } of both) {
    expect(git(path, "status", "--porcelain", "--branch")).toBe(`## ${branch}\n`);
    expect(readFileSync(join(path, "file.txt"), "utf8")).toBe("one\n");
  }
});

test("a spare made before the user went on is brought up to date", async () => {
  await spares().fill(repo);
  writeFileSync(join(repo, "file.txt"), "two\n");
  rmSync(join(repo, "other.txt"));
  git(repo, "commit", "--quiet", "--all", "--message=second");
  git(repo, "remote", "add", "origin", "https://example.com/later.git");
  const { path, base, way, remotes } = await prepare("one");
  expect({ way, base, remotes }).toEqual({
    way: "spare",
    base: git(repo, "rev-parse", "HEAD").trim(),
    remotes: [{ name: "origin", url: "https://example.com/later.git" }],
  });
  expect(readdirSync(path).toSorted()).toEqual([".git", "file.txt"]);
  expect(git(path, "status", "--porcelain")).toBe("");
  expect(lstatSync(join(path, "file.txt")).uid).toBe(jailOwner()?.uid ?? process.getuid?.());
});

test("uncommitted work comes along with a spare, too", async () => {
  await spares().fill(repo);
  writeFileSync(join(repo, "new.txt"), "new\n");
  const { path, way } = await prepare("one", { from: "dirty" });
  expect(way).toBe("spare");
  expect(readFileSync(join(path, "new.txt"), "utf8")).toBe("new\n");
});

test("filling again makes no second one, none is made where none is wanted, and old ones make room", async () => {
  await spares().fill(repo);
  const names = readdirSync(join(place, "spares"));
  await spares().fill(repo);
  expect(readdirSync(join(place, "spares"))).toEqual(names);
  const others = ["a", "b"].map((name) => makeRepository(join(place, name)));
  await spares({ wanted: () => false }).fill(others[0]!);
  expect(readdirSync(join(place, "spares"))).toEqual(names);
  const few = spares({ most: 2 });
  for (const each of others) await few.fill(each);
  const left = readdirSync(join(place, "spares")).filter((name) => !name.startsWith("."));
  expect(left).toHaveLength(2);
  expect(left).not.toContain(names[0]);
});

test("what a killed daemon was making goes, and a spare that is not whole is not used", async () => {
  await spares().fill(repo);
  const [name = ""] = readdirSync(join(place, "spares"));
  rmSync(join(place, "spares", name, ".git/corral-spare.json"));
  mkdirSync(join(place, "spares", `${name}.making`));
  await spares().close();
  expect(existsSync(join(place, "spares", `${name}.making`))).toBe(false);
  expect((await prepare("one")).way).toBe("shared objects");
});

test("nothing is written in the user's repo but the ref that keeps what is borrowed", async () => {
  const inGit = () =>
    readdirSync(join(repo, ".git"), { recursive: true, encoding: "utf8" }).filter((name) => !/refs.corral/.test(name));
  const before = inGit();
  await spares().fill(repo);
  const { head } = await prepare("one");
  expect(inGit()).toEqual(before);
  expect(git(repo, "for-each-ref", "--format=%(refname)", "refs/corral")).toBe(`refs/corral/keep/one/${head}\n`);
});

test("a spare of what the user's repo has let go since is not used", async () => {
  await spares().fill(repo);
  git(repo, "checkout", "--quiet", "--orphan", "new");
  git(repo, "commit", "--quiet", "--message=rewritten");
  git(repo, "branch", "--delete", "--force", "main");
  git(repo, "reflog", "expire", "--expire=now", "--all");
  git(repo, "gc", "--quiet", "--prune=now");
  const { path } = await prepare("one");
  expect(git(path, "status", "--porcelain")).toBe("");
  expect(git(path, "fsck", "--strict", "--no-dangling")).toBe("");
});

test.skipIf(process.getuid?.() !== 0)(
  "each spare has a user of its own, whom the copy keeps; one of the user that all shared before is not used (needs root)",
  async () => {
    const newOwner = ownersIn(place);
    const taken: { way: string; uids: Set<number>; owner: number | undefined }[] = [];
    for (const name of ["one", "two", "three"]) {
      if (name !== "three") await spares({ newOwner }).fill(repo);
      writeFileSync(join(repo, "file.txt"), `of ${name}\n`);
      git(repo, "commit", "--quiet", "--all", `--message=${name}`);
      const { path, way, owner } = await prepare(name, { newOwner });
      taken.push({ way, uids: new Set([path, ...treeOf(path)].map((each) => lstatSync(each).uid)), owner: owner?.uid });
    }
    expect(taken.map(({ way, uids, owner }) => [way, [...uids].join() === String(owner)])).toEqual([
      ["spare", true],
      ["spare", true],
      ["shared objects", true],
    ]);
    expect(new Set(taken.map(({ owner }) => owner)).size).toBe(3);

    await spares().fill(repo);
    const left = readdirSync(join(place, "spares")).find((name) => !name.startsWith(".")) ?? "";
    const record = join(place, "spares", left, ".git/corral-spare.json");
    const made = JSON.parse(readFileSync(record, "utf8")) as object;
    writeFileSync(record, JSON.stringify({ ...made, owner: jailOwner()?.uid }));
    const { way, owner } = await prepare("four", { newOwner });
    expect([way, owner?.uid === jailOwner()?.uid]).toEqual(["shared objects", false]);
  },
);

function treeOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
}

function spares(changes: Partial<SparesOptions> = {}) {
  const onDefect = (what: string, error: unknown) => void defects.push(`${what}: ${String(error)}`);
  return openSpares({
    folder: join(place, "spares"),
    newOwner: sharedOwner(),
    wanted: () => true,
    onDefect,
    ...changes,
  });
}

function prepare(name: string, more: Partial<Parameters<typeof prepareWorkspace>[0]> = {}) {
  return prepareWorkspace({
    repo,
    destination: join(place, "workspaces", name),
    branch: `corral/${name}`,
    spares: join(place, "spares"),
    newOwner: sharedOwner(),
    ...more,
  });
}

function git(folder: string, ...args: string[]): string {
  return execFileSync("git", ["-c", "safe.directory=*", "-C", folder, ...args], { encoding: "utf8" });
}
