import { type Delta, event, type NewEvent, type StoredEvent } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CommitClosedLane, type LiveOptions } from "./live.ts";

describe("the live lane", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("gathers pieces for a few milliseconds and joins those that adjoin", () => {
    const { lane } = start();
    const heard = listen(lane);
    lane.emit(text(0, "Hel"));
    lane.emit(text(3, "lo"));
    lane.emit(stdout(0, "out"));
    lane.emit(text(5, "!"));
    expect(heard).toEqual([]);
    vi.runAllTimers();
    expect(heard).toEqual([[text(0, "Hello"), stdout(0, "out"), text(5, "!")]]);
  });

  test("a new subscriber gets the text so far, and what waited is not given to it twice", () => {
    const { lane } = start();
    const early = listen(lane);
    lane.emit(text(0, "Hello"));
    const late = listen(lane);
    expect([early, late]).toEqual([[[text(0, "Hello")]], [[text(0, "Hello")]]]);
    lane.emit(text(5, " you"));
    vi.runAllTimers();
    expect([early.at(-1), late.at(-1)]).toEqual([[text(5, " you")], [text(5, " you")]]);
  });

  test("a subscriber of one session hears of that one alone", () => {
    const { lane } = start();
    lane.emit(text(0, "mine"));
    lane.emit({ ...text(0, "yours"), session: "ses_2", part: "prt_2" } as Delta);
    const heard = listen(lane, { session: "ses_2" });
    lane.emit(text(4, "more of mine"));
    vi.runAllTimers();
    expect(heard).toEqual([[{ ...text(0, "yours"), session: "ses_2", part: "prt_2" }]]);
  });

  test("a repeated piece is heard once, an overlapping one from where it is new", () => {
    const { lane } = start();
    const heard = listen(lane);
    lane.emit(text(0, "Hello"));
    lane.emit(text(0, "Hel"));
    lane.emit(text(3, "lo you"));
    vi.runAllTimers();
    expect(heard).toEqual([[text(0, "Hello you")]]);
  });

  test("after a hole the text so far begins behind it", () => {
    const { lane } = start();
    lane.emit(text(0, "Hello"));
    lane.emit(text(100, "later"));
    lane.emit(text(105, "!"));
    expect(listen(lane)).toEqual([[text(100, "later!")]]);
  });

  const reply = [text(0, "t"), reasoning(0, "r")];
  const output = [stdout(0, "o"), stderr(0, "e")];
  test.each<[NewEvent, Delta[]]>([
    [event("turn.said", { id: "trn_1", part: "prt_1", kind: "text", text: "t" }), [reasoning(0, "r"), ...output]],
    [event("turn.settled", { id: "trn_1", outcome: "replied" }), output],
    [event("turn.dispatched", { id: "trn_1", attempt: 2 }), output],
    [event("call.settled", { id: "cal_1", result: {} }), reply],
    [event("call.failed", { id: "cal_1", error: { code: "x", message: "y" } }), reply],
    [event("call.interrupted", { id: "cal_1" }), reply],
    [event("call.unknown", { id: "cal_1", reason: "x" }), reply],
    [event("activity.settled", { id: "act_1", outcome: "done" }), []],
    [event("call.started", { id: "cal_2", attempt: 1 }), [...reply, ...output]],
  ])("the commit of $type closes what it ends", (closing, left) => {
    const { lane, commit } = start();
    const early = listen(lane);
    const elsewhere = { ...text(0, "x"), session: "ses_2", part: "prt_9" } as Delta;
    for (const delta of [...reply, ...output, elsewhere]) lane.emit(delta);
    commit(closing);
    vi.runAllTimers();
    const late = listen(lane);
    expect([early.flat(), late.flat()]).toEqual([
      [...left, elsewhere],
      [...left, elsewhere],
    ]);
  });

  test("a part that outgrows its bound loses its head, and the offset tells", () => {
    const { lane } = start({ partLimit: 8 });
    lane.emit(text(0, "12345678"));
    expect(listen(lane)).toEqual([[text(0, "12345678")]]);
    lane.emit(text(8, "9"));
    expect(listen(lane)).toEqual([[text(5, "6789")]]);
  });

  test("a head is not cut inside a character of two units", () => {
    const { lane } = start({ partLimit: 8 });
    lane.emit(text(0, "1234567😀9ab"));
    expect(listen(lane)).toEqual([[text(9, "9ab")]]);
  });

  test("when all parts together outgrow their bound the oldest is forgotten", () => {
    const { lane } = start({ totalLimit: 2 * 256 + 10 });
    lane.emit(text(0, "123456"));
    lane.emit(stdout(0, "1234"));
    expect(listen(lane)).toEqual([[text(0, "123456"), stdout(0, "1234")]]);
    lane.emit(stdout(4, "5"));
    expect(listen(lane)).toEqual([[stdout(0, "12345")]]);
  });

  test("however many parts there are, only so many are remembered", () => {
    const { lane } = start({ totalLimit: 100 * 257 });
    for (let n = 0; n < 10_000; n++) lane.emit({ ...text(0, "x"), part: `prt_${n}` } as Delta);
    const parts = listen(lane)
      .flat()
      .map(({ part }) => part);
    expect(parts).toEqual(Array.from({ length: 100 }, (_, n) => `prt_${9900 + n}`));
  });

  test("a flood is handed out without waiting for the timer, so that what waits stays small", () => {
    const { lane } = start({ waitingLimit: 10_000 });
    const batches = listen(lane);
    for (let n = 0; n < 1000; n++)
      lane.emit(n % 2 === 0 ? text(n * 50, "x".repeat(100)) : stdout(n * 50, "y".repeat(100)));
    expect(batches.length).toBeGreaterThan(30);
    const sizes = batches.map((batch) => batch.reduce((sum, delta) => sum + delta.text.length, 0));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(10_000);
    vi.runAllTimers();
    expect(batches.flat().reduce((sum, delta) => sum + delta.text.length, 0)).toBe(100_000);
  });

  test("amid many parts and subscribers each hears its own session whole, whatever the slow, the broken and the leaving do", () => {
    const { lane, defects } = start({ waitingLimit: 5000 });
    const sessions = Array.from({ length: 20 }, (_, n) => `ses_${n}` as const);
    const heard = sessions.map((session) => listen(lane, { session }));
    const defect = new Error("own fault");
    lane.subscribe({ session: "ses_3" }, () => {
      throw defect;
    });
    let left = 0;
    const leave = lane.subscribe({ session: "ses_3" }, () => {
      left += 1;
      leave();
    });
    // One that takes in nothing and only counts what it would have to hold.
    let unread = 0;
    lane.subscribe({}, (deltas) => (unread += deltas.length));
    for (let n = 0; n < 500; n++) {
      for (const session of sessions)
        lane.emit({ kind: "text", session, part: `prt_${session}`, offset: n * 3, text: "abc" });
    }
    vi.runAllTimers();
    const texts = heard.map((batches) =>
      batches
        .flat()
        .map((delta) => delta.text)
        .join(""),
    );
    expect(texts).toEqual(sessions.map(() => "abc".repeat(500)));
    expect(heard.flatMap((batches, n) => batches.flat().filter(({ session }) => session !== sessions[n]))).toEqual([]);
    expect([left, new Set(defects)]).toEqual([1, new Set([defect])]);
    expect(unread).toBe(heard.flat(2).length);
  });

  test("a subscriber that throws disturbs nobody, and one that stopped hears nothing", () => {
    const { lane, defects } = start();
    const defect = new Error("own fault");
    lane.emit(text(0, "a"));
    lane.subscribe({}, () => {
      throw defect;
    });
    const heard: (readonly Delta[])[] = [];
    const stop = lane.subscribe({}, (deltas) => heard.push(deltas));
    lane.emit(text(1, "b"));
    vi.runAllTimers();
    stop();
    lane.emit(text(2, "c"));
    vi.runAllTimers();
    expect([heard, defects]).toEqual([
      [[text(0, "a")], [text(1, "b")]],
      [defect, defect, defect],
    ]);
  });
});

