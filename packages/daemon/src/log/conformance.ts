import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { event, type NewEvent, type StoredEvent } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  admitted,
  inFlight,
  inputId,
  inputs,
  type LogDriver,
  type OpenOptions,
  settled,
} from "./conformance-fixture.ts";
import type { Log, Projection } from "./port.ts";

/** Every driver of the log passes this suite. `module` is the address of the module that exports the driver. */
export function describeLog(name: string, driver: LogDriver, module: string): void {
  describe(`the ${name} log`, () => {
    let folder: string;
    let opened: Log[];
    const open = async (options: Partial<OpenOptions> = {}): Promise<Log> => {
      const log = await driver.open({ folder, projections: [inputs], ...options });
      opened.push(log);
      return log;
    };
    beforeEach(async () => {
      opened = [];
      folder = await mkdtemp(join(tmpdir(), "corral-log-"));
    });
    afterEach(async () => {
      for (const log of opened) await log.close();
      await rm(folder, { recursive: true, force: true });
    });

    describe("appending", () => {
      test("an empty log has head 0 and an empty page", async () => {
        const log = await open();
        expect([await log.head(), await log.read({ after: 0 })]).toEqual([0, []]);
      });

      test("gives each event its seq in the log and its version in the stream", async () => {
        const log = await open();
        await log.append({ stream: "a", events: [admitted(1)], actor: "user" });
        const [second, third] = await log.append({
          stream: "b",
          events: [admitted(2), admitted(3)],
          actor: "user",
          traceId: "trace",
        });
        expect(second).toEqual({
          seq: 2,
          stream: "b",
          version: 1,
          type: "input.admitted",
          typeVersion: 1,
          data: admitted(2).data,
          actor: "user",
          traceId: "trace",
          approximateCreationTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        });
        expect([third?.seq, third?.version]).toEqual([3, 2]);
        expect(await log.head()).toBe(3);
      });

      test("acknowledged appends are there after reopening, as they were given", async () => {
        const first = await open();
        const stored = [
          ...(await first.append({ stream: "a", events: [admitted(1), promoted(1)], actor: "user" })),
          ...(await first.append({ stream: "b", events: [admitted(2, "naïve 😀\0")], actor: "user", traceId: "t" })),
        ];
        await first.close();
        const second = await open();
        expect(await second.read({ after: 0 })).toEqual(stored);
        const [next] = await second.append({ stream: "a", events: [admitted(3)], actor: "user" });
        expect([next?.seq, next?.version]).toEqual([4, 3]);
      });

      test("appends made in order without waiting are stored in that order", async () => {
        const log = await open();
        const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
        await Promise.all(numbers.map((n) => log.append({ stream: `s${n % 7}`, events: [admitted(n)], actor: "u" })));
        expect(idsOf(await log.read({ after: 0 }))).toEqual(numbers.map(inputId));
      });

      test("appends made together share a commit, heard of once", async () => {
        const log = await open();
        const commits: string[][] = [];
        log.onCommit((events) => commits.push(idsOf(events)));
        await Promise.all([1, 2, 3].map((n) => log.append({ stream: `s${n}`, events: [admitted(n)], actor: "u" })));
        expect(commits).toEqual([[1, 2, 3].map(inputId)]);
      });

      test("a refused append in a shared commit leaves the others and burns no seq", async () => {
        const log = await open();
        const outcomes = await settled([
          log.append({ stream: "a", events: [admitted(1)], actor: "u" }),
          log.append({ stream: "a", events: [admitted(2), admitted(3)], actor: "u", expectedVersion: 7 }),
          log.append({ stream: "b", events: [admitted(4)], actor: "u" }),
        ]);
        expect(outcomes).toEqual(["stored", "append.conflict", "stored"]);
        expect(placesOf(await log.read({ after: 0 }))).toEqual([
          [1, "a", 1, inputId(1)],
          [2, "b", 1, inputId(4)],
        ]);
      });

      test("types of a newer program are kept and returned as they are", async () => {
        const log = await open();
        const unknown = { type: "moon.landed", data: { by: ["eagle"] } } as unknown as NewEvent;
        const stored = await log.append({ stream: "a", events: [unknown], actor: "u" });
        await log.close();
        expect(await (await open()).read({ after: 0 })).toEqual(stored);
      });

      test("data that cannot be stored is refused, and nothing else is", async () => {
        const log = await open();
        const endless: Record<string, unknown> = {};
        endless["self"] = endless;
        const outcomes = await settled([
          log.append({
            stream: "a",
            events: [{ type: "moon.landed", data: endless } as unknown as NewEvent],
            actor: "u",
          }),
          log.append({ stream: "a", events: [admitted(1)], actor: "u" }),
        ]);
        expect(outcomes).toEqual(["TypeError", "stored"]);
        expect(placesOf(await log.read({ after: 0 }))).toEqual([[1, "a", 1, inputId(1)]]);
      });
    });

    describe("conditions", () => {
      test("the expected version must be the stream's, 0 meaning that there is none yet", async () => {
        const log = await open();
        const outcomes = await settled([
          log.append({ stream: "a", events: [admitted(1), admitted(2)], actor: "u", expectedVersion: 0 }),
          log.append({ stream: "a", events: [admitted(3)], actor: "u", expectedVersion: 0 }),
          log.append({ stream: "a", events: [admitted(4)], actor: "u", expectedVersion: 2 }),
        ]);
        expect(outcomes).toEqual(["stored", "append.conflict", "stored"]);
      });

      test("a guard sees what earlier appends of the same commit projected", async () => {
        const log = await open();
        const admit = (n: number) =>
          log.append({
            stream: "a",
            events: [admitted(n)],
            actor: "u",
            guards: [{ table: "inputs", key: inputId(n), is: null }],
          });
        const promote = (n: number) =>
          log.append({
            stream: "a",
            events: [promoted(n)],
            actor: "u",
            guards: [{ table: "inputs", key: inputId(n), is: { state: "waiting", session: "a" } }],
          });
        expect(await settled([promote(1), admit(1), admit(1), promote(1), promote(1)])).toEqual([
          "append.conflict",
          "stored",
          "append.conflict",
          "stored",
          "append.conflict",
        ]);
        expect(await log.rows("inputs")).toEqual([row(1, { state: "promoted", place: 1 })]);
      });

      test("a failing projection rolls the append back whole", async () => {
        const log = await open({ projections: [inputs, refusesPoison] });
        await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
        const outcomes = await settled([
          log.append({ stream: "a", events: [admitted(2), admitted(3, "poison"), admitted(4)], actor: "u" }),
          log.append({ stream: "a", events: [admitted(5)], actor: "u" }),
        ]);
        expect(outcomes).toEqual(["internal", "stored"]);
        expect(placesOf(await log.read({ after: 0 }))).toEqual([
          [1, "a", 1, inputId(1)],
          [2, "a", 2, inputId(5)],
        ]);
        expect(await log.rows("inputs")).toEqual([row(1, { place: 1 }), row(5, { place: 2 })]);
      });
    });

    describe("leases", () => {
      test("an append under an older fence is refused, one under the newest is taken", async () => {
        const log = await open();
        const old = await log.takeLease("a", "one");
        const current = await log.takeLease("a", "two");
        expect(current.fence).toBeGreaterThan(old.fence);
        const under = (fence: number, n: number) =>
          log.append({ stream: "a", events: [admitted(n)], actor: "u", fence });
        expect(await settled([under(old.fence, 1), under(current.fence, 2), under(old.fence, 3)])).toEqual([
          "lease.stale",
          "stored",
          "lease.stale",
        ]);
      });

      test("a fence never given out is refused and harms no later one", async () => {
        const log = await open();
        const invented = log.append({ stream: "a", events: [admitted(1)], actor: "u", fence: 1 });
        expect(await settled([invented])).toEqual(["lease.stale"]);
        const { fence } = await log.takeLease("a", "one");
        expect(await settled([log.append({ stream: "a", events: [admitted(2)], actor: "u", fence })])).toEqual([
          "stored",
        ]);
      });

      test("a lease taken between two appends made in order divides them", async () => {
        const log = await open();
        const { fence } = await log.takeLease("a", "one");
        const before = log.append({ stream: "a", events: [admitted(1)], actor: "u", fence });
        const taken = log.takeLease("a", "two");
        const after = log.append({ stream: "a", events: [admitted(2)], actor: "u", fence });
        expect(await settled([before, taken, after])).toEqual(["stored", "stored", "lease.stale"]);
      });

      test("fences grow across restarts", async () => {
        const first = await open();
        const before = await first.takeLease("a", "one");
        await first.close();
        const second = await open();
        const after = await second.takeLease("a", "one");
        expect(after.fence).toBeGreaterThan(before.fence);
        const late = second.append({ stream: "a", events: [admitted(1)], actor: "u", fence: before.fence });
        expect(await settled([late])).toEqual(["lease.stale"]);
      });

      test("a lease still holds after a restart until another is taken", async () => {
        const first = await open();
        const { fence } = await first.takeLease("a", "one");
        await first.close();
        const second = await open();
        expect(await settled([second.append({ stream: "a", events: [admitted(1)], actor: "u", fence })])).toEqual([
          "stored",
        ]);
      });

      test("nothing is taken under a lease given back, and giving it back again is harmless", async () => {
        const log = await open();
        const old = await log.takeLease("a", "one");
        await log.releaseLease(old);
        await log.releaseLease(old);
        const late = log.append({ stream: "a", events: [admitted(1)], actor: "u", fence: old.fence });
        expect(await settled([late])).toEqual(["lease.stale"]);
        const current = await log.takeLease("a", "two");
        await log.releaseLease(old);
        const held = log.append({ stream: "a", events: [admitted(2)], actor: "u", fence: current.fence });
        expect(await settled([held])).toEqual(["stored"]);
      });

      test.each([
        ["version", { expectedVersion: 9 }, "append.conflict"],
        ["guard", { guards: [{ table: "inputs", key: "missing", is: { state: "waiting" } }] }, "append.conflict"],
        ["projection", { events: [admitted(9, "poison")] }, "internal"],
      ])("once an append under a fence is refused for its %s, no later one is taken", async (_, refusal, code) => {
        const log = await open({ projections: [inputs, refusesPoison] });
        const { fence } = await log.takeLease("a", "one");
        const under = (n: number, more = {}) =>
          log.append({ stream: "a", events: [admitted(n)], actor: "u", fence, ...more });
        expect(await settled([under(1), under(2, refusal), under(3)])).toEqual(["stored", code, "lease.stale"]);
        expect(await settled([under(4)])).toEqual(["lease.stale"]);
        const others = log.append({ stream: "a", events: [admitted(5)], actor: "u" });
        expect(await settled([others])).toEqual(["stored"]);
        const next = await log.takeLease("a", "one");
        expect(await settled([under(6, { fence: next.fence })])).toEqual(["stored"]);
      });
    });

    describe("reading", () => {
      test("goes on after the cursor, in pages, of one stream or of all", async () => {
        const log = await open();
        for (const n of [1, 2, 3, 4, 5, 6]) {
          await log.append({ stream: n % 2 === 0 ? "even" : "odd", events: [admitted(n)], actor: "u" });
        }
        const read = async (range: Parameters<Log["read"]>[0]) => (await log.read(range)).map(({ seq }) => seq);
        expect(await read({ after: 0, limit: 4 })).toEqual([1, 2, 3, 4]);
        expect(await read({ after: 4, limit: 4 })).toEqual([5, 6]);
        expect(await read({ after: 6 })).toEqual([]);
        expect(await read({ after: 0, stream: "even" })).toEqual([2, 4, 6]);
        expect(await read({ after: 2, stream: "even", limit: 1 })).toEqual([4]);
        expect(await read({ after: 0, stream: "none" })).toEqual([]);
      });

      test("large events come in pages of their own size, none of them empty before the end", async () => {
        const log = await open();
        const text = "x".repeat(1_000_000);
        for (let n = 1; n <= 6; n++) await log.append({ stream: "a", events: [admitted(n, text)], actor: "u" });
        const seqs: number[] = [];
        for (let page = await log.read({ after: 0 }); page.length > 0; page = await log.read({ after: seqs.at(-1)! })) {
          seqs.push(...page.map(({ seq }) => seq));
        }
        expect(seqs).toEqual([1, 2, 3, 4, 5, 6]);
      });
    });

    describe("commit listeners", () => {
      test("hear of a commit before its caller does, with the very events", async () => {
        const log = await open();
        const heard: (readonly StoredEvent[])[] = [];
        log.onCommit((events) => heard.push(events));
        const stored = await log
          .append({ stream: "a", events: [admitted(1)], actor: "u" })
          .then((events) => ({ events, heard: [...heard] }));
        expect(stored.heard).toEqual([stored.events]);
      });

      test("one that throws strands neither the append, nor the others, nor later commits", async () => {
        const defects: unknown[] = [];
        const log = await open({ onDefect: (defect) => defects.push(defect) });
        const defect = new Error("a listener's own fault");
        const heard: number[] = [];
        log.onCommit(() => {
          throw defect;
        });
        log.onCommit((events) => heard.push(...events.map(({ seq }) => seq)));
        await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
        await log.append({ stream: "a", events: [admitted(2)], actor: "u" });
        expect([heard, defects]).toEqual([
          [1, 2],
          [defect, defect],
        ]);
      });

      test("hear nothing of what is refused, and nothing after they stopped", async () => {
        const log = await open();
        const heard: number[] = [];
        const stop = log.onCommit((events) => heard.push(...events.map(({ seq }) => seq)));
        await settled([log.append({ stream: "a", events: [admitted(1)], actor: "u", expectedVersion: 4 })]);
        await log.append({ stream: "a", events: [admitted(2)], actor: "u" });
        stop();
        await log.append({ stream: "a", events: [admitted(3)], actor: "u" });
        expect(heard).toEqual([1]);
      });
    });

    describe("tailing", () => {
      test("gives history, then live, and ends with the signal", async () => {
        const log = await open();
        await log.append({ stream: "a", events: [admitted(1), admitted(2)], actor: "u" });
        const tail = tailOf(log, { after: 1 });
        expect(await tail.next()).toEqual([2]);
        const waiting = tail.next();
        await log.append({ stream: "b", events: [admitted(3)], actor: "u" });
        expect(await waiting).toEqual([3]);
        const last = tail.next();
        tail.stop();
        expect(await last).toBe("end");
      });

      test("an event committed between history and live is neither lost nor doubled", async () => {
        const log = await open();
        await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
        const tail = tailOf(log, { after: 0 });
        expect(await tail.next()).toEqual([1]);
        // Durable while the reader still holds its page of history ...
        await log.append({ stream: "a", events: [admitted(2)], actor: "u" });
        expect(await tail.next()).toEqual([2]);
        // ... and in flight while it asks for the next.
        const appended = log.append({ stream: "a", events: [admitted(3)], actor: "u" });
        expect(await tail.next()).toEqual([3]);
        await appended;
        await log.append({ stream: "a", events: [admitted(4)], actor: "u" });
        expect(await tail.next()).toEqual([4]);
      });

      test("readers that start anywhere amid a storm of appends see every seq once", async () => {
        const log = await open();
        const total = 600;
        const readers: Promise<number[]>[] = [];
        log.onCommit((events) => {
          if (readers.length < 20) readers.push(seqsUntil(log, { after: 0 }, total));
          expect(events.length).toBeGreaterThan(0);
        });
        await Promise.all(
          Array.from({ length: 6 }, async (_, writer) => {
            for (let n = 0; n < total / 6; n++) {
              await log.append({ stream: `s${writer}`, events: [admitted(writer * 1000 + n)], actor: "u" });
            }
          }),
        );
        const everything = Array.from({ length: total }, (_, index) => index + 1);
        for (const seqs of await Promise.all(readers)) expect(seqs).toEqual(everything);
        expect(readers).toHaveLength(20);
      });

      test("a tail of one stream gives that stream alone", async () => {
        const log = await open();
        for (const n of [1, 2, 3]) await log.append({ stream: `s${n % 2}`, events: [admitted(n)], actor: "u" });
        const tail = tailOf(log, { after: 0, stream: "s1" });
        expect(await tail.next()).toEqual([1, 3]);
        await log.append({ stream: "s0", events: [admitted(4)], actor: "u" });
        await log.append({ stream: "s1", events: [admitted(5)], actor: "u" });
        expect(await tail.next()).toEqual([5]);
      });

      test("a reader that falls too far behind fails alone and comes back by its cursor", async () => {
        const log = await open({ readerBound: 10 });
        const [slow, quick] = [tailOf(log, { after: 0 }), tailOf(log, { after: 0 })];
        const first = [slow.next(), quick.next()];
        await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
        expect(await Promise.all(first)).toEqual([[1], [1]]);
        // The first page may have been history; the second is live for certain.
        const second = [slow.next(), quick.next()];
        await log.append({ stream: "a", events: [admitted(2)], actor: "u" });
        expect(await Promise.all(second)).toEqual([[2], [2]]);
        for (let n = 3; n <= 13; n++) {
          const next = quick.next();
          await log.append({ stream: "a", events: [admitted(n)], actor: "u" });
          expect(await next).toEqual([n]);
        }
        await expect(slow.next()).rejects.toMatchObject({ code: "log.reader-too-slow", retry: "now" });
        expect(await seqsUntil(log, { after: 2 }, 13)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
        const last = quick.next();
        await log.append({ stream: "a", events: [admitted(14)], actor: "u" });
        expect(await last).toEqual([14]);
      });
    });

    describe("projections", () => {
      test("changes set the named columns, leave the others, and delete", async () => {
        const log = await open();
        await log.append({ stream: "a", events: [admitted(1), admitted(2), promoted(1)], actor: "u" });
        expect(await log.row("inputs", inputId(1))).toEqual(row(1, { state: "promoted", place: 1 }));
        await log.append({
          stream: "a",
          events: [event("environment.closed", { id: "env_1", reason: inputId(2) })],
          actor: "u",
        });
        expect(await log.row("inputs", inputId(2))).toBeUndefined();
      });

      test("rows are found by equality, in order, up to a limit", async () => {
        const log = await open();
        await log.append({ stream: "b", events: [admitted(1), admitted(4)], actor: "u" });
        await log.append({ stream: "a", events: [admitted(3), admitted(2), promoted(3)], actor: "u" });
        const keys = async (query: Parameters<Log["rows"]>[1]) =>
          (await log.rows("inputs", query)).map(({ key }) => key);
        expect(await keys({})).toEqual([1, 2, 3, 4].map(inputId));
        expect(await keys({ where: { session: "a" } })).toEqual([2, 3].map(inputId));
        expect(await keys({ where: { session: "a" }, orderBy: "place" })).toEqual([3, 2].map(inputId));
        expect(await keys({ where: { session: "b", state: "waiting" }, orderBy: "place", limit: 1 })).toEqual([
          inputId(1),
        ]);
        expect(await keys({ where: { activity: null } })).toEqual([1, 2, 4].map(inputId));
      });

      test("a question the projection has no index for is refused, as is a table that does not exist", async () => {
        const log = await open();
        await expect(log.rows("inputs", { where: { text: "x" } })).rejects.toMatchObject({ code: "internal" });
        await expect(log.row("nothing", "x")).rejects.toMatchObject({ code: "internal" });
      });

      test("rebuilt from the log they equal what was kept", async () => {
        const first = await open();
        for (let n = 1; n <= 40; n++) await first.append({ stream: `s${n % 3}`, events: [admitted(n)], actor: "u" });
        for (const n of [3, 7, 9]) await first.append({ stream: "s0", events: [promoted(n)], actor: "u" });
        const kept = await first.rows("inputs");
        await first.close();
        const rebuilds: number[] = [];
        const counted = (version: number): Projection => ({
          ...inputs,
          version,
          changes: (stored) => (rebuilds.push(stored.seq), inputs.changes(stored)),
        });
        const same = await open({ projections: [counted(inputs.version)] });
        expect([rebuilds.length, await same.rows("inputs")]).toEqual([0, kept]);
        await same.close();
        const raised = await open({ projections: [counted(inputs.version + 1)] });
        expect([rebuilds.length, await raised.rows("inputs")]).toEqual([43, kept]);
      });

      test("one that this program does not know is built anew when a program with it returns", async () => {
        const first = await open();
        await first.append({ stream: "a", events: [admitted(1)], actor: "u" });
        await first.close();
        const without = await open({ projections: [] });
        await without.append({ stream: "a", events: [admitted(2)], actor: "u" });
        await without.close();
        expect(await (await open()).rows("inputs")).toEqual([row(1, { place: 1 }), row(2, { place: 2 })]);
      });
    });

    describe("the live lane", () => {
      test("a late subscriber gets the text so far, then what follows, until the whole is stored", async () => {
        const log = await open();
        const session = "ses_1";
        const say = (offset: number, text: string) =>
          log.live.emit({ kind: "text", session, part: "prt_1", offset, text });
        say(0, "Hello ");
        say(6, "wor");
        const heard = listenTo(log.live, { session });
        expect(heard.all).toEqual([{ kind: "text", session, part: "prt_1", offset: 0, text: "Hello wor" }]);
        say(9, "ld");
        expect(await heard.next()).toEqual([{ kind: "text", session, part: "prt_1", offset: 9, text: "ld" }]);
        await log.append({
          stream: session,
          events: [event("turn.said", { id: "trn_1", part: "prt_1", kind: "text", text: "Hello world" })],
          actor: "u",
        });
        expect(listenTo(log.live, { session }).all).toEqual([]);
      });
    });

    describe("closing", () => {
      test("finishes what was accepted and refuses what comes later", async () => {
        const log = await open();
        const accepted = log.append({ stream: "a", events: [admitted(1)], actor: "u" });
        await log.close();
        expect(await settled([accepted])).toEqual(["stored"]);
        const late = [
          log.append({ stream: "a", events: [admitted(2)], actor: "u" }),
          log.read({ after: 0 }),
          log.head(),
          log.row("inputs", "x"),
          log.rows("inputs"),
          log.takeLease("a", "one"),
          log.releaseLease({ stream: "a", fence: 1, holder: "one" }),
          tailOf(log, { after: 0 }).next(),
        ];
        expect(await settled(late)).toEqual(late.map(() => "log.closed"));
        await log.close();
        expect(idsOf(await (await open()).read({ after: 0 }))).toEqual([inputId(1)]);
      });

      test("wakes a waiting tail", async () => {
        const log = await open();
        await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
        const tail = tailOf(log, { after: 0 });
        await tail.next();
        const waiting = tail.next();
        await log.close();
        expect(await settled([waiting])).toEqual(["log.closed"]);
      });
    });

    describe("other processes", () => {
      test("several that start at once on an empty folder make the log once", async () => {
        const outputs = await Promise.all(
          [1, 2, 3, 4].map((n) => promisify(execFile)(process.execPath, [writer, module, folder, "one", `${n}`])),
        );
        expect(outputs.map(({ stderr }) => stderr)).toEqual(["", "", "", ""]);
        const events = await (await open()).read({ after: 0 });
        expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
        expect(idsOf(events).toSorted()).toEqual([1, 2, 3, 4].map(inputId));
      });

      test("what another process wrote is noticed by versions, fences, listeners and tails", async () => {
        const log = await open();
        const { fence } = await log.takeLease("a", "here");
        await log.append({ stream: "a", events: [admitted(1)], actor: "u", fence });
        const heard: number[] = [];
        log.onCommit((events) => heard.push(...events.map(({ seq }) => seq)));
        const tailed = seqsUntil(log, { after: 1 }, 3);
        await promisify(execFile)(process.execPath, [writer, module, folder, "usurp", "2"]);
        expect(
          await settled([
            log.append({ stream: "a", events: [admitted(3)], actor: "u", fence }),
            log.append({ stream: "a", events: [admitted(4)], actor: "u", expectedVersion: 1 }),
            log.append({ stream: "a", events: [admitted(5)], actor: "u", expectedVersion: 2 }),
          ]),
        ).toEqual(["lease.stale", "append.conflict", "stored"]);
        expect(heard).toEqual([2, 3]);
        expect(await tailed).toEqual([2, 3]);
      });

      test("kill -9 amid many appends keeps exactly the acknowledged, and of those in flight whole ones in order", async () => {
        const child = spawn(process.execPath, [writer, module, folder, "storm"], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        const acknowledged: { caller: number; n: number; seqs: number[] }[] = [];
        for await (const line of createInterface({ input: child.stdout })) {
          acknowledged.push(JSON.parse(line));
          if (acknowledged.length === 1500) child.kill("SIGKILL");
        }
        expect(acknowledged.length).toBeGreaterThanOrEqual(1500);
        expect(await driver.verify(folder)).toBe("ok");

        const log = await open();
        const events = await everything(log);
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
        const appends = appendsIn(events);
        for (const [caller, numbers] of appends.byCaller) {
          expect(numbers).toEqual(numbers.map((_, index) => index + 1));
          const known = acknowledged.filter((ack) => ack.caller === caller).length;
          expect(numbers.length - known).toBeLessThanOrEqual(inFlight);
        }
        for (const { caller, n, seqs } of acknowledged) expect(appends.seqs.get(`${caller}-${n}`)).toEqual(seqs);
        const kept = await log.rows("inputs");
        await log.close();
        const rebuilt = await open({ projections: [{ ...inputs, version: inputs.version + 1 }] });
        expect(await rebuilt.rows("inputs")).toEqual(kept);
      });
    });
  });
}

const writer = fileURLToPath(new URL("./conformance-writer.ts", import.meta.url));

const refusesPoison: Projection = {
  table: "poison",
  columns: {},
  version: 1,
  changes(stored) {
    if (stored.type === "input.admitted" && stored.data.text === "poison") throw new Error("cannot be projected");
    return [{ key: `${stored.seq}`, set: {} }];
  },
};

function promoted(n: number): NewEvent {
  return event("input.promoted", { id: inputId(n), activityId: `act_${n}` });
}

function row(n: number, { state = "waiting", place }: { state?: string; place: number }) {
  const activity = state === "promoted" ? `act_${n}` : null;
  return { key: inputId(n), session: "a", state, activity, text: `text ${n}`, place };
}

function idsOf(events: readonly StoredEvent[]): string[] {
  return events.map(({ data }) => (data as { id: string }).id);
}

function placesOf(events: readonly StoredEvent[]) {
  return events.map((stored) => [stored.seq, stored.stream, stored.version, (stored.data as { id: string }).id]);
}

/** A tail driven by hand. Whoever forgets to stop it leaves it to the closing of the log. */
function tailOf(log: Log, cursor: Parameters<Log["tail"]>[0]) {
  const stopping = new AbortController();
  const iterator = log.tail(cursor, stopping.signal)[Symbol.asyncIterator]();
  return {
    async next(): Promise<number[] | "end"> {
      const result = await iterator.next();
      return result.done === true ? "end" : result.value.map(({ seq }) => seq);
    },
    stop: () => stopping.abort(),
  };
}

async function seqsUntil(log: Log, cursor: Parameters<Log["tail"]>[0], last: number): Promise<number[]> {
  const stopping = new AbortController();
  const seqs: number[] = [];
  for await (const events of log.tail(cursor, stopping.signal)) {
    seqs.push(...events.map(({ seq }) => seq));
    if (seqs.at(-1)! >= last) stopping.abort();
  }
  return seqs;
}

/** What a subscriber hears, and a promise of the next batch. */
function listenTo(lane: Log["live"], filter: Parameters<Log["live"]["subscribe"]>[0]) {
  type Batch = Parameters<Parameters<Log["live"]["subscribe"]>[1]>[0];
  const all: Batch[number][] = [];
  let wake: (batch: Batch) => void = () => {};
  lane.subscribe(filter, (deltas) => {
    all.push(...deltas);
    wake(deltas);
  });
  return { all, next: () => new Promise<Batch>((resolve) => (wake = resolve)) };
}

async function everything(log: Log): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let page = await log.read({ after: 0 }); page.length > 0; page = await log.read({ after: events.at(-1)!.seq })) {
    events.push(...page);
  }
  return events;
}

/** The storm's appends as found in the log: the input ids are `caller-n-piece of pieces`. */
function appendsIn(events: readonly StoredEvent[]) {
  const seqs = new Map<string, number[]>();
  const byCaller = new Map<number, number[]>();
  let expected = 1;
  for (const [index, id] of idsOf(events).entries()) {
    const [, caller, n, piece, pieces] = /^inp_(\d+)-(\d+)-(\d+)of(\d+)$/.exec(id)!.map(Number);
    expect(piece).toBe(expected);
    expected = piece === pieces ? 1 : piece! + 1;
    if (piece === 1) byCaller.set(caller!, [...(byCaller.get(caller!) ?? []), n!]);
    seqs.set(`${caller}-${n}`, [...(seqs.get(`${caller}-${n}`) ?? []), events[index]!.seq]);
  }
  expect(expected).toBe(1);
  return { seqs, byCaller };
}
