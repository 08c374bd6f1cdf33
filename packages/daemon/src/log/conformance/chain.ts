import { join } from "node:path";
import { expect, test } from "vitest";
import { headText } from "../chain.ts";
import type { Log } from "../port.ts";
import { verifyChain } from "../verify.ts";
import { admitted, type Bench, promoted, settled } from "./fixture.ts";

const whole = {
  verdict: "intact",
  olderUpTo: 0,
  erased: 0,
  trimmed: 0,
  trimmedUpTo: 0,
  gaps: [],
  breaks: [],
  breakCount: 0,
};

export function chaining(bench: Bench): void {
  test("of an empty log adds up", async () => {
    const log = await bench.open();
    expect(await verifyChain(log)).toEqual({ ...whole, head: null, events: 0 });
    const head = await headOf(log);
    await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
    expect((await verifyChain(log, { head })).kept).toEqual({ head, found: "on-chain" });
  });

  test("covers every event, of whatever text, across reopening", async () => {
    const log = await filled(bench);
    const head = await headOf(log);
    await log.close();
    const again = await bench.open();
    expect(await verifyChain(again)).toEqual({ ...whole, head, events: 5 });
    await again.append({ stream: "c", events: [admitted(6)], actor: "u" });
    expect(await verifyChain(again, { head })).toEqual({
      ...whole,
      head: await headOf(again),
      events: 6,
      kept: { head, found: "on-chain" },
    });
  });

  test("goes on where a refused append left it", async () => {
    const log = await filled(bench);
    const refused = log.append({ stream: "a", events: [admitted(7)], actor: "u", expectedVersion: 1 });
    const taken = log.append({ stream: "a", events: [admitted(8)], actor: "u" });
    expect(await settled([refused, taken])).toEqual(["append.conflict", "stored"]);
    expect(await verifyChain(log)).toEqual({ ...whole, head: await headOf(log), events: 6 });
  });

  test("goes on behind another process's events", async () => {
    const one = await bench.open();
    const two = await bench.open();
    for (let n = 0; n < 6; n++)
      await (n % 2 === 0 ? one : two).append({ stream: "a", events: [admitted(n)], actor: "u" });
    expect(await verifyChain(one)).toEqual({ ...whole, head: await headOf(two), events: 6 });
  });

  test("adds up after erasing, also twice, and tells how much", async () => {
    const log = await filled(bench);
    const head = await headOf(log);
    await log.erase("a", { actor: "u" });
    expect(await verifyChain(log, { head })).toEqual({
      ...whole,
      head: await headOf(log),
      events: 6,
      erased: 3,
      kept: { head, found: "on-chain" },
    });
    await log.append({ stream: "a", events: [admitted(9)], actor: "u" });
    await log.erase("a", { actor: "u" });
    expect(await verifyChain(log)).toMatchObject({ ...whole, events: 8, erased: 4 });
  });

  test("adds up after trimming, of erased events too, and tells how much", async () => {
    const log = await filled(bench);
    const head = await headOf(log);
    await log.erase("a", { actor: "u" });
    await log.trim({ before: 5, keep: (stream) => stream === "b" });
    expect(await verifyChain(log, { head })).toEqual({
      ...whole,
      head: await headOf(log),
      events: 6,
      erased: 1,
      trimmed: 2,
      trimmedUpTo: 2,
      kept: { head, found: "on-chain" },
    });
  });

  test("goes on behind a restored backup, and tells what was passed over and which heads were there", async () => {
    const log = await filled(bench);
    const early = await headOf(log);
    const backup = join(bench.folder, "backup");
    await log.backup(backup);
    await log.append({ stream: "a", events: [admitted(6), admitted(7)], actor: "u" });
    const late = await headOf(log);
    await log.close();
    await bench.driver.restore(backup, bench.folder);
    const restored = await bench.open();
    await restored.append({ stream: "a", events: [admitted(8)], actor: "u" });
    const gaps = [{ from: 6, to: 8 }];
    const head = await headOf(restored);
    expect(await verifyChain(restored, { head: early })).toEqual({
      ...whole,
      gaps,
      head,
      events: 6,
      kept: { head: early, found: "on-chain" },
    });
    expect(await verifyChain(restored, { head: late })).toMatchObject({
      verdict: "broken",
      breaks: [],
      kept: { head: late, found: "passed-over" },
    });
  });

  test("of another log has none of this one's heads, but where it is too short for them", async () => {
    const log = await filled(bench);
    const head = await headOf(log);
    await log.append({ stream: "c", events: [admitted(6)], actor: "u" });
    const late = await headOf(log);
    const other = await bench.open({ folder: join(bench.folder, "other") });
    for (let n = 1; n <= 5; n++) await other.append({ stream: "a", events: [admitted(n)], actor: "u" });
    const found = async (kept: string) => (await verifyChain(other, { head: kept })).kept?.found;
    expect([await found(head), await found(late)]).toEqual(["other-link", "ahead"]);
  });

  test("is gone over in pages, and may be left in the middle", async () => {
    const log = await filled(bench);
    const paged = { chain: (range: Parameters<Log["chain"]>[0]) => log.chain({ ...range, limit: 2 }) };
    const seen: number[] = [];
    expect(await verifyChain(paged, { onProgress: (seq) => seen.push(seq) })).toMatchObject({ ...whole, events: 5 });
    expect(seen).toEqual([0, 2, 4, 5]);
    const enough = new AbortController();
    const left = verifyChain(paged, { signal: enough.signal, onProgress: (seq) => seq > 0 && enough.abort() });
    await expect(left).rejects.toThrow(/abort/i);
  });
}

async function filled(bench: Bench): Promise<Log> {
  const log = await bench.open();
  await log.append({ stream: "a", events: [admitted(1), promoted(1)], actor: "u" });
  await log.append({ stream: "b", events: [admitted(2, 'naïve 😀\0 "quoted"\n')], actor: "person:ada", traceId: "t" });
  await log.append({ stream: "b", events: [admitted(3)], actor: "u" });
  await log.append({ stream: "a", events: [admitted(4)], actor: "u", traceId: "t2" });
  return log;
}

async function headOf(log: Log): Promise<string> {
  const { seq, link } = await log.newestLink();
  return headText(seq, link);
}
