import { type StoredEvent } from "@corral/protocol";
import { expect, test } from "vitest";
import type { Log } from "../port.ts";
import { type Bench, admitted, eventsOf, settled, seqsOf, seqsUntil, tailOf } from "./fixture.ts";

export function reading(bench: Bench): void {
  test("goes on after the cursor, in pages, of one stream or of all", async () => {
    const log = await bench.open();
    for (const n of [1, 2, 3, 4, 5, 6]) {
      await log.append({ stream: n % 2 === 0 ? "even" : "odd", events: [admitted(n)], actor: "u" });
    }
    const read = async (range: Parameters<Log["read"]>[0]) => seqsOf(await log.read(range));
    expect(await read({ after: 0, limit: 4 })).toEqual([1, 2, 3, 4]);
    expect(await read({ after: 4, limit: 4 })).toEqual([5, 6]);
    expect(await read({ after: 6 })).toEqual([]);
    expect(await read({ after: 0, stream: "even" })).toEqual([2, 4, 6]);
    expect(await read({ after: 2, stream: "even", limit: 1 })).toEqual([4]);
    expect(await read({ after: 0, stream: "none" })).toEqual([]);
  });

  test("a cursor ahead of the log, which no reader of it can have, is refused rather than waited for", async () => {
    const log = await bench.open();
    await log.append({ stream: "a", events: [admitted(1), admitted(2)], actor: "u" });
    for (const of of [{}, { stream: "a" }, { stream: "none" }]) {
      expect(await log.read({ after: 2, ...of })).toEqual([]);
      const refused = { code: "cursor.ahead", message: expect.stringContaining("newest seq is 2") };
      await expect(log.read({ after: 3, ...of })).rejects.toMatchObject(refused);
      await expect(tailOf(log, { after: 3, ...of }).next()).rejects.toMatchObject(refused);
    }
  });

  test("large events come in pages of their own size, none of them empty before the end", async () => {
    const log = await bench.open();
    const text = "x".repeat(1_000_000);
    for (let n = 1; n <= 6; n++) await log.append({ stream: "a", events: [admitted(n, text)], actor: "u" });
    const seqs: number[] = [];
    for (let page = await eventsOf(log); page.length > 0; page = await eventsOf(log, { after: seqs.at(-1)! })) {
      seqs.push(...page.map(({ seq }) => seq));
    }
    expect(seqs).toEqual([1, 2, 3, 4, 5, 6]);
  });
}

export function listening(bench: Bench): void {
  test("hear of a commit before its caller does, with the very events", async () => {
    const log = await bench.open();
    const heard: (readonly StoredEvent[])[] = [];
    log.onCommit((events) => heard.push(events));
    const stored = await log
      .append({ stream: "a", events: [admitted(1)], actor: "u" })
      .then((events) => ({ events, heard: [...heard] }));
    expect(stored.heard).toEqual([stored.events]);
  });

  test("one that throws strands neither the append, nor the others, nor later commits", async () => {
    const defects: unknown[] = [];
    const log = await bench.open({ onDefect: (defect) => defects.push(defect) });
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

  test("neither does a report of that which throws in turn", async () => {
    const log = await bench.open({
      onDefect: () => {
        throw new Error("cannot be reported");
      },
    });
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    log.onCommit(() => {
      throw new Error("a listener's own fault");
    });
    expect(await settled([log.append({ stream: "a", events: [admitted(1)], actor: "u" })])).toEqual(["stored"]);
    expect((await warned).message).toBe("cannot be reported");
  });

  test("hear nothing of what is refused, and nothing after they stopped", async () => {
    const log = await bench.open();
    const heard: number[] = [];
    const stop = log.onCommit((events) => heard.push(...events.map(({ seq }) => seq)));
    await settled([log.append({ stream: "a", events: [admitted(1)], actor: "u", expectedVersion: 4 })]);
    await log.append({ stream: "a", events: [admitted(2)], actor: "u" });
    stop();
    await log.append({ stream: "a", events: [admitted(3)], actor: "u" });
    expect(heard).toEqual([1]);
  });
}

export function tailing(bench: Bench): void {
  test("gives history, then live, and ends with the signal", async () => {
    const log = await bench.open();
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
    const log = await bench.open();
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
    const log = await bench.open();
    const total = 600;
    const readers: Promise<number[]>[] = [];
    log.onCommit(() => {
      if (readers.length < 20) readers.push(seqsUntil(log, { after: 0 }, total));
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
    const log = await bench.open();
    for (const n of [1, 2, 3]) await log.append({ stream: `s${n % 2}`, events: [admitted(n)], actor: "u" });
    const tail = tailOf(log, { after: 0, stream: "s1" });
    expect(await tail.next()).toEqual([1, 3]);
    await log.append({ stream: "s0", events: [admitted(4)], actor: "u" });
    await log.append({ stream: "s1", events: [admitted(5)], actor: "u" });
    expect(await tail.next()).toEqual([5]);
  });

  test("a reader that falls too far behind fails alone and comes back by its cursor", async () => {
    const log = await bench.open({ readerBound: 10 });
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
}
