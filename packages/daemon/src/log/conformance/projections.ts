import { event } from "@corral/protocol";
import { expect, test } from "vitest";
import type { Log, Projection } from "../port.ts";
import { type Bench, admitted, inputId, inputs, promoted, row } from "./fixture.ts";

export function projecting(bench: Bench): void {
  test("changes set the named columns, leave the others, and delete", async () => {
    const log = await bench.open();
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
    const log = await bench.open();
    await log.append({ stream: "b", events: [admitted(1), admitted(4)], actor: "u" });
    await log.append({ stream: "a", events: [admitted(3), admitted(2), promoted(3)], actor: "u" });
    const keys = async (query: Parameters<Log["rows"]>[1]) => (await log.rows("inputs", query)).map(({ key }) => key);
    expect(await keys({})).toEqual([1, 2, 3, 4].map(inputId));
    expect(await keys({ where: { session: "a" } })).toEqual([2, 3].map(inputId));
    expect(await keys({ where: { session: "a" }, orderBy: "place" })).toEqual([3, 2].map(inputId));
    expect(await keys({ where: { session: "b", state: "waiting" }, orderBy: "place", limit: 1 })).toEqual([inputId(1)]);
    expect(await keys({ where: { activity: null } })).toEqual([1, 2, 4].map(inputId));
  });

  test("rows are counted by the values of a column", async () => {
    const log = await bench.open();
    await log.append({ stream: "b", events: [admitted(1), admitted(4)], actor: "u" });
    await log.append({ stream: "a", events: [admitted(3), admitted(2), admitted(5), promoted(3)], actor: "u" });
    const ofA = await log.counts("inputs", { where: { session: "a" }, by: "state" });
    expect(ofA).toEqual(
      new Map([
        ["waiting", 2],
        ["promoted", 1],
      ]),
    );
    expect(await log.counts("inputs", { where: { session: "c" }, by: "state" })).toEqual(new Map());
    await expect(log.counts("inputs", { where: { session: "a" }, by: "text" })).rejects.toMatchObject({
      code: "internal",
    });
  });

  test.each([
    ["a fraction", 1.6, 2],
    ["below zero", -1.6, -2],
    ["larger than any", 1e300, Number.MAX_SAFE_INTEGER],
    ["larger than is counted exactly", 2 ** 60, Number.MAX_SAFE_INTEGER],
    ["without end", -Infinity, Number.MIN_SAFE_INTEGER],
    ["no number", NaN, null],
    ["a text", "12" as unknown as number, null],
  ])("a number that is %s is made to fit its column, and the append stands", async (_, place, kept) => {
    const odd: Projection = {
      ...inputs,
      changes: (stored) =>
        inputs
          .changes(stored)
          .map((change) => ("set" in change ? { ...change, set: { ...change.set, place } } : change)),
    };
    const log = await bench.open({ projections: [odd] });
    await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
    expect(await log.rows("inputs")).toEqual([{ ...row(1, { place: 1 }), place: kept }]);
  });

  test("a question the projection has no index for is refused, as is a table that does not exist", async () => {
    const log = await bench.open();
    await expect(log.rows("inputs", { where: { text: "x" } })).rejects.toMatchObject({ code: "internal" });
    await expect(log.row("nothing", "x")).rejects.toMatchObject({ code: "internal" });
  });

  test("rebuilt from the log they equal what was kept", async () => {
    const first = await bench.open();
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
    const same = await bench.open({ projections: [counted(inputs.version)] });
    expect([rebuilds.length, await same.rows("inputs")]).toEqual([0, kept]);
    await same.close();
    const raised = await bench.open({ projections: [counted(inputs.version + 1)] });
    expect([rebuilds.length, await raised.rows("inputs")]).toEqual([43, kept]);
  });

  test("one that this program does not know is built anew when a program with it returns", async () => {
    const first = await bench.open();
    await first.append({ stream: "a", events: [admitted(1)], actor: "u" });
    await first.close();
    const without = await bench.open({ projections: [] });
    await without.append({ stream: "a", events: [admitted(2)], actor: "u" });
    await without.close();
    expect(await (await bench.open()).rows("inputs")).toEqual([row(1, { place: 1 }), row(2, { place: 2 })]);
  });
}
