import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Repository, RunOptions } from "./repository.ts";
import { takeTree } from "./take.ts";

const wish = { before: "0".repeat(40), ignored: [], nested: [], bounds: { largestFile: 100, mostFiles: 100 } };

let folder: string;

beforeEach(() => {
  folder = mkdtempSync("/var/tmp/corral-take-");
});

afterEach(() => rmSync(folder, { recursive: true }));

test("where the search for what git must not meet was cut off nothing is taken, whatever one before it had found", async () => {
  writeFileSync(join(folder, "odd"), "./of another one\0");
  const { repository, covered } = inRepository(() => ({ ok: false }));
  await expect(takeTree(repository, wish)).rejects.toThrow("did not end: Killed");
  expect(covered).toEqual([undefined]);
});

test("what it found before it ended everything is covered in the second jail", async () => {
  const { repository, covered } = inRepository(() => {
    writeFileSync(join(folder, "odd"), "./evil/.git\0./pipe\0");
    return { ok: false };
  });
  await expect(takeTree(repository, wish)).rejects.toThrow("Killed");
  expect(covered).toEqual([undefined, ["evil/.git"]]);
});

test("what the first jail was told to take when it was ended is flagged once", async () => {
  const looked = "file.txt\0\x0089ed 4 ./file.txt\0\0";
  const { repository } = inRepository((covered) => {
    writeFileSync(join(folder, "odd"), "./evil/.git\0");
    return covered === undefined ? { ok: false, looked } : { ok: true, looked, said: `${wish.before}\0` };
  });
  expect((await takeTree(repository, { ...wish, nested: ["evil/.git"] })).flagged).toEqual([
    { path: "file.txt", why: "it runs as its owner or group, whoever starts it" },
  ]);
});

interface Ending {
  readonly ok: boolean;
  /** What it says of the workspace, if it gets so far. */
  readonly looked?: string;
  /** What it says once it was told what to take. */
  readonly said?: string;
}

/** One whose jails end as said. */
function inRepository(ends: (covered: RunOptions["covered"]) => Ending) {
  const covered: RunOptions["covered"][] = [];
  const repository: Repository = {
    folder,
    run(_script, _args, options) {
      covered.push(options?.covered);
      const { ok, looked = "", said = "" } = ends(options?.covered);
      options?.reply?.(Buffer.from(looked));
      return Promise.resolve({ ok, stdout: Buffer.from(`${looked}${said}`), stderr: ok ? "" : "Killed" });
    },
  };
  return { repository, covered };
}
