import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { admitted, inputs } from "../conformance/fixture.ts";
import { beginSqliteLog, isSuspect, type SetAside } from "./begin.ts";
import { Database } from "./database.ts";
import { damagedBeside, setAside } from "./set-aside.ts";

let folder: string;
let file: string;
let told: SetAside[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-begin-"));
  file = join(folder, "corral.db");
  told = [];
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const begin = (alwaysCheckedBytes = Infinity) =>
  beginSqliteLog({ file, projections: [inputs], alwaysCheckedBytes, onSetAside: (damage) => told.push(damage) });

async function makeLog(count: number): Promise<void> {
  const log = await begin();
  const events = Array.from({ length: count }, (_, n) => admitted(n + 1, "x".repeat(400)));
  await log.append({ stream: "a", events, actor: "u" });
  await log.close();
}

function overwrite(place: number, length: number): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(length, 0xa5), 0, length, place);
  closeSync(descriptor);
}

test("a whole log is opened as it is, and a missing one made", async () => {
  await makeLog(10);
  const log = await begin();
  expect([await log.head(), told, damagedBeside(file), isSuspect(file)]).toEqual([10, [], [], false]);
  await log.close();
});

test("damage anywhere has the file set aside, again and again, and each is told of", async () => {
  for (let times = 1; times <= 2; times++) {
    await makeLog(500);
    overwrite(Math.floor(statSync(file).size / 2), 2048);
    const log = await begin();
    expect([await log.rows("inputs"), await log.head()]).toEqual([[], times * 501]);
    await log.close();
    expect(told).toHaveLength(times);
  }
  expect(damagedBeside(file)).toEqual(told.map((each) => each.file));
  expect(told[0]?.reason).toContain(`The log at ${file} is not whole: `);
});

test("a large file that was closed is not read through until damage is met in it", async () => {
  await makeLog(500);
  overwrite(Math.floor(statSync(file).size / 4), 20 * 1024);
  const log = await begin(0);
  expect([await log.head(), told, isSuspect(file)]).toEqual([500, [], false]);
  const reading = async () => {
    for (let after = 0; after < 500; after += 10) await log.read({ after, limit: 10 });
  };
  await expect(reading()).rejects.toMatchObject({ code: "log.damaged" });
  expect(isSuspect(file)).toBe(true);
  await log.close();
  await (await begin(0)).close();
  expect([told.length, isSuspect(file)]).toEqual([1, false]);
});

test("a log of a newer program is refused before it is opened, damaged or not", async () => {
  await makeLog(100);
  const database = new Database(file);
  database.define("PRAGMA journal_mode = DELETE; PRAGMA user_version = 4711");
  database.close();
  overwrite(statSync(file).size - 2048, 1024);
  const before = readFileSync(file);
  await expect(begin()).rejects.toMatchObject({ code: "log.too-new" });
  expect(readFileSync(file).equals(before)).toBe(true);
  expect([readdirSync(folder), told]).toEqual([["corral.db"], []]);
});

test("an empty file is no first start; one that could not be made leaves none behind", async () => {
  writeFileSync(file, "");
  await (await begin()).close();
  expect(told.map(({ reason }) => reason)).toEqual([expect.stringContaining("the file is empty")]);
  rmSync(file);
  const impossible = { table: "bad table", version: 1, columns: {}, changes: () => [], indexes: [["missing"]] };
  await expect(beginSqliteLog({ file, projections: [impossible], onSetAside: () => undefined })).rejects.toThrow(
    "missing",
  );
  expect(existsSync(file) && statSync(file).size === 0).toBe(false);
});

test.each([
  ["a page overwritten", () => overwrite(Math.floor(statSync(file).size / 2), 2048)],
  ["its second half cut off", () => truncateSync(file, Math.floor(statSync(file).size / 2048) * 1024)],
  ["its outline overwritten", () => overwrite(0, 4096)],
  ["emptied", () => truncateSync(file, 0)],
])("%s: every reader of the damaged log gets a gap from the new one, and then what comes", async (_, harm) => {
  await makeLog(500);
  harm();
  const log = await begin();
  const head = await log.head();
  const [next] = await log.append({ stream: "a", events: [admitted("next")], actor: "u" });
  expect(head).toBeGreaterThan(500);
  expect([next?.seq, next?.version]).toEqual([head + 1, 1]);
  for (const after of [0, 1, 499, 500]) {
    expect(await log.read({ after })).toEqual({ kind: "gap", from: after + 1, to: head });
    expect(await log.read({ after: head })).toEqual([next]);
  }
  for (const after of [1, 500]) {
    expect(await log.read({ after, stream: "a" })).toEqual({ kind: "gap", from: after + 1, to: head });
  }
  expect(await log.read({ after: 0, stream: "a" })).toEqual([next]);
  await log.close();
  const again = await begin();
  expect([await again.head(), await again.read({ after: head })]).toEqual([head + 1, [next]]);
  await again.close();
});

test("a start that was cut short after the file was set aside forgets no seq either", async () => {
  await makeLog(20);
  await setAside(file);
  const log = await begin();
  expect([await log.head(), told]).toEqual([21, []]);
  await log.close();
});
