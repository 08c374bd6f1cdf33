import { createSession, type SessionId } from "@corral/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { historyOf, type Log } from "../log/index.ts";
import { promote } from "./inbox.ts";
import { openSessions, type Sessions } from "./sessions.ts";
import { by, input, openBench } from "./testing/bench.ts";

let log: Log;
let sessions: Sessions;
let id: SessionId;
beforeEach(async () => {
  ({ log, sessions, id } = await openBench());
});

const anew = { activity: undefined };
test("of sessions in the project's own folder there is one at a time, until it is gone", async () => {
  const wish = createSession.parse({ projectId: "prj_1", workspace: "in-place" });
  const made = await Promise.allSettled(Array.from({ length: 5 }, () => sessions.create(wish, by)));
  expect(made.map(({ status }) => status).toSorted()).toEqual([
    "fulfilled",
    ...Array.from({ length: 4 }, () => "rejected"),
  ]);
  const [one] = made.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  await expect(sessions.create(wish, by)).rejects.toMatchObject({ code: "workspace.busy" });
  expect(await sessions.create(wish, by, one!.id)).toEqual(one);
  await log.erase(one!.id, by);
  expect(await sessions.create(wish, by)).toMatchObject({ workspace: "in-place" });
});

describe("admission", () => {
  test("an exact retry returns the original", async () => {
    const hello = input("hello");
    const first = await sessions.admit(id, hello, by);
    const second = await sessions.admit(id, hello, by);
    expect(first).toMatchObject({ kind: "admitted" });
    expect(second).toMatchObject({ kind: "duplicate", seq: "seq" in first ? first.seq : 0 });
  });

  test("concurrent exact retries admit one input", async () => {
    const hello = input("hello");
    const all = await Promise.all(Array.from({ length: 10 }, () => sessions.admit(id, hello, by)));
    expect(all.map((each) => each.kind).toSorted()).toEqual([
      "admitted",
      ...Array.from({ length: 9 }, () => "duplicate"),
    ]);
    const admitted = (await historyOf(log, id)).filter((each) => each.type === "input.admitted");
    expect(admitted).toHaveLength(1);
  });

  test("the same id with another text or delivery is a conflict", async () => {
    const hello = input("hello");
    await sessions.admit(id, hello, by);
    expect(await sessions.admit(id, { ...hello, text: "bye" }, by)).toMatchObject({ kind: "conflict" });
    expect(await sessions.admit(id, { ...hello, delivery: "queue" }, by)).toMatchObject({ kind: "conflict" });
  });

  test("an id used in another session is a conflict", async () => {
    const other = await sessions.create(createSession.parse({ projectId: "prj_1" }), by);
    const hello = input("hello");
    await sessions.admit(id, hello, by);
    expect(await sessions.admit(other.id, hello, by)).toMatchObject({ kind: "conflict" });
  });

  test("a session that does not exist admits nothing", async () => {
    await expect(sessions.admit("ses_none", input("hello"), by)).rejects.toMatchObject({ code: "not-found" });
  });

  test("a retry after promotion returns the original", async () => {
    const hello = input("hello");
    await sessions.admit(id, hello, by);
    await promote(log, await log.takeLease(id, "test"), anew);
    expect(await sessions.admit(id, hello, by)).toMatchObject({ kind: "duplicate", input: { state: "promoted" } });
  });
});

describe("promotion", () => {
  test("opens an activity with all waiting steers, before any queued input", async () => {
    await sessions.admit(id, input("later", "queue"), by);
    await sessions.admit(id, input("one"), by);
    await sessions.admit(id, input("two"), by);
    const { events, inputs } = await promote(log, await log.takeLease(id, "test"), anew);
    expect(events.map((each) => each.type)).toEqual(["activity.opened", "input.promoted", "input.promoted"]);
    expect(inputs.map((each) => each.text)).toEqual(["one", "two"]);
  });

  test("opens one activity for each queued input, first in, first out", async () => {
    await sessions.admit(id, input("first", "queue"), by);
    await sessions.admit(id, input("second", "queue"), by);
    const lease = await log.takeLease(id, "test");
    const texts = [await promote(log, lease, anew), await promote(log, lease, anew)].map((each) =>
      each.inputs.map((one) => one.text),
    );
    expect(texts).toEqual([["first"], ["second"]]);
  });

  test("of a long queue reads no more than it takes, and so does whoever looks at the session or changes one of it", async () => {
    const inputs = Array.from({ length: 300 }, (_, n) => input(`message ${n}`, "queue"));
    await Promise.all(inputs.map((each) => sessions.admit(id, each, by)));
    const lease = await log.takeLease(id, "test");
    let read = 0;
    const counting = new Proxy(log, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (name !== "rows") return typeof value === "function" ? (value.bind(target) as unknown) : value;
        return async (...args: Parameters<Log["rows"]>) => {
          const rows = await target.rows(...args);
          read += rows.filter(({ text }) => text !== undefined).length;
          return rows;
        };
      },
    });
    const same = openSessions(counting, {
      defaults: () => Promise.reject(new Error("nothing is made here")),
      environment: () => Promise.reject(new Error("nothing is made here")),
    });
    expect((await promote(counting, lease, anew)).inputs.map(({ text }) => text)).toEqual(["message 0"]);
    expect((await same.get(id))?.inbox).toEqual({ waiting: 299, isParked: false });
    expect((await same.list()).map(({ inbox }) => inbox.waiting)).toEqual([299]);
    await same.change(id, inputs[200]!.id, { change: "promote", to: "front" }, by);
    await same.admit(id, input("one more", "queue"), by);
    expect((await promote(counting, lease, { activity: "act_1" })).inputs).toEqual([]);
    expect(read).toBeLessThan(5);
  });

  test("inside an activity takes steers and leaves the queue alone", async () => {
    await sessions.admit(id, input("queued", "queue"), by);
    expect(await promote(log, await log.takeLease(id, "test"), { activity: "act_1" })).toEqual({
      events: [],
      inputs: [],
    });
  });

  test("a parked queue opens nothing, and a steer does", async () => {
    await sessions.decideQueue(id, "park", by);
    await sessions.admit(id, input("queued", "queue"), by);
    const lease = await log.takeLease(id, "test");
    expect(await promote(log, lease, anew)).toEqual({ events: [], inputs: [] });
    await sessions.admit(id, input("steer"), by);
    expect((await promote(log, lease, anew)).inputs.map((each) => each.text)).toEqual(["steer"]);
  });

  test("promotions at once promote an input once, and the others find nothing", async () => {
    await sessions.admit(id, input("one"), by);
    const lease = await log.takeLease(id, "test");
    const all = await Promise.all(Array.from({ length: 5 }, () => promote(log, lease, anew)));
    expect(all.flatMap((each) => each.inputs.map(({ text }) => text))).toEqual(["one"]);
  });

  test("under a lost lease promotes nothing", async () => {
    await sessions.admit(id, input("one"), by);
    const stale = await log.takeLease(id, "old");
    await log.takeLease(id, "new");
    await expect(promote(log, stale, anew)).rejects.toMatchObject({ code: "lease.stale" });
  });

  test("what is promoted is of the trace of the input that came last", async () => {
    await sessions.admit(id, input("one"), { ...by, traceId: "a".repeat(32) });
    await sessions.admit(id, input("two"), { ...by, traceId: "b".repeat(32) });
    const { events } = await promote(log, await log.takeLease(id, "test"), anew);
    expect(events.map(({ type, traceId }) => [type, traceId])).toEqual(
      ["activity.opened", "input.promoted", "input.promoted"].map((type) => [type, "b".repeat(32)]),
    );
  });
});
