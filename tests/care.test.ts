import { execFileSync } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Client } from "@corral/client";
import { callsTool, says } from "@corral/daemon/testing";
import { newId, type SessionId } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { eventsUntil, isRunning, setStage, type Stage } from "./story.ts";

type Line = Record<string, unknown> & { readonly seq?: number; readonly kind?: string };

const linesOf = (text: string): Line[] =>
  text === ""
    ? []
    : text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));

const databaseOf = ({ home }: Stage) => join(home, "corral.db");

/** What a command printed, with its exit code. */
async function said(stage: Stage, ...words: string[]) {
  const command = stage.corral(...words);
  const code = await command.exit;
  return { code, out: command.stdout(), err: command.stderr() };
}

/** A session that has worked and is at rest, and enough besides that its log is many pages long. */
async function work(stage: Stage): Promise<void> {
  stage.model.script([callsTool("shell", { command: "seq 1 5000" }), says("done")]);
  expect((await said(stage, "run", "count")).code).toBe(0);
  const client = stage.client();
  // What is done after an activity is recorded in its own time, in whichever order.
  for (const last of ["workspace.unchanged", "snapshot.taken"]) await eventsUntil(client, last);
  for (let n = 0; n < 60; n++) await client.config.set({ key: "logs.level", value: n % 2 === 0 ? "debug" : "info" });
}

function faultsIn(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare("PRAGMA integrity_check")
      .all()
      .map((row) => Object.values(row)[0]);
  } finally {
    database.close();
  }
}

/** Overwrites a stretch of the file. */
function scribble(file: string, from: number, length: number): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(length, 0xa5), 0, length, from);
  closeSync(descriptor);
}

/** Overwrites a page of the table of events, from about the middle of the log. */
function scribbleEvent(file: string): void {
  const page = 1024;
  const leafOfTable = 13;
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare("SELECT trace_id FROM events WHERE seq >= (SELECT max(seq) / 2 FROM events)").all();
  database.close();
  const bytes = readFileSync(file);
  // A row may be spread over pages, and its trace be written down elsewhere too.
  const found = rows
    .map((row) => bytes.indexOf(String(row["trace_id"])))
    .map((at) => at - (at % page))
    .find((at) => at > 0 && bytes[at] === leafOfTable);
  if (found === undefined) throw new Error("no event is whole on a page");
  scribble(file, found, page);
}

function damagedIn({ home }: Stage): string[] {
  return readdirSync(home)
    .filter((name) => /^corral\.db\.damaged-.*Z$/.test(name))
    .map((name) => join(home, name));
}

