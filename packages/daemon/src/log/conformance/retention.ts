import { expect, test } from "vitest";
import type { Log } from "../port.ts";
import { admitted, type Bench, inputs, promoted, row, seqsOf, settled, tailOf } from "./fixture.ts";

export function trimming(bench: Bench): void {
  test("removes what is older, and a reader from before gets the gap and then the rest", async () => {
    const log = await filled(bench);
    expect(await log.trim({ before: 4 })).toEqual({ removed: 3 });
    expect(await pagesOf(log, 0)).toEqual([{ kind: "gap", from: 1, to: 3 }, [4, 5, 6]]);
    expect(await pagesOf(log, 2)).toEqual([{ kind: "gap", from: 3, to: 3 }, [4, 5, 6]]);
    expect(await pagesOf(log, 3)).toEqual([[4, 5, 6]]);
    expect(await log.trim({ before: 4 })).toEqual({ removed: 0 });
  });

  test("a reader of one stream gets the gap of that stream", async () => {
    const log = await filled(bench);
    await log.trim({ before: 4 });
    expect(await pagesOf(log, 0, "odd")).toEqual([{ kind: "gap", from: 1, to: 3 }, [5]]);
    expect(await pagesOf(log, 0, "even")).toEqual([{ kind: "gap", from: 1, to: 2 }, [4, 6]]);
    expect(await pagesOf(log, 2, "even")).toEqual([[4, 6]]);
    expect(await pagesOf(log, 0, "none")).toEqual([]);
  });

  test("streams to be kept lose nothing, and every hole between their events is told", async () => {
    const log = await filled(bench);
    expect(await log.trim({ before: 6, keep: (stream) => stream === "even" })).toEqual({ removed: 3 });
    expect(await pagesOf(log, 0)).toEqual([
      { kind: "gap", from: 1, to: 1 },
      [2],
      { kind: "gap", from: 3, to: 3 },
      [4],
      { kind: "gap", from: 5, to: 5 },
      [6],
    ]);
    expect(await pagesOf(log, 0, "even")).toEqual([[2, 4, 6]]);
    // What was kept then goes with a later cut that does not keep it.
    expect(await log.trim({ before: 6 })).toEqual({ removed: 2 });
    expect(await pagesOf(log, 0)).toEqual([{ kind: "gap", from: 1, to: 5 }, [6]]);
    expect(await pagesOf(log, 0, "even")).toEqual([{ kind: "gap", from: 1, to: 4 }, [6]]);
  });

  test("with everything gone, seqs, versions and fences go on where they were, across restarts", async () => {
    const first = await filled(bench);
    const { fence } = await first.takeLease("odd", "one");
    expect(await first.trim({ before: 1000 })).toEqual({ removed: 6 });
    expect([await first.head(), await pagesOf(first, 0)]).toEqual([6, [{ kind: "gap", from: 1, to: 6 }]]);
    await first.close();
    const log = await bench.open();
    expect([await log.head(), await pagesOf(log, 0)]).toEqual([6, [{ kind: "gap", from: 1, to: 6 }]]);
    const created = log.append({ stream: "odd", events: [admitted(7)], actor: "u", expectedVersion: 0 });
    expect(await settled([created])).toEqual(["append.conflict"]);
    const [next] = await log.append({ stream: "odd", events: [admitted(7)], actor: "u", expectedVersion: 3, fence });
    expect([next?.seq, next?.version]).toEqual([7, 4]);
  });

  test("a tail from before begins with the gap; one that is live notices nothing", async () => {
    const log = await filled(bench);
    const live = tailOf(log, { after: 5 });
    expect(await live.next()).toEqual([6]);
    const waiting = live.next();
    await log.trim({ before: 7 });
    const late = tailOf(log, { after: 0 });
    expect(await late.next()).toEqual({ kind: "gap", from: 1, to: 6 });
    const next = late.next();
    await log.append({ stream: "odd", events: [admitted(7)], actor: "u" });
    expect([await waiting, await next]).toEqual([[7], [7]]);
  });

  test("a long trim lets others append in between, in order", async () => {
    const log = await bench.open();
    const many = Array.from({ length: 5000 }, (_, n) => admitted(n));
    for (let n = 0; n < 5000; n += 500) await log.append({ stream: "a", events: many.slice(n, n + 500), actor: "u" });
    const order: string[] = [];
    const trimmed = log.trim({ before: 5001 }).then(() => order.push("trimmed"));
    await log.append({ stream: "b", events: [admitted(9999)], actor: "u" }).then(() => order.push("appended"));
    await trimmed;
    expect(order).toEqual(["appended", "trimmed"]);
    expect(await pagesOf(log, 0)).toEqual([{ kind: "gap", from: 1, to: 5000 }, [5001]]);
  });

  test("projections keep their rows, and rebuilt they equal what was kept", async () => {
    const first = await filled(bench);
    await first.append({ stream: "odd", events: [promoted(1), promoted(5)], actor: "u" });
    await first.trim({ before: 6 });
    const kept = await first.rows("inputs");
    expect(kept).toHaveLength(6);
    await first.close();
    const rebuilt = await bench.open({ projections: [{ ...inputs, version: 2 }] });
    expect(await rebuilt.rows("inputs")).toEqual(kept);
    await rebuilt.append({ stream: "a", events: [promoted(2)], actor: "u" });
    expect(await rebuilt.row("inputs", "inp_0002")).toEqual({
      ...row(2, { state: "promoted", place: 2 }),
      session: "even",
    });
  });

  test("a projection rebuilt with other columns has the old ones of every row, and the new ones of what is left", async () => {
    const first = await filled(bench);
    await first.trim({ before: 5 });
    await first.close();
    const { activity: _, ...columns } = inputs.columns;
    const changed = {
      ...inputs,
      version: 2,
      columns: { ...columns, delivery: "text" as const },
      indexes: [["delivery"]],
      changes: (stored: Parameters<typeof inputs.changes>[0]) =>
        stored.type === "input.admitted"
          ? [{ key: stored.data.id, set: { place: stored.seq, delivery: stored.data.delivery } }]
          : [],
    };
    const log = await bench.open({ projections: [changed] });
    const rows = await log.rows("inputs");
    expect(rows.map(({ key, text, place, delivery }) => [key, text, place, delivery])).toEqual([
      ["inp_0001", "text 1", 1, null],
      ["inp_0002", "text 2", 2, null],
      ["inp_0003", "text 3", 3, null],
      ["inp_0004", "text 4", 4, null],
      ["inp_0005", "text 5", 5, "queue"],
      ["inp_0006", "text 6", 6, "queue"],
    ]);
    expect(Object.keys(rows[0]!)).toEqual(["key", "session", "state", "text", "place", "delivery"]);
  });

  test("a projection that a program without it has left alone goes on from where it was", async () => {
    const first = await filled(bench);
    await first.trim({ before: 4 });
    await first.close();
    const without = await bench.open({ projections: [] });
    await without.append({ stream: "odd", events: [promoted(1), admitted(7)], actor: "u" });
    await without.close();
    const log = await bench.open();
    const states = (await log.rows("inputs")).map(({ key, state }) => [key, state]);
    expect(states).toEqual([["inp_0001", "promoted"], ...[2, 3, 4, 5, 6, 7].map((n) => [`inp_000${n}`, "waiting"])]);
  });
}

/** Events 1 to 6, in streams "odd" and "even". */
async function filled(bench: Bench): Promise<Log> {
  const log = await bench.open();
  for (let n = 1; n <= 6; n++)
    await log.append({ stream: n % 2 === 0 ? "even" : "odd", events: [admitted(n)], actor: "u" });
  return log;
}

async function pagesOf(log: Log, after: number, stream?: string) {
  const pages: ReturnType<typeof seqsOf>[] = [];
  for (let position = after; ;) {
    const page = seqsOf(await log.read({ after: position, ...(stream === undefined ? {} : { stream }) }));
    if (Array.isArray(page) && page.length === 0) return pages;
    pages.push(page);
    position = Array.isArray(page) ? page.at(-1)! : page.to;
  }
}
