import { execFileSync, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
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
import { CorralError, type StoredEvent } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { admitted, eventsOf, inputs, settled } from "../conformance/fixture.ts";
import type { Log } from "../port.ts";
import { Database } from "./database.ts";
import { integrityOf } from "./integrity.ts";
import { openSqliteLog } from "./open.ts";
import { type Hole, salvage } from "./salvage.ts";
import { setAside } from "./set-aside.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-log-"));
  file = join(folder, "corral.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a file with bad bytes in its middle", () => {
  test("is told as damaged to whoever reads the bad place, and other places stay readable", async () => {
    await makeLog(4000);
    scribble(file, 0.5, 8);
    const log = await openSqliteLog({ file, projections: [inputs] });
    await expect(everything(log)).rejects.toMatchObject(damage);
    expect((await eventsOf(log, { after: 0, limit: 10 })).length).toBe(10);
    await log.close();
    expect((await integrityOf(file)).length).toBeGreaterThan(0);
  });

  test("that come while it is open are told the same way", async () => {
    await makeLog(8000);
    const log = await openSqliteLog({ file, projections: [inputs] });
    expect((await eventsOf(log, { after: 0, limit: 10 })).length).toBe(10);
    scribble(file, 0.5, 64);
    await expect(everything(log)).rejects.toMatchObject(damage);
    await log.close();
  });

  test("refuses appends that need the bad place, and gives the reason", async () => {
    await makeLog(4000);
    scribbleTable("projection_inputs");
    const log = await openSqliteLog({ file, projections: [inputs] });
    await expect(log.append({ stream: "a", events: [admitted(5000)], actor: "u" })).rejects.toMatchObject(damage);
    await expect(log.rows("inputs")).rejects.toMatchObject(damage);
    expect(await log.head()).toBe(4000);
    await log.close();
  });

  test("in the text of an event are told with its seq", async () => {
    await makeLog(50);
    const bytes = readFileSync(file);
    bytes.write("?", bytes.indexOf('"text":"text 20 ') + 6);
    writeFileSync(file, bytes);
    const log = await openSqliteLog({ file, projections: [inputs] });
    await expect(log.read({ after: 0 })).rejects.toMatchObject({
      ...damage,
      message: expect.stringContaining("seq 20 "),
    });
    await log.close();
    expect(seqsIn(onlyEvents(await all(salvage(file))))).toEqual(numbers(50).filter((n) => n !== 20));
  });

  test("in its outline cannot be opened", async () => {
    await makeLog(100);
    scribble(file, 0, 16);
    await expect(openSqliteLog({ file, projections: [inputs] })).rejects.toMatchObject(damage);
    await expect(all(salvage(file))).rejects.toMatchObject(damage);
  });
});

