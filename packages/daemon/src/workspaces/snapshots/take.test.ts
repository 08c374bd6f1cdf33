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
  const { repository, covered } = inRepository(() => ({ ok: false, stderr: "Killed" }));
  await expect(takeTree(repository, wish)).rejects.toThrow("did not end: Killed");
  expect(covered).toEqual([undefined]);
});

test("what it found before it ended everything is covered in the second jail", async () => {
  const { repository, covered } = inRepository(() => {
    writeFileSync(join(folder, "odd"), "./evil/.git\0./pipe\0");
    return { ok: false, stderr: "Killed" };
  });
  await expect(takeTree(repository, wish)).rejects.toThrow("Killed");
  expect(covered).toEqual([undefined, ["evil/.git"]]);
});

/** One whose jails end as said, before they said anything. */
function inRepository(ends: () => { readonly ok: boolean; readonly stderr: string }) {
  const covered: RunOptions["covered"][] = [];
  const repository: Repository = {
    folder,
    run(_script, _args, options) {
      covered.push(options?.covered);
      return Promise.resolve({ ...ends(), stdout: Buffer.of() });
    },
  };
  return { repository, covered };
}
