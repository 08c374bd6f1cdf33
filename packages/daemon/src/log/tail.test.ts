import { CorralError, event, type Gap, type StoredEvent } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { seqsOf } from "./conformance/fixture.ts";
import { cursorAhead } from "./cursor.ts";
import type { Log, Page, ReadRange } from "./port.ts";
import { follow, type TailCursor } from "./tail.ts";

describe("following a log", () => {
  test("an event committed while the last page of history is on its way is given once", async () => {
    const log = new HeldLog(2);
    const tail = startTail(log, { after: 0 });
    const first = tail.next();
    (await log.nextRead()).answer();
    expect(await first).toEqual([1, 2]);
    const second = tail.next();
    const empty = await log.nextRead();
    log.commit("a");
    empty.answer();
    expect(await second).toEqual([3]);
    const third = tail.next();
    log.commit("a");
    expect(await third).toEqual([4]);
  });

  test("an event that the page holds already is not given again by the live side", async () => {
    const log = new HeldLog(1);
    const tail = startTail(log, { after: 0 });
    const first = tail.next();
    const read = await log.nextRead();
    log.commit("a");
    read.answer({ as: "of-now" });
    expect(await first).toEqual([1, 2]);
    const second = tail.next();
    (await log.nextRead()).answer();
    log.commit("a");
    expect(await second).toEqual([3]);
  });

  test("an event that is announced late, after history gave it, is not given again", async () => {
    const log = new HeldLog(2);
    const tail = startTail(log, { after: 0 });
    const first = tail.next();
    (await log.nextRead()).answer();
    expect(await first).toEqual([1, 2]);
    const second = tail.next();
    (await log.nextRead()).answer();
    log.announce(2);
    log.commit("a");
    expect(await second).toEqual([3]);
  });

  test("a cursor ahead of the log ends it with what the log says, whatever is committed meanwhile", async () => {
    const log = new HeldLog(0);
    const tail = startTail(log, { after: 2 });
    const first = tail.next();
    const read = await log.nextRead();
    for (let n = 0; n < 3; n++) log.commit("a");
    read.fail(cursorAhead(2, 0));
    await expect(first).rejects.toMatchObject({ code: "cursor.ahead" });
    expect([await tail.next(), log.listeners.size]).toEqual(["end", 0]);
  });

  test("history that grows while it is read is read on, however little the backlog holds", async () => {
    const log = new HeldLog(1);
    const tail = startTail(log, { after: 0 }, { page: 2, backlog: 3 });
    const first = tail.next();
    (await log.nextRead()).answer();
    expect(await first).toEqual([1]);
    const second = tail.next();
    const outgrown = await log.nextRead();
    for (let n = 0; n < 5; n++) log.commit("a");
    outgrown.answer();
    for (const page of [[2, 3], [4, 5], [6]]) {
      const next = page[0] === 2 ? second : tail.next();
      (await log.nextRead()).answer();
      expect(await next).toEqual(page);
    }
    const live = tail.next();
    (await log.nextRead()).answer();
    log.commit("a");
    expect(await live).toEqual([7]);
  });

  test("what waits is given in one batch", async () => {
    const { log, tail } = await liveTail({ after: 0 });
    for (let n = 0; n < 3; n++) log.commit("a");
    expect(await tail.next()).toEqual([2, 3, 4]);
  });

  test("events of other streams neither come nor count", async () => {
    const { log, tail } = await liveTail({ after: 0, stream: "a" }, { page: 2, backlog: 2 });
    for (let n = 0; n < 10; n++) log.commit("b");
    log.commit("a");
    expect(await tail.next()).toEqual([12]);
  });

  test("a live reader past its bound is let go at once and told when it asks", async () => {
    const { log, tail } = await liveTail({ after: 0 }, { page: 2, backlog: 2 });
    for (let n = 0; n < 3; n++) log.commit("a");
    expect(log.listeners.size).toBe(0);
    await expect(tail.next()).rejects.toMatchObject({ code: "log.reader-too-slow" });
    expect(await tail.next()).toBe("end");
  });

  test("aborting ends it wherever it stands, and lets go of the log", async () => {
    const reading = new HeldLog(1);
    const tail = startTail(reading, { after: 0 });
    const page = tail.next();
    const read = await reading.nextRead();
    tail.abort();
    read.answer();
    expect([await page, reading.listeners.size]).toEqual(["end", 0]);

    const { log, tail: waiting } = await liveTail({ after: 0 });
    const next = waiting.next();
    waiting.abort();
    expect([await next, log.listeners.size]).toEqual(["end", 0]);

    const stopped = startTail(new HeldLog(1), { after: 0 });
    stopped.abort();
    expect(await stopped.next()).toBe("end");
  });

  test("leaving the loop lets go of the log", async () => {
    const log = new HeldLog(1);
    const tail = startTail(log, { after: 0 });
    const page = tail.next();
    (await log.nextRead()).answer();
    await page;
    await tail.leave();
    expect(log.listeners.size).toBe(0);
  });

  test("a cursor older than what is left gets the gap, then the rest", async () => {
    const log = new HeldLog(4);
    log.trimmed = 2;
    const tail = startTail(log, { after: 1 });
    const pages = [tail.next(), tail.next()];
    (await log.nextRead()).answer();
    (await log.nextRead()).answer();
    expect(await Promise.all(pages)).toEqual([{ kind: "gap", from: 2, to: 2 }, [3, 4]]);
  });

  test.each([{ after: 0 }, { after: 0, stream: "a" }])(
    "a live reader $stream learns of a gap when events were trimmed before they could be told",
    async (cursor) => {
      const { log, tail } = await liveTail(cursor);
      const waiting = tail.next();
      log.commitSilently("a", 3);
      log.trimmed = 3;
      log.tellOfLoss();
      (await log.nextRead()).answer();
      expect(await waiting).toEqual({ kind: "gap", from: 2, to: 3 });
      const rest = tail.next();
      (await log.nextRead()).answer();
      expect(await rest).toEqual([4]);
      const next = tail.next();
      (await log.nextRead()).answer();
      log.commit("a");
      expect(await next).toEqual([5]);
    },
  );

  test("a read that fails reaches the reader", async () => {
    const log = new HeldLog(1);
    const tail = startTail(log, { after: 0 });
    const page = tail.next();
    (await log.nextRead()).fail(new CorralError("log.closed", "The log is closed."));
    await expect(page).rejects.toMatchObject({ code: "log.closed" });
    expect(log.listeners.size).toBe(0);
  });
});

