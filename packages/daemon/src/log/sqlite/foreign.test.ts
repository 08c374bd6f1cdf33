import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqliteLog } from "./open.ts";
import { type ForeignWatch, watchForeign } from "./foreign.ts";

const never = 1 << 30;
let folder: string;
let file: string;
let watching: ForeignWatch | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-log-"));
  file = join(folder, "log.db");
});
afterEach(() => {
  watching?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a write to the write-ahead log is seen without waiting for the poll", async () => {
  writeFileSync(`${file}-wal`, "");
  const looked = looks(never);
  appendFileSync(`${file}-wal`, "x");
  expect(await looked).toBe("looked");
});

test("where nothing can be watched the poll looks", async () => {
  expect(await looks(5)).toBe("looked");
});

test("an open log has a write-ahead log to watch", async () => {
  const log = await openSqliteLog({ file, projections: [] });
  const looked = looks(never);
  const other = await openSqliteLog({ file, projections: [] });
  await other.takeLease("a", "one");
  expect(await looked).toBe("looked");
  await other.close();
  await log.close();
});

/** Resolves when the watch looks. */
function looks(pollMs: number): Promise<"looked"> {
  return new Promise((resolve) => (watching = watchForeign(file, () => resolve("looked"), pollMs)));
}
