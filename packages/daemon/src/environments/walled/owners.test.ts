import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { firstFree, holdsRange, ownerRange, ownersIn, rangesIn } from "./owners.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "corral-owners-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe.skipIf(process.getuid?.() !== 0)("uids for workspaces (needs root)", () => {
  const some = (count: number) => Promise.all(Array.from({ length: count }, () => ownersIn(home)!()));

  test("each is given once, however many ask at the same time, and a beginning by many is one", async () => {
    const given = await some(40);
    expect(new Set(given.map(({ uid }) => uid)).size).toBe(40);
    expect(given.every(({ uid, gid }) => uid === gid && uid > ownerRange.first && uid <= ownerRange.last)).toBe(true);
    expect(readdirSync(home)).toEqual(["uids"]);
    expect(readdirSync(join(home, "uids"))).toEqual([String(Math.max(...given.map(({ uid }) => uid)))]);
  });

  test("none is given again by whoever opens the home next, though the one who had it and all its files are gone", async () => {
    const [first] = await some(1);
    const workspace = join(home, "workspace");
    mkdirSync(workspace);
    chownSync(workspace, first!.uid, first!.gid);
    rmSync(workspace, { recursive: true });
    expect(new Set((await some(3)).map(({ uid }) => uid - first!.uid))).toEqual(new Set([1, 2, 3]));
    expect(statSync(join(home, "uids")).uid).toBe(0);
  });

  test("two homes begin at different numbers", async () => {
    const [one] = await some(1);
    rmSync(join(home, "uids"), { recursive: true });
    const [other] = await some(1);
    expect(other!.uid).not.toBe(one!.uid);
  });
});

test.skipIf(process.getuid?.() === 0)("an ordinary user gives none (needs an ordinary user)", () => {
  expect(ownersIn(home)).toBeUndefined();
});

test("numbers of accounts and groups, and those that were handed on to users, are passed over", () => {
  const { first, last } = ownerRange;
  const files = {
    passwd: `root:x:0:0:root:/root:/bin/sh\nada:x:${first + 5}:${first + 6}::/:/bin/sh\n`,
    group: `some:x:${first + 7}:ada\n`,
    subordinate: `ada:100000:65536\nada:${first + 8}:100\n`,
  };
  const taken = rangesIn(files);
  expect(firstFree(first + 4, taken)).toBe(first + 4);
  expect(firstFree(first + 5, taken)).toBe(first + 108);
  expect(firstFree(last, taken)).toBe(last);
  expect(() => firstFree(last + 1, taken)).toThrow("no uid left");
});

test("a user namespace that lacks the numbers is told from one that has them", () => {
  expect(holdsRange("         0          0 4294967295\n")).toBe(true);
  expect(holdsRange("         0     100000      65536\n")).toBe(false);
  expect(holdsRange(`         0     100000      65536\n${ownerRange.first} ${ownerRange.first} 1000\n`)).toBe(false);
});
