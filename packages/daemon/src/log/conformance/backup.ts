import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { admitted, type Bench, eventsOf, idsOf, inputId, settled } from "./fixture.ts";

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
}