describe("corral backup", () => {
  test("makes a copy that, restored, holds the same events, and never writes over anything", async () => {
    await using stage = await setStage();
    await work(stage);
    const before = (await said(stage, "events")).out;
    const place = join(stage.repository, "..", "copy of it.db");
    const made = await said(stage, "backup", place);
    expect(made).toMatchObject({ code: 0, err: "" });
    expect(made.out).toContain(`${linesOf(before).length} events up to seq ${linesOf(before).at(-1)?.seq}`);
    expect(made.out).toContain(`corral stop && corral backup restore '${place}'`);
    expect(statSync(place).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(stage.home, "backups"))).toEqual([]);
    const bytes = readFileSync(place);
    expect(await said(stage, "backup", place)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("already exists"),
    });
    expect(readFileSync(place).equals(bytes)).toBe(true);

    const kept = JSON.parse((await said(stage, "backup", "--json")).out);
    expect(kept).toEqual({
      path: expect.stringMatching(/backups\/corral-\d{4}-\d\d-\d\dT\d{6}Z\.db$/),
      bytes: bytes.length,
      events: expect.any(Number),
      seq: expect.any(Number),
    });
    expect(await said(stage, "backup", "restore", place)).toMatchObject({
      code: 1,
      err: expect.stringContaining("corral stop"),
    });

    stage.model.script([says("more")]);
    expect((await said(stage, "run", "more")).code).toBe(0);
    expect((await said(stage, "stop")).code).toBe(0);
    const restored = await said(stage, "backup", "restore", place, "--json");
    expect(JSON.parse(restored.out)).toEqual({
      events: linesOf(before).length,
      seq: linesOf(before).at(-1)?.seq,
      before: expect.stringMatching(/corral\.db\.replaced-/),
    });
    const seq = linesOf(before).at(-1)?.seq ?? 0;
    const after = (await said(stage, "events")).out;
    expect(linesOf(after)).toEqual([...linesOf(before), { kind: "gap", from: seq + 1, to: expect.any(Number) }]);
    expect((await said(stage, "stop")).code).toBe(0);
    expect(faultsIn(databaseOf(stage))).toEqual(["ok"]);
    expect(readdirSync(join(place, "..")).filter((name) => name.startsWith("copy of it"))).toEqual(["copy of it.db"]);
  });

  test("a crashed daemon's write-ahead log is not played into what is restored", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const { path } = JSON.parse((await said(stage, "backup", "--json")).out);
    const before = (await said(stage, "events")).out;
    stage.model.script([says("hello")]);
    expect((await said(stage, "run", "hi")).code).toBe(0);
    await daemon.kill();
    expect(statSync(`${databaseOf(stage)}-wal`).size).toBeGreaterThan(0);
    expect((await said(stage, "backup", "restore", path)).code).toBe(0);
    const after = linesOf((await said(stage, "events")).out);
    expect([after.slice(0, -1), after.at(-1)?.kind]).toEqual([linesOf(before), "gap"]);
    const aside = readdirSync(stage.home).find((name) => /replaced-.*Z$/.test(name));
    const salvaged = await said(stage, "export", "--from", join(stage.home, aside ?? ""));
    expect(salvaged.code).toBe(0);
    expect(salvaged.out).toContain('"type":"activity.settled"');
  });

  test("what is no whole backup is refused, and nothing is touched", async () => {
    await using stage = await setStage();
    await work(stage);
    const { path } = JSON.parse((await said(stage, "backup", "--json")).out);
    expect((await said(stage, "stop")).code).toBe(0);
    scribble(path, 20 * 1024, 8 * 1024);
    const before = readFileSync(databaseOf(stage));
    for (const [file, complaint] of [
      [path, "is not whole"],
      [join(stage.repository, "README.md"), "error: "],
      [join(stage.home, "none.db"), "There is no file"],
    ] as const) {
      const refused = await said(stage, "backup", "restore", file);
      expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining(complaint) });
    }
    expect(readFileSync(databaseOf(stage)).equals(before)).toBe(true);
    expect(readdirSync(stage.home).filter((name) => name.startsWith("corral.db"))).toEqual(["corral.db"]);
  });
});

describe("a follower whose log is replaced", () => {
  /** The first by a command, which starts a daemon where there is none. */
  async function makeTokens(stage: Stage, first: string, ...others: string[]): Promise<void> {
    expect((await said(stage, "token", "create", first)).code).toBe(0);
    for (const name of others) await stage.client().tokens.create({ name });
  }

  /** Replaces the log under a follower that has seen all of it; gives what that printed since. */
  async function seenAcross(stage: Stage, replace: () => Promise<void>): Promise<Line[]> {
    await makeTokens(stage, "one", "two", "three", "four");
    const follower = stage.corral("events", "--follow");
    await follower.shows('"name":"four"');
    expect((await said(stage, "stop")).code).toBe(0);
    await replace();
    const seen = linesOf(follower.stdout()).length;
    await makeTokens(stage, "five", "six", "seven");
    await follower.shows('"name":"seven"');
    follower.process.kill("SIGINT");
    await follower.exit;
    return linesOf(follower.stdout()).slice(seen);
  }

  function expectGapThenTokens(lines: readonly Line[]): void {
    expect(lines.filter(({ kind }) => kind === "gap")).toHaveLength(1);
    const [gap, ...rest] = lines.slice(lines.findIndex(({ kind }) => kind === "gap"));
    const made = rest.filter(({ type }) => type === "token.created");
    expect(made.map(({ data }) => (data as { name: string }).name)).toEqual(["five", "six", "seven"]);
    expect(rest.map(({ seq }) => seq)).toEqual(rest.map((_, index) => Number(gap?.["to"]) + 1 + index));
  }

  test("by a backup gets a gap, and then all that comes", async () => {
    await using stage = await setStage();
    const { path } = JSON.parse((await said(stage, "backup", "--json")).out);
    const lines = await seenAcross(stage, async () => {
      expect((await said(stage, "backup", "restore", path)).code).toBe(0);
    });
    expectGapThenTokens(lines);
  });

  test.each([
    ["of which a page was overwritten", scribbleEvent],
    ["that was emptied", (file: string) => truncateSync(file, 0)],
  ])("by an empty one for a damaged one %s gets a gap, and then all that comes", async (_, harm) => {
    await using stage = await setStage();
    await work(stage);
    const lines = await seenAcross(stage, async () => harm(databaseOf(stage)));
    expect(damagedIn(stage)).toHaveLength(1);
    expectGapThenTokens(lines);
  });
});

