import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventsOf, idsOf, inputId, inputs } from "../conformance/fixture.ts";
import { Database } from "./database.ts";
import { integrityOf } from "./integrity.ts";
import { migrations } from "./migrations.ts";
import { openSqliteLog } from "./open.ts";
import { restore } from "./restore.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-log-"));
  file = join(folder, "log.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each(migrations.keys().toArray())("a log of schema version %i opens with all its events", async (version) => {
  makeOlder(version, 3);
  const log = await openSqliteLog({ file, projections: [inputs] });
  const expected = version === 0 ? [] : [1, 2, 3].map(inputId);
  expect(idsOf(await eventsOf(log))).toEqual(expected);
  expect((await log.rows("inputs")).map(({ key }) => key)).toEqual(expected);
  await log.close();
  expect(versionOf()).toBe(migrations.length);
});

test.each([1, 2])("a backup of schema version %i is restored, behind what was given since", async (version) => {
  makeOlder(version, 3);
  const backup = join(folder, "backup.db");
  renameSync(file, backup);
  makeOlder(version, 5);
  expect(await restore(backup, file)).toEqual({ events: 3, head: 3, before: expect.stringContaining(".replaced-") });
  const log = await openSqliteLog({ file, projections: [inputs] });
  expect([idsOf(await eventsOf(log)), await log.read({ after: 3 })]).toEqual([
    [1, 2, 3].map(inputId),
    { kind: "gap", from: 4, to: 6 },
  ]);
  await log.close();
});

test("one killed in the middle of a migration leaves the old version whole, and the next one migrates", async () => {
  makeOlder(1, 5000);
  const before = outline();
  const { signal } = spawnSync(process.execPath, [child, "die-migrating", folder], { stdio: "inherit" });
  expect(signal).toBe("SIGKILL");
  expect(await integrityOf(file)).toEqual([]);
  expect(outline()).toEqual(before);
  const log = await openSqliteLog({ file, projections: [inputs] });
  expect([await log.head(), (await log.rows("inputs")).length]).toEqual([5000, 5000]);
  await log.close();
  expect(versionOf()).toBe(migrations.length);
});

test("of several that start at once on an older log one migrates, and all write", async () => {
  makeOlder(1, 2000);
  const starts = ["a", "b", "c", "d"].map((name) =>
    promisify(execFile)(process.execPath, [child, "append", folder, name]),
  );
  expect((await Promise.all(starts)).map(({ stdout, stderr }) => [stdout, stderr])).toEqual(
    starts.map(() => ["stored", ""]),
  );
  expect(await integrityOf(file)).toEqual([]);
  const log = await openSqliteLog({ file, projections: [inputs] });
  expect([await log.head(), (await log.rows("inputs")).length]).toEqual([2004, 2004]);
  await log.close();
});

const child = fileURLToPath(new URL("./testing/migration-child.ts", import.meta.url));

/** A log as a program of that schema version left it. */
function makeOlder(version: number, events: number): void {
  const database = new Database(file);
  for (const migration of migrations.slice(0, version)) database.define(migration);
  database.define(`PRAGMA user_version = ${version}`);
  if (version > 0) fill(database, events);
  database.close();
}

function fill(database: Database, events: number): void {
  database.run("BEGIN");
  database.run("INSERT INTO streams (name, fence) VALUES ('a', 0)");
  for (let n = 1; n <= events; n++) {
    const data = { id: inputId(n), text: `text ${n}`, attachments: [], delivery: "queue" };
    database.run(
      "INSERT INTO events VALUES (?, 1, ?, 'input.admitted', 1, ?, 'u', NULL, '2026-01-01T00:00:00.000Z')",
      n,
      n,
      JSON.stringify(data),
    );
  }
  database.run("COMMIT");
}

function versionOf(): unknown {
  const database = new Database(file, "read");
  const version = database.first("PRAGMA user_version")?.[0];
  database.close();
  return version;
}

/** The version, every definition, and how many events there are. */
function outline(): unknown {
  const database = new Database(file, "read");
  const schema = [...database.each("SELECT type, name, sql FROM sqlite_schema ORDER BY name")];
  const events = database.first("SELECT count(*) FROM events");
  database.close();
  return { version: versionOf(), schema, events };
}
