import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { admitted, inputId, inputs } from "../conformance/fixture.ts";
import { Database } from "./database.ts";
import { openSqliteLog } from "./open.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-log-"));
  file = join(folder, "log.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("acknowledgement", () => {
  test.skipIf(missing("strace"))("follows the sync of what was written (needs strace)", () => {
    expect(traced("synced")).toEqual([
      "written, synced, acknowledged",
      "written, synced, acknowledged",
      "written, synced, acknowledged",
    ]);
  });

  test.skipIf(missing("strace"))("without the sync the trace tells (needs strace)", () => {
    expect(traced("unsynced")).toEqual(["written, acknowledged", "written, acknowledged", "written, acknowledged"]);
  });
});

describe("a sync that fails", () => {
  test.skipIf(missing("strace"))(
    "refuses what it was for, and all that was written is synced elsewhere before anything follows (needs strace)",
    () => {
      const trace = join(folder, "trace");
      const watched = ["--trace=pwrite64,fsync,fdatasync,ftruncate", "--inject=fdatasync:error=EIO:when=3"];
      const command = ["-y", ...watched, "-o", trace, process.execPath, child, "failing-sync", folder];
      expect(JSON.parse(execFileSync("strace", command, { encoding: "utf8" }))).toEqual({
        whileFailing: ["log.unwritable"],
        heardThen: [],
        // It stands, for it may be on the disk; its caller was told otherwise, so nothing of the same lease follows it.
        after: ["lease.stale", "stored"],
        seqs: [1, 2],
        rows: [inputId(1), inputId(3)],
        heard: [1, 2],
      });
      const lines = readFileSync(trace, "utf8").split("\n");
      const failed = lines.findIndex((line) => line.includes("EIO"));
      expect(stepsOf(lines.slice(failed + 1)).slice(0, 6)).toEqual([
        "log.db-wal synced",
        "log.db written",
        "log.db cut",
        "log.db synced",
        "log.db-wal cut",
        "log.db-wal written",
      ]);
      expect(integrity()).toBe("ok");
    },
  );
});

describe("a disk that is full", () => {
  test.skipIf(missing("prlimit"))(
    "refuses every append, tells nobody, and the log goes on when there is room (needs prlimit)",
    () => {
      const output = execFileSync(process.execPath, [child, "full-disk", folder], { encoding: "utf8" });
      expect(JSON.parse(output)).toEqual({
        before: ["stored", "stored"],
        whileFull: ["log.unwritable", "log.unwritable", "append.conflict"],
        readable: 2,
        // What was pipelined behind the lost append under its fence must not stand without it.
        after: ["stored", "lease.stale"],
        seqs: [
          [1, 1],
          [2, 2],
          [3, 3],
        ],
        rows: [inputId(1), inputId(2), inputId(6)],
        heard: [1, 2, 3],
      });
      expect(integrity()).toBe("ok");
    },
  );
});

describe("the file", () => {
  test("is readable by its owner alone", async () => {
    const log = await openSqliteLog({ file: join(folder, "deeper", "log.db"), projections: [inputs] });
    await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
    const modes = ["", "-wal", "-shm"].map((end) => statSync(join(folder, "deeper", `log.db${end}`)).mode & 0o777);
    await log.close();
    expect(modes).toEqual([0o600, 0o600, 0o600]);
  });

  test("of a newer program is refused and left as it is", async () => {
    const newer = new Database(file);
    newer.define("CREATE TABLE marvel (x TEXT) STRICT; PRAGMA user_version = 1000");
    newer.close();
    const before = readFileSync(file);
    await expect(openSqliteLog({ file, projections: [inputs] })).rejects.toMatchObject({
      code: "log.too-new",
      retry: "never",
      hint: expect.stringContaining("newer Corral"),
    });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("that is no database is refused with a hint and left as it is", async () => {
    const text = "this is no database, ".repeat(100);
    writeFileSync(file, text);
    await expect(openSqliteLog({ file, projections: [inputs] })).rejects.toMatchObject({
      code: "log.damaged",
      retry: "never",
      message: expect.stringContaining(file),
      hint: expect.stringContaining("damaged"),
    });
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("that cannot be made is refused with a hint", async () => {
    writeFileSync(join(folder, "taken"), "");
    await expect(openSqliteLog({ file: join(folder, "taken", "log.db"), projections: [] })).rejects.toMatchObject({
      code: "log.unwritable",
      retry: "later",
      message: expect.stringContaining(join(folder, "taken", "log.db")),
      hint: expect.stringContaining("can be written"),
    });
  });
});

const child = fileURLToPath(new URL("./testing/durability-child.ts", import.meta.url));

/** What the main thread did to the write-ahead log before each line of the marker, by the kernel's word. */
function traced(what: "synced" | "unsynced"): string[] {
  const trace = join(folder, "trace");
  const calls = "--trace=write,pwrite64,writev,pwritev,fsync,fdatasync";
  const { status, stderr } = spawnSync("strace", ["-y", calls, "-o", trace, process.execPath, child, what, folder], {
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([0, ""]);
  const stories: string[] = [];
  let story: string[] = [];
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    const step = stepOf(line);
    if (step === undefined) continue;
    if (step !== story.at(-1)) story.push(step);
    if (step !== "acknowledged") continue;
    stories.push(story.slice(story.lastIndexOf("written")).join(", "));
    story = [];
  }
  return stories;
}

/** What happened to which file, repetitions left out. */
function stepsOf(lines: readonly string[]): string[] {
  const words: Record<string, string> = { pwrite64: "written", fsync: "synced", fdatasync: "synced", ftruncate: "cut" };
  const steps = lines.flatMap((line) => {
    const [, call = "", path = ""] = /^(\w+)\(\d+<([^>]*)>/.exec(line) ?? [];
    return /\.db(-wal)?$/.test(path) ? [`${basename(path)} ${words[call]}`] : [];
  });
  return steps.filter((step, at) => step !== steps[at - 1]);
}

function stepOf(line: string): string | undefined {
  const match = /^(\w+)\(\d+<([^>]*)>.* = (\d+)$/.exec(line);
  if (match === null) return undefined;
  const [, call, path] = match;
  if (path!.endsWith("/marker")) return "acknowledged";
  if (!path!.endsWith("-wal")) return undefined;
  return call!.includes("write") ? "written" : "synced";
}

function integrity(): unknown {
  const database = new Database(file);
  const answer = database.first("PRAGMA integrity_check")?.[0];
  database.close();
  return answer;
}

function missing(program: string): boolean {
  const found = (process.env["PATH"] ?? "").split(delimiter).some((place) => existsSync(join(place, program)));
  if (!found) console.warn(`SKIPPED: tests that need ${program}, which is not installed.`);
  return !found;
}
