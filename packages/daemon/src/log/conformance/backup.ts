import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { admitted, type Bench, eventsOf, idsOf, inputId, inputs, seqsOf, settled, tailOf } from "./fixture.ts";

export function backing(bench: Bench): void {
  test("a copy made while appends go on is whole: a beginning of the log, with its rows", async () => {
    const log = await bench.open();
    const text = "x".repeat(2000);
    for (let n = 1; n <= 300; n++) await log.append({ stream: "a", events: [admitted(n, text)], actor: "u" });
    const to = join(bench.folder, "copy");
    const copy = { made: false };
    const copied = log.backup(to).finally(() => (copy.made = true));
    let last = 300;
    while (!copy.made) await log.append({ stream: "a", events: [admitted(++last, text)], actor: "u" });
    await copied;

    const elsewhere = await mkdtemp(join(bench.folder, "restored-"));
    await bench.driver.restore(to, elsewhere);
    expect(await bench.driver.verify(elsewhere)).toBe("ok");
    const restored = await bench.open({ folder: elsewhere });
    const events = await eventsOf(restored, { after: 0, limit: 100_000 });
    expect(events.length).toBeGreaterThanOrEqual(300);
    expect(events).toEqual(await eventsOf(log, { after: 0, limit: events.length }));
    expect((await restored.rows("inputs")).map(({ key }) => key)).toEqual(idsOf(events).toSorted());
    expect(idsOf(await eventsOf(log, { after: last - 1 }))).toEqual([inputId(last)]);
  });

  test("a copy takes the place of an older one, and a failed one leaves nothing", async () => {
    const log = await bench.open();
    await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
    const folder = await mkdtemp(join(bench.folder, "copies-"));
    await log.backup(join(folder, "copy"));
    await log.append({ stream: "a", events: [admitted(2)], actor: "u" });
    expect(await log.backup(join(folder, "copy"))).toEqual({ events: 2, head: 2 });
    expect(await settled([log.backup(join(folder, "missing", "copy"))])).toEqual(["log.unwritable"]);
    expect(await readdir(folder)).toEqual(["copy"]);
    const elsewhere = await mkdtemp(join(bench.folder, "restored-"));
    await bench.driver.restore(join(folder, "copy"), elsewhere);
    expect(idsOf(await eventsOf(await bench.open({ folder: elsewhere })))).toEqual([1, 2].map(inputId));
  });

  test("a copy put back goes on behind every seq that was given since, and each reader gets that as a gap", async () => {
    const copy = join(bench.folder, "copy");
    const before = await bench.open();
    for (const n of [1, 2, 3]) await before.append({ stream: n === 2 ? "b" : "a", events: [admitted(n)], actor: "u" });
    await before.backup(copy);
    for (const n of [4, 5, 6]) await before.append({ stream: "a", events: [admitted(n)], actor: "u" });
    await before.close();
    await bench.driver.restore(copy, bench.folder);

    const log = await bench.open();
    expect(await log.head()).toBe(7);
    const waiting = tailOf(log, { after: 6 });
    expect(await waiting.next()).toEqual({ kind: "gap", from: 7, to: 7 });
    const live = waiting.next();
    const [next] = await log.append({ stream: "a", events: [admitted(7)], actor: "u", expectedVersion: 2 });
    expect([next?.seq, next?.version, await live]).toEqual([8, 3, [8]]);

    const read = async (after: number, stream?: string) => seqsOf(await log.read({ after, ...(stream && { stream }) }));
    expect(await read(0)).toEqual([1, 2, 3]);
    for (const after of [3, 4, 6]) expect(await read(after)).toEqual({ kind: "gap", from: after + 1, to: 7 });
    expect(await read(7)).toEqual([8]);
    // A stream is whole as it was put back; only whoever saw more of it has missed something.
    expect(await read(0, "a")).toEqual([1, 3, 8]);
    expect(await read(3, "a")).toEqual([8]);
    expect(await read(5, "a")).toEqual({ kind: "gap", from: 6, to: 7 });
    expect(await Promise.all([1, 2, 4, 5].map((count) => log.newest(count)))).toEqual([8, 3, 1, 0]);
    await log.close();

    const rebuilt = await bench.open({ projections: [{ ...inputs, version: 2 }] });
    expect((await rebuilt.rows("inputs")).map(({ key }) => key)).toEqual([1, 2, 3, 7].map(inputId));
    await rebuilt.close();
    await bench.driver.restore(copy, bench.folder);
    expect(await (await bench.open()).head()).toBe(9);
    expect(await bench.driver.verify(bench.folder)).toBe("ok");
  });
}