function start(options: Partial<LiveOptions> = {}) {
  const listeners: ((events: readonly StoredEvent[]) => void)[] = [];
  const defects: unknown[] = [];
  const log = { onCommit: (listener: (typeof listeners)[number]) => (listeners.push(listener), () => {}) };
  const lane = new CommitClosedLane(log, { onDefect: (defect) => defects.push(defect), ...options });
  const commit = (closing: NewEvent) => {
    const place = { seq: 1, stream: "ses_1", version: 1, typeVersion: 1, actor: "u", approximateCreationTime: "" };
    for (const listener of listeners) listener([{ ...place, ...closing }]);
  };
  return { lane, defects, commit };
}

function listen(lane: CommitClosedLane, filter: { session?: `ses_${string}` } = {}): (readonly Delta[])[] {
  const heard: (readonly Delta[])[] = [];
  lane.subscribe(filter, (deltas) => heard.push(deltas));
  return heard;
}

function text(offset: number, piece: string): Delta {
  return { kind: "text", session: "ses_1", part: "prt_1", offset, text: piece };
}

function reasoning(offset: number, piece: string): Delta {
  return { kind: "reasoning", session: "ses_1", part: "prt_2", offset, text: piece };
}

function stdout(offset: number, piece: string): Delta {
  return { kind: "stdout", session: "ses_1", part: "cal_1", offset, text: piece };
}

function stderr(offset: number, piece: string): Delta {
  return { kind: "stderr", session: "ses_1", part: "cal_1", offset, text: piece };
}