describe("a file that was cut short", () => {
  test("is refused when it is opened, and left as it is", async () => {
    await makeLog(500);
    truncateSync(file, statSync(file).size - 5000);
    const before = readFileSync(file);
    await expect(openSqliteLog({ file, projections: [inputs] })).rejects.toMatchObject({
      ...damage,
      message: expect.stringContaining("cut short"),
    });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("while it is open is told as damaged", async () => {
    await makeLog(8000);
    const log = await openSqliteLog({ file, projections: [inputs] });
    truncateSync(file, statSync(file).size / 4);
    await expect(everything(log)).rejects.toMatchObject(damage);
    await log.close();
  });
});

describe("a missing event", () => {
  test("that nobody trimmed is damage, not a gap", async () => {
    await makeLog(20);
    const database = new Database(file);
    database.run("DELETE FROM events WHERE seq IN (7, 8)");
    database.close();
    const log = await openSqliteLog({ file, projections: [inputs] });
    expect(seqsIn(await eventsOf(log))).toEqual([1, 2, 3, 4, 5, 6]);
    await expect(log.read({ after: 6 })).rejects.toMatchObject({
      ...damage,
      message: expect.stringContaining("from seq 7 to 8 are missing"),
    });
    await log.close();
  });
});

describe("salvage", () => {
  test("reads all of a whole file, what is only in its write-ahead log included", async () => {
    const log = await openSqliteLog({ file, projections: [inputs] });
    for (let n = 1; n <= 30; n++) await log.append({ stream: "a", events: [admitted(n)], actor: "u" });
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    expect(onlyEvents(await all(salvage(file)))).toEqual(await eventsOf(log));
    await log.close();
  });

  test("reads on behind bad pages, in order, and everything it gives is as it was", async () => {
    await makeLog(4000);
    const log = await openSqliteLog({ file, projections: [inputs] });
    const whole = new Map((await everything(log)).map((stored) => [stored.seq, stored]));
    await log.close();
    for (const place of [0.2, 0.5, 0.8]) scribble(file, place, 3);
    const saved = onlyEvents(await all(salvage(file)));
    for (const stored of saved) expect(stored).toEqual(whole.get(stored.seq));
    const seqs = seqsIn(saved);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    expect(seqs.length).toBeGreaterThan(3000);
    expect(seqs.length).toBeLessThan(4000);
    expect([seqs[0], seqs.at(-1)]).toEqual([1, 4000]);
  });

  test("reads a file that was cut short, tells what is lost, and leaves it and its folder as they are", async () => {
    await makeLog(900);
    for (const size of [Math.floor(statSync(file).size / 2), Math.floor(statSync(file).size / 3 / 1024) * 1024]) {
      truncateSync(file, size);
      const items = salvage(file);
      const found: (StoredEvent | Hole)[] = [];
      let last = await items.next();
      for (; last.done !== true; last = await items.next()) found.push(last.value);
      const seqs = seqsIn(onlyEvents(found));
      expect(seqs.length).toBeGreaterThan(100);
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
      expect(last.value).toMatchObject({ readable: seqs.length, isEndKnown: false });
      const missing = found.flatMap((each) => ("kind" in each ? [each] : []));
      expect(missing.reduce((sum, { from, to }) => sum + to - from + 1, 0)).toBe(last.value.lost);
      expect([statSync(file).size, readdirSync(folder)]).toEqual([size, ["corral.db"]]);
    }
  });

  test("tells what was trimmed from what is lost", async () => {
    const log = await openSqliteLog({ file, projections: [inputs] });
    for (let n = 1; n <= 10; n++) await log.append({ stream: "a", events: [admitted(n)], actor: "u" });
    await log.trim({ before: 4 });
    await log.close();
    const database = new Database(file);
    database.run("DELETE FROM events WHERE seq IN (6, 7)");
    database.close();
    const found = (await all(salvage(file))).map((each) => ("kind" in each ? each : each.seq));
    expect(found).toEqual([{ kind: "gap", from: 1, to: 3 }, 4, 5, { kind: "lost", from: 6, to: 7 }, 8, 9, 10]);
  });

  test("tells what was passed over from what is lost, and reads on behind it", async () => {
    const log = await openSqliteLog({ file, projections: [inputs], given: 1e9 });
    for (let n = 1; n <= 5; n++) await log.append({ stream: "a", events: [admitted(n)], actor: "u" });
    await log.close();
    const database = new Database(file);
    database.run("DELETE FROM events WHERE seq IN (?, ?)", 1e9 + 2, 1e9 + 4);
    database.close();
    const found = (await all(salvage(file))).map((each) => ("kind" in each ? each : each.seq - 1e9));
    expect(found).toEqual([
      { kind: "gap", from: 1, to: 1e9 + 1 },
      { kind: "lost", from: 1e9 + 2, to: 1e9 + 2 },
      3,
      { kind: "lost", from: 1e9 + 4, to: 1e9 + 4 },
      5,
      6,
    ]);
  });

  test("gives events whose stream's name is lost under the number of the stream", async () => {
    await makeLog(100);
    scribbleTable("streams");
    const saved = onlyEvents(await all(salvage(file)));
    expect(seqsIn(saved)).toEqual(numbers(100));
    expect(new Set(saved.map(({ stream }) => stream))).toEqual(new Set(["stream-1"]));
  });
});

describe("a file set aside", () => {
  test("keeps its write-ahead log and can be salvaged, and a new log is made in its place", async () => {
    const log = await openSqliteLog({ file, projections: [inputs] });
    for (let n = 1; n <= 10; n++) await log.append({ stream: "a", events: [admitted(n)], actor: "u" });
    // As a killed process leaves it.
    for (const end of ["", "-wal"]) writeFileSync(`${file}${end}.copy`, readFileSync(`${file}${end}`));
    await log.close();
    for (const end of ["", "-wal"]) writeFileSync(`${file}${end}`, readFileSync(`${file}${end}.copy`));
    const now = new Date("2026-02-03T04:05:06.789Z");
    const aside = await setAside(file, now);
    expect(aside).toBe(`${file}.damaged-2026-02-03T040506Z`);
    expect([existsSync(file), existsSync(`${file}-wal`), existsSync(`${aside}-wal`)]).toEqual([false, false, true]);
    const fresh = await openSqliteLog({ file, projections: [inputs] });
    expect(await fresh.head()).toBe(0);
    await fresh.close();
    expect(seqsIn(onlyEvents(await all(salvage(aside))))).toEqual(numbers(10));
    // Another one in the same second gets a name of its own.
    expect(await setAside(file, now)).toBe(`${aside}-2`);
    expect(await integrityOf(`${aside}-2`)).toEqual([]);
  });
});

const small = mountSmallDisk();
describe("a disk that is really full", () => {
  test.skipIf(small === undefined)("refuses appends and backups, and all goes on once there is room", async () => {
    const disk = small!.mount(join(folder, "disk"), "1m");
    try {
      const log = await openSqliteLog({ file: join(disk, "corral.db"), projections: [inputs] });
      const [before] = await log.append({ stream: "a", events: [admitted(0)], actor: "u" });
      fill(disk);
      let n = 0;
      const append = () => log.append({ stream: "a", events: [admitted(++n, "x".repeat(20_000))], actor: "u" });
      const refusal = await untilRefused(append);
      expect(refusal).toMatchObject({
        code: "log.full",
        retry: "later",
        message: expect.stringContaining("no room"),
        hint: expect.stringContaining("Make room"),
      });
      const stored = await eventsOf(log);
      expect([stored[0], stored.length]).toEqual([before, n]);
      expect(await settled([log.backup(join(disk, "copy"))])).toEqual(["log.full"]);
      expect(readdirSync(disk).filter((name) => name.startsWith("copy"))).toEqual([]);
      rmSync(join(disk, "filler"));
      const [after] = await append();
      expect(after?.seq).toBe(stored.length + 1);
      await log.close();
      expect(await integrityOf(join(disk, "corral.db"))).toEqual([]);
    } finally {
      small!.unmount(disk);
    }
  });

  test.skipIf(small === undefined)("cannot hold a new log, and says so", async () => {
    const disk = small!.mount(join(folder, "disk"), "64k");
    try {
      fill(disk);
      await expect(openSqliteLog({ file: join(disk, "corral.db"), projections: [] })).rejects.toMatchObject({
        code: "log.full",
        hint: expect.stringContaining("Make room"),
      });
    } finally {
      small!.unmount(disk);
    }
  });
});

const damage = { code: "log.damaged", retry: "never", hint: expect.stringContaining("corral export --from") };

/** A closed log of so many events of about half a page each. */
async function makeLog(count: number): Promise<void> {
  const log = await openSqliteLog({ file, projections: [inputs] });
  for (let n = 1; n <= count; n += 500) {
    const events = numbers(Math.min(500, count - n + 1)).map((k) => admitted(n + k - 1, longText(n + k - 1)));
    await log.append({ stream: "a", events, actor: "u" });
  }
  await log.close();
}

function longText(n: number): string {
  return `text ${n} ${"x".repeat(400)}`;
}

/** Overwrites so many pages at a place of the file, given as a part of its length. */
function scribble(path: string, place: number, pages: number): void {
  const page = 1024;
  const start = Math.floor((statSync(path).size * place) / page) * page;
  overwrite(path, start, pages * page);
}

/** Overwrites the first page of a table. */
function scribbleTable(name: string): void {
  const database = new Database(file, "read");
  const root = database.first("SELECT rootpage FROM sqlite_schema WHERE name = ?", name)?.[0] as number;
  database.close();
  overwrite(file, (root - 1) * 1024, 1024);
}

function overwrite(path: string, start: number, length: number): void {
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, Buffer.alloc(length, 0xa5), 0, length, start);
  closeSync(descriptor);
}

async function everything(log: Log): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const page = await eventsOf(log, { after: events.at(-1)?.seq ?? 0 });
    if (page.length === 0) return events;
    events.push(...page);
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(items);
}

function onlyEvents(salvaged: readonly (StoredEvent | Hole)[]): StoredEvent[] {
  return salvaged.filter((each): each is StoredEvent => "seq" in each);
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function seqsIn(events: readonly StoredEvent[]): number[] {
  return events.map(({ seq }) => seq);
}

async function untilRefused(append: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      await append();
    } catch (error) {
      if (!(error instanceof CorralError)) throw error;
      return error;
    }
  }
}

function fill(disk: string): void {
  const filler = openSync(join(disk, "filler"), "w");
  try {
    for (;;) writeSync(filler, Buffer.alloc(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(filler);
  }
}

/** Disks of a size, in memory; undefined where they cannot be mounted. */
function mountSmallDisk() {
  const mount = (at: string, size: string): string => {
    mkdirSync(at);
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", at], { stdio: "pipe" });
    return at;
  };
  const unmount = (at: string) => void execFileSync("umount", [at]);
  const probe = mkdtempSync(join(tmpdir(), "corral-disk-"));
  const works = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", probe]).status === 0;
  if (works) unmount(probe);
  else console.warn("SKIPPED: tests on a full disk, for only the superuser can mount a small one.");
  rmSync(probe, { recursive: true });
  return works ? { mount, unmount } : undefined;
}