/** A log in memory whose reads see what was there when they began and come back when the test says so. */
class HeldLog implements Pick<Log, "read" | "onCommit"> {
  readonly listeners = new Set<(events: readonly StoredEvent[]) => void>();
  readonly #events: StoredEvent[] = [];
  readonly #reads: HeldRead[] = [];
  #readWaited: ((read: HeldRead) => void) | undefined;

  constructor(history: number) {
    for (let n = 0; n < history; n++) this.commit("a");
  }

  /** Up to here nothing is left. */
  trimmed = 0;

  commitSilently(stream: string, times: number): void {
    for (let n = 0; n < times; n++) this.#events.push(storedEvent(this.#events.length + 1, stream));
  }

  tellOfLoss(): void {
    for (const listener of this.listeners) listener([]);
  }

  commit(stream: string): void {
    this.#events.push(storedEvent(this.#events.length + 1, stream));
    this.announce(this.#events.length);
  }

  announce(seq: number): void {
    for (const listener of this.listeners) listener([this.#events[seq - 1]!]);
  }

  onCommit(listener: (events: readonly StoredEvent[]) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  read(range: ReadRange): Promise<Page> {
    const then = this.#page(range);
    return new Promise((resolve, reject) => {
      const read: HeldRead = {
        answer: ({ as } = { as: "of-then" }) => resolve(as === "of-then" ? then : this.#page(range)),
        fail: reject,
      };
      if (this.#readWaited === undefined) this.#reads.push(read);
      else this.#readWaited(read);
      this.#readWaited = undefined;
    });
  }

  async nextRead(): Promise<HeldRead> {
    return this.#reads.shift() ?? new Promise((resolve) => (this.#readWaited = resolve));
  }

  #page({ after, stream, limit = 1000 }: ReadRange): Page {
    if (after < this.trimmed) return { kind: "gap", from: after + 1, to: this.trimmed };
    return this.#events
      .filter((stored) => stored.seq > after && (stream === undefined || stored.stream === stream))
      .slice(0, limit);
  }
}

interface HeldRead {
  answer(options?: { as: "of-then" | "of-now" }): void;
  fail(error: Error): void;
}

function startTail(log: HeldLog, cursor: TailCursor, limits = { page: 100, backlog: 100 }) {
  const aborting = new AbortController();
  const tail = follow(log, cursor, aborting.signal, limits);
  return {
    async next(): Promise<number[] | Gap | "end"> {
      const result = await tail.next();
      return result.done === true ? "end" : seqsOf(result.value);
    },
    abort: () => aborting.abort(),
    leave: () => tail.return(),
  };
}

/** A tail that has gone live, and has been given event 1 by the live side. */
async function liveTail(cursor: TailCursor, limits?: { page: number; backlog: number }) {
  const log = new HeldLog(0);
  const tail = startTail(log, cursor, limits);
  const probe = tail.next();
  (await log.nextRead()).answer();
  log.commit(cursor.stream ?? "a");
  await probe;
  return { log, tail };
}

function storedEvent(seq: number, stream: string): StoredEvent {
  return {
    seq,
    stream,
    version: seq,
    typeVersion: 1,
    actor: "u",
    approximateCreationTime: "2026-01-01T00:00:00.000Z",
    ...event("activity.opened", { id: "act_1" }),
  };
}
