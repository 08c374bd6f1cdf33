import { type NewEvent } from "@corral/protocol";
import { expect, test } from "vitest";
import {
  type Bench,
  admitted,
  eventsOf,
  inputId,
  inputs,
  settled,
  refusesPoison,
  promoted,
  row,
  idsOf,
  placesOf,
} from "./fixture.ts";

export function appending(bench: Bench): void {
  test("an empty log has head 0 and an empty page", async () => {
    const log = await bench.open();
    expect([await log.head(), await eventsOf(log)]).toEqual([0, []]);
  });

  test("gives each event its seq in the log and its version in the stream", async () => {
    const log = await bench.open();
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
    const first = await bench.open();
    const stored = [
      ...(await first.append({ stream: "a", events: [admitted(1), promoted(1)], actor: "user" })),
      ...(await first.append({ stream: "b", events: [admitted(2, "naïve 😀\0")], actor: "user", traceId: "t" })),
    ];
    await first.close();
    const second = await bench.open();
    expect(await eventsOf(second)).toEqual(stored);
    const [next] = await second.append({ stream: "a", events: [admitted(3)], actor: "user" });
    expect([next?.seq, next?.version]).toEqual([4, 3]);
  });

  test("appends made in order without waiting are stored in that order", async () => {
    const log = await bench.open();
    const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
    await Promise.all(numbers.map((n) => log.append({ stream: `s${n % 7}`, events: [admitted(n)], actor: "u" })));
    expect(idsOf(await eventsOf(log))).toEqual(numbers.map(inputId));
  });

  test("appends made together share a commit, heard of once", async () => {
    const log = await bench.open();
    const commits: string[][] = [];
    log.onCommit((events) => commits.push(idsOf(events)));
    await Promise.all([1, 2, 3].map((n) => log.append({ stream: `s${n}`, events: [admitted(n)], actor: "u" })));
    expect(commits).toEqual([[1, 2, 3].map(inputId)]);
  });

  test("a refused append in a shared commit leaves the others and burns no seq", async () => {
    const log = await bench.open();
    const outcomes = await settled([
      log.append({ stream: "a", events: [admitted(1)], actor: "u" }),
      log.append({ stream: "a", events: [admitted(2), admitted(3)], actor: "u", expectedVersion: 7 }),
      log.append({ stream: "b", events: [admitted(4)], actor: "u" }),
    ]);
    expect(outcomes).toEqual(["stored", "append.conflict", "stored"]);
    expect(placesOf(await eventsOf(log))).toEqual([
      [1, "a", 1, inputId(1)],
      [2, "b", 1, inputId(4)],
    ]);
  });

  test("types of a newer program are kept and returned as they are", async () => {
    const log = await bench.open();
    const unknown = { type: "moon.landed", data: { by: ["eagle"] } } as unknown as NewEvent;
    const stored = await log.append({ stream: "a", events: [unknown], actor: "u" });
    await log.close();
    expect(await eventsOf(await bench.open())).toEqual(stored);
  });

  test("data that cannot be stored is refused, and nothing else is", async () => {
    const log = await bench.open();
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
    expect(placesOf(await eventsOf(log))).toEqual([[1, "a", 1, inputId(1)]]);
  });
}

export function conditions(bench: Bench): void {
  test("the expected version must be the stream's, 0 meaning that there is none yet", async () => {
    const log = await bench.open();
    const outcomes = await settled([
      log.append({ stream: "a", events: [admitted(1), admitted(2)], actor: "u", expectedVersion: 0 }),
      log.append({ stream: "a", events: [admitted(3)], actor: "u", expectedVersion: 0 }),
      log.append({ stream: "a", events: [admitted(4)], actor: "u", expectedVersion: 2 }),
    ]);
    expect(outcomes).toEqual(["stored", "append.conflict", "stored"]);
  });

  test("a guard sees what earlier appends of the same commit projected", async () => {
    const log = await bench.open();
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
    const log = await bench.open({ projections: [inputs, refusesPoison] });
    await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
    const outcomes = await settled([
      log.append({ stream: "a", events: [admitted(2), admitted(3, "poison"), admitted(4)], actor: "u" }),
      log.append({ stream: "a", events: [admitted(5)], actor: "u" }),
    ]);
    expect(outcomes).toEqual(["internal", "stored"]);
    expect(placesOf(await eventsOf(log))).toEqual([
      [1, "a", 1, inputId(1)],
      [2, "a", 2, inputId(5)],
    ]);
    expect(await log.rows("inputs")).toEqual([row(1, { place: 1 }), row(5, { place: 2 })]);
  });
}
