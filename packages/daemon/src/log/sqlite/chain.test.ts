import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChainReport, CorralError } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { factsHash, headText, linkAfter, wholeHash } from "../chain.ts";
import { admitted, inputs, promoted } from "../conformance/fixture.ts";
import type { Log } from "../port.ts";
import { verifyChain } from "../verify.ts";
import { openChainFile } from "./chain-file.ts";
import { Database } from "./database.ts";
import { migrations } from "./migrations.ts";
import { openSqliteLog } from "./open.ts";

let folder: string;
let file: string;
let log: Log;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "corral-chain-"));
  file = join(folder, "log.db");
  log = await openSqliteLog({ file, projections: [inputs] });
  for (let n = 1; n <= 10; n++)
    await log.append({ stream: n % 2 === 0 ? "a" : "b", events: [admitted(n)], actor: `person:${n}` });
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("what was done to the file by hand is found where it is", () => {
  const a = { stream: "a", type: "input.admitted" };
  const b = { stream: "b", type: "input.admitted" };
  const at = (seq: number, more: object = {}) => ({ from: seq, to: seq, ...more });

  test.each([
    [
      "changed data",
      ["UPDATE events SET data = replace(data, 'text 4', 'text 5') WHERE seq = 4"],
      [["changed", at(4, a)]],
    ],
    ["another actor", ["UPDATE events SET actor = 'person:eve' WHERE seq = 3"], [["changed", at(3, b)]]],
    ["another time", ["UPDATE events SET created = '2020-01-01T00:00:00.000Z' WHERE seq = 3"], [["changed", at(3, b)]]],
    ["another trace", ["UPDATE events SET trace_id = 'x' WHERE seq = 3"], [["changed", at(3, b)]]],
    [
      "another type",
      ["UPDATE events SET type = 'input.promoted' WHERE seq = 3"],
      [["changed", at(3, { stream: "b", type: "input.promoted" })]],
    ],
    ["another stream", ["UPDATE events SET stream = 2 WHERE seq = 3"], [["changed", at(3, a)]]],
    ["a deleted event", ["DELETE FROM events WHERE seq = 5"], [["missing", at(5)]]],
    [
      "a deleted event with its link",
      ["DELETE FROM events WHERE seq = 5", "DELETE FROM chain WHERE seq = 5"],
      [["missing", at(5)]],
    ],
    [
      "a deleted tail",
      ["DELETE FROM events WHERE seq > 8"],
      [
        ["missing", at(9)],
        ["missing", at(10)],
      ],
    ],
    [
      "a deleted beginning with its links",
      ["DELETE FROM events WHERE seq < 3", "DELETE FROM chain WHERE seq < 3"],
      [["begin", at(3)]],
    ],
    [
      "swapped events",
      [
        "UPDATE events SET seq = -1 WHERE seq = 4",
        "UPDATE events SET seq = 4 WHERE seq = 5",
        "UPDATE events SET seq = 5 WHERE seq = -1",
      ],
      [
        ["changed", at(4, b)],
        ["changed", at(5, a)],
      ],
    ],
    [
      "an inserted event",
      [
        "INSERT INTO events SELECT 11, stream, 6, type, type_version, data, actor, trace_id, created FROM events WHERE seq = 10",
      ],
      [["inserted", at(11, a)]],
    ],
    ["a changed link", ["UPDATE chain SET link = 'x' || substr(link, 2) WHERE seq = 4"], [["link-changed", at(4, a)]]],
    ["a removed link", ["DELETE FROM chain WHERE seq = 10"], [["inserted", at(10, a)]]],
    [
      "an event that was made to look erased",
      ["UPDATE events SET type = 'erased', data = '{}' WHERE seq = 4"],
      [
        ["changed", at(4, { stream: "a", type: "erased" })],
        ["erased", at(4, { stream: "a" })],
      ],
    ],
    [
      "no chain at all",
      ["DELETE FROM chain"],
      [["begin", at(0)], ...Array.from({ length: 10 }, (_, n) => ["inserted", at(n + 1, n % 2 === 0 ? b : a)])],
    ],
  ] as [string, string[], [string, object][]][])("%s", async (_, statements, breaks) => {
    tamper(...statements);
    const report = await verifyChain(log);
    expect([report.verdict, report.breaks]).toEqual(["broken", breaks.map(([kind, where]) => ({ kind, ...where }))]);
  });

  test("an event that was hidden as erased, with its hash beside it", async () => {
    const { event, salt } = await placeAt(4);
    tamper(
      `UPDATE chain SET kept = '${factsHash(salt, event)}' WHERE seq = 4`,
      "UPDATE events SET type = 'erased', data = '{}' WHERE seq = 4",
    );
    expect((await verifyChain(log)).breaks).toEqual([{ kind: "erased", from: 4, to: 4, stream: "a" }]);
  });

  test("one that was changed before its session was erased", async () => {
    tamper("UPDATE events SET data = replace(data, 'text 4', 'text 5') WHERE seq = 4");
    await log.erase("a", { actor: "u" });
    expect((await verifyChain(log)).breaks).toEqual([{ kind: "changed", from: 4, to: 4, stream: "a", type: "erased" }]);
  });

  test("what was put where seqs were passed over", async () => {
    tamper("INSERT INTO skips VALUES (11, 20)");
    tamper(
      "INSERT INTO events SELECT 15, stream, 6, type, type_version, data, actor, trace_id, created FROM events WHERE seq = 10",
    );
    expect((await verifyChain(log)).breaks).toEqual([{ kind: "inserted", from: 11, to: 20 }]);
  });
});