describe("corral export", () => {
  test("gives what `corral events` gives, of all or of a session, to stdout or into a new file", async () => {
    await using stage = await setStage();
    await work(stage);
    const events = (await said(stage, "events")).out;
    expect(await said(stage, "export")).toMatchObject({ code: 0, out: events });
    const session = String(linesOf(events).find(({ type }) => type === "session.created")?.["stream"]);
    const own = linesOf(events).filter(({ stream }) => stream === session);
    expect(linesOf((await said(stage, "export", "--session", session)).out)).toEqual(own);
    const after = own[2]?.seq ?? 0;
    expect(linesOf((await said(stage, "export", "--session", session, "--after", String(after))).out)).toEqual(
      own.slice(3),
    );

    const file = join(stage.home, "events.jsonl");
    const written = await said(stage, "export", "--out", file, "--json");
    expect(JSON.parse(written.out)).toMatchObject({ events: linesOf(events).length, lost: 0, isEndKnown: true });
    expect(readFileSync(file, "utf8")).toBe(events);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await said(stage, "export", "--out", file)).code).toBe(2);
    expect(readFileSync(file, "utf8")).toBe(events);

    const live = await said(stage, "export", "--from", databaseOf(stage));
    expect({ code: live.code, lines: linesOf(live.out) }).toEqual({ code: 0, lines: linesOf(events) });
    expect((await said(stage, "stop")).code).toBe(0);
    const { code, out } = await said(stage, "export", "--from", databaseOf(stage), "--session", session);
    // Stopping closes the environment.
    expect({ code, lines: linesOf(out).slice(0, own.length) }).toEqual({ code: 0, lines: own });
    expect(readdirSync(stage.home).filter((name) => name.startsWith("corral.db"))).toEqual(["corral.db"]);
  });
});

describe("a database that is damaged when the daemon starts", () => {
  test.each([
    ["bytes overwritten in its middle", scribbleEvent],
    [
      "its last quarter cut off",
      (file: string) => truncateSync(file, Math.floor(((statSync(file).size / 4) * 3) / 1024) * 1024),
    ],
    ["cut in the middle of a page", (file: string) => truncateSync(file, statSync(file).size - 1500)],
  ])("%s: it is set aside, the daemon comes up, and what is readable can be had", async (_, harm) => {
    await using stage = await setStage();
    await work(stage);
    expect((await said(stage, "stop")).code).toBe(0);
    const before = linesOf((await said(stage, "export", "--from", databaseOf(stage))).out);
    harm(databaseOf(stage));
    const broken = readFileSync(databaseOf(stage));

    const first = await said(stage, "sessions", "--json");
    expect(first).toMatchObject({ code: 0, out: "" });
    const [aside = ""] = damagedIn(stage);
    expect(first.err).toContain(`It was set aside as ${aside}`);
    expect(first.err).toContain(`corral export --from '${aside}'`);
    expect(readFileSync(aside).equals(broken)).toBe(true);
    expect((await said(stage, "status")).err).toContain(`a damaged database was set aside as ${aside}`);
    const doctor = await said(stage, "doctor");
    expect(doctor.out).toContain("! database: a damaged one was set aside");
    expect(readFileSync(join(stage.home, "logs", "daemon.log"), "utf8")).toContain("a damaged database was set aside");

    const salvaged = await said(stage, "export", "--from", aside);
    expect(salvaged.code).toBe(3);
    const events = linesOf(salvaged.out).filter(({ kind }) => kind === undefined);
    expect(events.length).toBeGreaterThan(0);
    const bySeq = new Map(before.map((each) => [each.seq, each]));
    for (const each of events) expect(each).toEqual(bySeq.get(each.seq));
    expect(salvaged.err).toMatch(new RegExp(`^${events.length} events readable, \\d+ lost`));
    expect(readFileSync(aside).equals(broken)).toBe(true);

    stage.model.script([says("fine")]);
    expect((await said(stage, "run", "are you there?")).code).toBe(0);
    expect((await said(stage, "stop")).code).toBe(0);
    expect(faultsIn(databaseOf(stage))).toEqual(["ok"]);
    expect(damagedIn(stage)).toEqual([aside]);
  });

  test("newer than the program: it is refused and left as it is", async () => {
    await using stage = await setStage();
    expect((await said(stage, "sessions")).code).toBe(0);
    expect((await said(stage, "stop")).code).toBe(0);
    const database = new DatabaseSync(databaseOf(stage));
    database.exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 9999");
    database.close();
    const before = readFileSync(databaseOf(stage));
    const refused = await said(stage, "sessions");
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toContain("has schema version 9999");
    expect(refused.err).toContain("hint: Start the newer Corral");
    expect(readFileSync(databaseOf(stage)).equals(before)).toBe(true);
    expect(readdirSync(stage.home).filter((name) => name.startsWith("corral.db"))).toEqual(["corral.db"]);
  });

  test("emptied: that is told, not taken for a first start", async () => {
    await using stage = await setStage();
    expect((await said(stage, "sessions")).code).toBe(0);
    expect((await said(stage, "stop")).code).toBe(0);
    truncateSync(databaseOf(stage), 0);
    expect((await said(stage, "sessions")).err).toContain("the file is empty");
    expect(existsSync(databaseOf(stage))).toBe(true);
    const copy = join(stage.home, "copy");
    copyFileSync(damagedIn(stage)[0] ?? "", copy);
    expect(await said(stage, "export", "--from", copy)).toMatchObject({ code: 1, out: "" });
  });
});

