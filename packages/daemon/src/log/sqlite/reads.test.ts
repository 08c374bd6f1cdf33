import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { admitted, inputId, inputs, promoted } from "../conformance/fixture.ts";
import { Database } from "./database.ts";
import { SqliteLog } from "./log.ts";
import { openSqliteLog } from "./open.ts";
import { Projections } from "./projections.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "corral-log-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Statements that go over a whole table, for nobody waits for them. */
const wholeTables = new Set([
  // What to drop when a stream is erased; an index would be written with every change, for this alone.
  'DELETE FROM "projection_inputs" WHERE "stream of origin" = ?',
  // One row for each projection.
  "SELECT name, version, shape, until FROM projections",
]);

test("every statement of the log finds its rows by an index and sorts nothing", async () => {
  const { log, database } = await openLog();
  await exercise(log);
  const plans = database.statements
    .filter((sql) => /^(SELECT|UPDATE|DELETE)/.test(sql))
    .map((sql) => ({ sql, plan: planOf(database, sql) }));
  await log.close();
  expect(plans.length).toBeGreaterThan(15);
  const isSlow = ({ sql, plan }: (typeof plans)[number]) =>
    plan.some((step) => /TEMP B-TREE|AUTOMATIC/.test(step)) ||
    (plan.some((step) => step.startsWith("SCAN")) && !isOrderedWalk(sql) && !wholeTables.has(sql));
  expect(plans.filter(isSlow)).toEqual([]);
});

/** From one end, in the order that rows lie in, as far as the limit goes: without a sort, it reads what it gives. */
function isOrderedWalk(sql: string): boolean {
  return /ORDER BY [^?]* LIMIT/.test(sql);
}

async function openLog(): Promise<{ log: SqliteLog; database: Database }> {
  const file = join(folder, "log.db");
  await (await openSqliteLog({ file, projections: [inputs] })).close();
  const database = new Database(file);
  return {
    log: new SqliteLog(database, new Projections(database, [inputs]), { file, projections: [inputs] }),
    database,
  };
}

/** Everything that the port offers. */
async function exercise(log: SqliteLog): Promise<void> {
  await log.append({
    stream: "a",
    events: [admitted(1), promoted(1)],
    actor: "u",
    guards: [{ table: "inputs", key: inputId(1), is: null }],
  });
  await log.append({ stream: "b", events: [admitted(2)], actor: "u" });
  await log.read({ after: 0 });
  await log.read({ after: 0, stream: "a" });
  await log.read({ after: 3 });
  await log.head();
  await log.chain({ after: undefined });
  await log.chain({ after: 0 });
  await log.newestLink();
  await log.newest(2);
  await log.row("inputs", inputId(1));
  await log.rows("inputs");
  await log.rows("inputs", { orderBy: "place", limit: 3 });
  await log.rows("inputs", { where: { session: "a" } });
  await log.rows("inputs", { where: { session: "a" }, orderBy: "place" });
  await log.rows("inputs", { where: { state: "waiting", session: "a" }, orderBy: "place" });
  await log.rows("inputs", { where: { activity: null } });
  await log.counts("inputs", { where: { session: "a" }, by: "state" });
  const lease = await log.takeLease("a", "one", { ttlMs: 1000 });
  await log.renewLease(lease);
  await log.tryLease("a", "two");
  await log.releaseLease(lease);
  await log.trim({ before: 2 });
  await log.read({ after: 0 });
  await log.erase("a", { actor: "u" });
}

function planOf(database: Database, sql: string): readonly string[] {
  const parameters = (sql.match(/\?/g) ?? []).map(() => null);
  return Array.from(database.each(`EXPLAIN QUERY PLAN ${sql}`, ...parameters), (row) => String(row[3]));
}