describe("a head that was kept elsewhere", () => {
  test("tells of a log that was rewritten with all its links", async () => {
    const head = await newestHead();
    tamper("UPDATE events SET data = replace(data, 'text 4', 'text 5') WHERE seq = 4");
    await relink();
    expect(await verifyChain(log)).toMatchObject({ verdict: "intact", breaks: [] });
    expect(await verifyChain(log, { head })).toMatchObject({ verdict: "broken", kept: { head, found: "other-link" } });
  });

  test("tells of a tail that was cut off with its links", async () => {
    const head = await newestHead();
    tamper("DELETE FROM events WHERE seq > 8", "DELETE FROM chain WHERE seq > 8");
    expect(await verifyChain(log)).toMatchObject({ verdict: "intact", events: 8 });
    expect(await verifyChain(log, { head })).toMatchObject({ verdict: "broken", kept: { head, found: "ahead" } });
  });
});

test("the log goes on behind a tail that was deleted by hand, and the hole stays visible", async () => {
  await log.close();
  tamper("DELETE FROM events WHERE seq > 8");
  log = await openSqliteLog({ file, projections: [inputs] });
  const [next] = await log.append({ stream: "a", events: [promoted(1)], actor: "u" });
  expect(next?.seq).toBe(11);
  expect((await verifyChain(log)).breaks.map(({ kind, from }) => [kind, from])).toEqual([
    ["missing", 9],
    ["missing", 10],
  ]);
  await expect(log.read({ after: 8 })).rejects.toMatchObject({ code: "log.damaged" });
});

test("the salt of an erased stream is gone, so that nobody can try out what its facts were", async () => {
  const { salt } = await placeAt(4);
  await log.erase("a", { actor: "u" });
  const after = await placeAt(4);
  expect([after.salt === salt, salt.length]).toEqual([false, 32]);
});

test.each([1, 2, 3])("the chain of a log of schema version %i begins where it was upgraded", async (version) => {
  const old = join(folder, "old.db");
  const database = new Database(old);
  for (const migration of migrations.slice(0, version)) database.define(migration);
  database.define(`PRAGMA user_version = ${version}`);
  database.run("INSERT INTO streams (name, fence) VALUES ('a', 0)");
  const insert =
    "INSERT INTO events VALUES (?, 1, ?, 'activity.resumed', 1, '{}', 'u', NULL, '2026-01-01T00:00:00.000Z')";
  for (const n of [1, 2, 3]) database.run(insert, n, n);
  database.close();
  const opened = await openSqliteLog({ file: old, projections: [] });
  await opened.append({ stream: "a", events: [admitted(1)], actor: "u" });
  const report: ChainReport = await verifyChain(opened);
  const older = await verifyChain(opened, { head: `2:${"x".repeat(43)}` });
  await opened.close();
  expect(report).toMatchObject({ verdict: "intact", olderUpTo: 3, events: 1, breaks: [] });
  expect(older.kept?.found).toBe("older");
});

test("the chain of a log behind another begins with what it passes over", async () => {
  const opened = await openSqliteLog({ file: join(folder, "next.db"), projections: [], given: 10 });
  await opened.append({ stream: "a", events: [admitted(1)], actor: "u" });
  const report = await verifyChain(opened, { head: await newestHead() });
  await opened.close();
  expect(report).toMatchObject({ events: 1, olderUpTo: 0, gaps: [{ from: 1, to: 11 }], breaks: [] });
  expect(report.kept?.found).toBe("passed-over");
});

test("a file is gone over while another process has it open, and nothing is left beside one that nobody has", async () => {
  const beside = openChainFile(file);
  expect([await verifyChain(beside), beside.end]).toEqual([await verifyChain(log), 10]);
  beside.close();
  await log.close();
  const before = readdirSync(folder);
  const alone = openChainFile(file);
  expect(await verifyChain(alone)).toMatchObject({ verdict: "intact", events: 10 });
  alone.close();
  expect(readdirSync(folder)).toEqual(before);
});

test("a file that is not there, no log, or older than the chain, is told as that", () => {
  const problem = (path: string) => {
    try {
      openChainFile(path).close();
    } catch (error) {
      return (error as CorralError).code;
    }
    return "opened";
  };
  const old = join(folder, "old.db");
  const database = new Database(old);
  database.define(migrations[0]!);
  database.close();
  writeFileSync(join(folder, "text"), "this is no database, ".repeat(100));
  expect([problem(join(folder, "none")), problem(old), problem(join(folder, "text"))]).toEqual([
    "not-found",
    "log.unchained",
    "log.damaged",
  ]);
});

function tamper(...statements: readonly string[]): void {
  const database = new Database(file);
  for (const statement of statements) database.run(statement);
  database.close();
}

async function placeAt(seq: number) {
  const [record] = await log.chain({ after: seq - 1, limit: 1 });
  if (record?.kind !== "place" || record.event === undefined) throw new Error(`there is no event at ${seq}`);
  return { event: record.event, salt: record.salt };
}

async function newestHead(): Promise<string> {
  const { seq, link } = await log.newestLink();
  return headText(seq, link);
}

/** As one would who knows how it is done. */
async function relink(): Promise<void> {
  let link = "0".repeat(43);
  for (let seq = 1; seq <= 10; seq++) {
    const { event, salt } = await placeAt(seq);
    link = linkAfter(link, seq, wholeHash(event, factsHash(salt, event)));
    tamper(`UPDATE chain SET link = '${link}' WHERE seq = ${seq}`);
  }
}
