import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { admitted } from "../conformance/fixture.ts";
import { Database } from "./database.ts";
import { openSqliteLog } from "./open.ts";
import { driver } from "./testing/driver.ts";

test("erasing waits for a reader that still sees the old text, while the log goes on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-log-"));
  const file = join(folder, "log.db");
  const log = await openSqliteLog({ file, projections: [] });
  await log.append({ stream: "s", events: [admitted(1, "launch code")], actor: "u" });
  const reader = new Database(file, "read");
  reader.run("BEGIN");
  reader.first("SELECT count(*) FROM events");

  const ends: string[] = [];
  const erased = log.erase("s", { actor: "u" }).then(() => ends.push("erased"));
  await log.append({ stream: "a", events: [admitted(2)], actor: "u" }).then(() => ends.push("appended"));
  expect((await driver.remains(folder)).includes("launch code")).toBe(true);
  reader.close();
  await erased;
  expect(ends).toEqual(["appended", "erased"]);
  expect((await driver.remains(folder)).includes("launch code")).toBe(false);
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});