describe("a disk that is full", () => {
  const mayMount = process.getuid?.() === 0;
  if (!mayMount) console.warn("SKIPPED: the story of a full disk, for only the superuser can mount a small one.");

  test.skipIf(!mayMount)("is told with what to do, and the daemon goes on by itself once there is room", async () => {
    await using stage = await setStage();
    mkdirSync(stage.home);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", stage.home]);
    try {
      const daemon = await stage.serve();
      stage.model.script([says("before")]);
      expect((await said(stage, "run", "one")).code).toBe(0);
      stage.model.script(Array.from({ length: 20 }, () => says("after")));
      const [filler, rest] = [join(stage.home, "filler"), join(stage.home, "rest")];
      mkdirSync(rest);
      fill(filler);
      // Room for a word or two, not for what comes of them.
      truncateSync(filler, statSync(filler).size - 200 * 1024);

      const client = stage.client();
      const session = (await client.sessions.list())[0]!;
      const { refusal, admitted } = await untilRefused(client, session.id);
      expect(refusal).toMatchObject({ code: "log.full", retry: "later", hint: expect.stringContaining("Make room") });
      // What was refused was long; from now on there is no room for anything.
      let refused: { readonly code: number | null; readonly err: string } = { code: 0, err: "" };
      // A copy that was being made in the background and finds no room makes some by giving up; a word that finds it
      // is taken, and what comes of it waits until there is more.
      for (let nth = 0; refused.code === 0 && nth < 5; nth++) {
        fill(join(rest, String(nth)));
        refused = await said(stage, "run", "--detach", "two");
      }
      expect(refused.code).toBe(1);
      expect(refused.err).toMatch(
        /^error: .*no (room|space) left.*\nhint: Make room on the disk that holds CORRAL_HOME/m,
      );
      expect(await said(stage, "backup")).toMatchObject({ code: 1, err: expect.stringContaining("Make room") });
      const accepted = linesOf((await said(stage, "events")).out);
      expect(isRunning(daemon.info.pid)).toBe(true);

      rmSync(filler);
      rmSync(rest, { recursive: true });
      const run = await said(stage, "run", "--json", "three");
      expect(run.code).toBe(0);
      expect(run.out).toContain('"outcome":"done"');
      expect(linesOf((await said(stage, "events")).out).slice(0, accepted.length)).toEqual(accepted);
      // Whatever was acknowledged runs, though nobody says another word to that session.
      const enough = 1 + admitted.length;
      expect(await eventsUntil(client, "activity.settled", { session: session.id, nth: enough })).not.toEqual([]);
      expect(await daemon.end("SIGTERM")).toBe(0);
      expect(faultsIn(databaseOf(stage))).toEqual(["ok"]);
    } finally {
      await said(stage, "stop", "--now");
      execFileSync("umount", ["-l", stage.home]);
    }
  });
});

function fill(path: string): void {
  const filler = openSync(path, "w");
  try {
    for (;;) writeSync(filler, Buffer.alloc(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(filler);
  }
}

/** Says long words to the session until one is refused; tells which were admitted. */
async function untilRefused(client: Client, session: SessionId) {
  const admitted: string[] = [];
  for (;;) {
    const id = newId("input");
    try {
      await client.sessions.admit(session, { id, text: "x".repeat(50_000), delivery: "queue" });
      admitted.push(id);
    } catch (refusal) {
      return { refusal, admitted };
    }
  }
}
