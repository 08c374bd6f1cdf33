/** A process that appends under the eyes of `durability.test.ts`: `durability-child.ts <what> <folder>`. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { admitted, eventsOf, inputs, settled } from "../../conformance/fixture.ts";
import { openSqliteLog } from "../open.ts";

const [, , what, folder] = process.argv as [string, string, string, string];
const file = join(folder, "log.db");

switch (what) {
  case "synced":
    await acknowledgeIntoMarker();
    break;
  case "unsynced":
    acknowledgeWithoutSync();
    break;
  case "full-disk":
    process.stdout.write(JSON.stringify(await fillAndFree()));
    break;
  case "failing-sync":
    process.stdout.write(JSON.stringify(await appendOverFailingSync()));
}

async function acknowledgeIntoMarker(): Promise<void> {
  const log = await openSqliteLog({ file, projections: [inputs] });
  const marker = openSync(join(folder, "marker"), "w");
  for (const n of [1, 2, 3]) {
    await log.append({ stream: "a", events: [admitted(n)], actor: "u" });
    writeSync(marker, `acknowledged ${n}\n`);
  }
  closeSync(marker);
  await log.close();
}

/** The same without the wall: what the trace must look like for the test to mean anything. */
function acknowledgeWithoutSync(): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (n INTEGER) STRICT");
  const marker = openSync(join(folder, "marker"), "w");
  for (const n of [1, 2, 3]) {
    database.exec(`INSERT INTO t VALUES (${n})`);
    writeSync(marker, `acknowledged ${n}\n`);
  }
  closeSync(marker);
  database.close();
}

/** Appends before, while and after the files of this process may not grow. */
async function fillAndFree(): Promise<unknown> {
  // With a handler in place a write past the limit fails instead of ending the process.
  process.on("SIGXFSZ", () => {});
  const log = await openSqliteLog({ file, projections: [inputs] });
  const heard: number[] = [];
  log.onCommit((events) => heard.push(...events.map(({ seq }) => seq)));
  const { fence } = await log.takeLease("a", "u");
  const append = (n: number, more = {}) => log.append({ stream: "a", events: [admitted(n)], actor: "u", ...more });

  const before = await settled([append(1), append(2, { fence })]);
  // What is beside the file has its length in advance, so that it need not grow for a while.
  limitFiles(1024);
  const whileFull = await settled([append(3), append(4, { fence }), append(5, { expectedVersion: 77 })]);
  const readable = (await eventsOf(log)).length;
  limitFiles("unlimited");
  const after = await settled([append(6), append(7, { fence })]);
  const seqs = (await eventsOf(log)).map(({ seq, version }) => [seq, version]);
  const rows = (await log.rows("inputs")).map(({ key }) => key);
  await log.close();
  return { before, whileFull, readable, after, seqs, rows, heard };
}

/** Whoever starts this has the third sync fail: that of the first append, behind those of the opening and the lease. */
async function appendOverFailingSync(): Promise<unknown> {
  const log = await openSqliteLog({ file, projections: [inputs] });
  const heard: number[] = [];
  log.onCommit((events) => heard.push(...events.map(({ seq }) => seq)));
  const { fence } = await log.takeLease("a", "u");
  const append = (n: number, more = {}) => log.append({ stream: "a", events: [admitted(n)], actor: "u", ...more });

  const whileFailing = await settled([append(1, { fence })]);
  const heardThen = [...heard];
  const after = await settled([append(2, { fence }), append(3)]);
  const seqs = (await eventsOf(log)).map(({ seq }) => seq);
  const rows = (await log.rows("inputs")).map(({ key }) => key);
  await log.close();
  return { whileFailing, heardThen, after, seqs, rows, heard };
}

function limitFiles(bytes: number | "unlimited"): void {
  execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:`]);
}
