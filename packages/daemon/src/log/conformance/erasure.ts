import { expect, test } from "vitest";
import type { Log } from "../port.ts";
import { admitted, type Bench, eventsOf, inputs, promoted, row, seqsOf, settled, tailOf } from "./fixture.ts";

const secret = "the-launch-code-is-00000000";

export function erasing(bench: Bench): void {
  test("each event stays in its place without its facts, its rows are gone, others keep theirs", async () => {
    const log = await withSecret(bench);
    const heard: string[] = [];
    log.onCommit((events) => heard.push(...events.map(({ stream, type }) => `${stream} ${type}`)));
    expect(await log.erase("s", { actor: "person:ada", traceId: "t" })).toEqual({ erased: 2 });
    expect(
      (await eventsOf(log)).map(({ seq, stream, version, type, data }) => [seq, stream, version, type, data]),
    ).toEqual([
      [1, "s", 1, "erased", {}],
      [2, "a", 1, "input.admitted", admitted(2).data],
      [3, "s", 2, "erased", {}],
      [4, "s", 3, "stream.erased", {}],
    ]);
    expect((await eventsOf(log)).at(-1)).toMatchObject({ actor: "person:ada", traceId: "t" });
    expect(await log.rows("inputs")).toEqual([row(2, { place: 2 })]);
    expect(heard).toEqual(["s stream.erased"]);
  });

  test("nothing of it is left on disk, while running and after", async () => {
    const log = await withSecret(bench);
    const kept = Buffer.from("text 2");
    expect((await bench.driver.remains(bench.folder)).includes(secret)).toBe(true);
    await log.erase("s", { actor: "u" });
    const running = await bench.driver.remains(bench.folder);
    expect([running.includes(secret), running.includes(kept)]).toEqual([false, true]);
    await log.close();
    const closed = await bench.driver.remains(bench.folder);
    expect([closed.includes(secret), closed.includes(kept)]).toEqual([false, true]);
    expect(await bench.driver.verify(bench.folder)).toBe("ok");
  });

  test("nor of much text in many commits that moved it about, of which the beginning was trimmed", async () => {
    const log = await bench.open();
    for (let n = 0; n < 300; n++) {
      const text =
        n % 3 === 0 ? `${secret} ${"x".repeat((n * 37) % 3000)}` : `text ${n} ${"y".repeat((n * 53) % 2000)}`;
      await log.append({ stream: n % 3 === 0 ? "s" : "a", events: [admitted((n * 7919) % 1000, text)], actor: "u" });
      if (n % 10 === 0) await log.append({ stream: "s", events: [promoted((n * 7919) % 1000)], actor: "u" });
      if (n % 60 === 59) await log.trim({ before: n - 20, keep: (stream) => stream === (n % 120 === 59 ? "s" : "a") });
    }
    await log.erase("s", { actor: "u" });
    expect((await bench.driver.remains(bench.folder)).includes(secret)).toBe(false);
    expect((await log.rows("inputs", { where: { session: "s" } })).length).toBe(0);
    expect((await log.rows("inputs", { where: { session: "a" } })).length).toBe(200);
  });

  test("nor in a table of a projection that this program does not have", async () => {
    await (await withSecret(bench)).close();
    const without = await bench.open({ projections: [] });
    await without.erase("s", { actor: "u" });
    expect((await bench.driver.remains(bench.folder)).includes(secret)).toBe(false);
    await without.close();
    expect(await (await bench.open()).rows("inputs")).toEqual([row(2, { place: 2 })]);
  });

  test("projections rebuilt afterwards equal those kept", async () => {
    const first = await withSecret(bench);
    await first.erase("s", { actor: "u" });
    const kept = await first.rows("inputs");
    await first.close();
    const rebuilt = await bench.open({ projections: [{ ...inputs, version: 2 }] });
    expect(await rebuilt.rows("inputs")).toEqual(kept);
  });

  test("whoever held its lease has lost it", async () => {
    const log = await withSecret(bench);
    const { fence } = await log.takeLease("s", "runner");
    await log.erase("s", { actor: "u" });
    const late = log.append({ stream: "s", events: [admitted(9)], actor: "u", fence });
    expect(await settled([late])).toEqual(["lease.stale"]);
    expect((await log.takeLease("s", "runner")).fence).toBeGreaterThan(fence);
  });

  test("followers learn of it, and seqs stay without a hole for those who come later", async () => {
    const log = await withSecret(bench);
    const live = tailOf(log, { after: 3 });
    const told = live.next();
    await log.erase("s", { actor: "u" });
    expect(await told).toEqual([4]);
    expect(seqsOf(await log.read({ after: 0 }))).toEqual([1, 2, 3, 4]);
    expect(seqsOf(await log.read({ after: 0, stream: "s" }))).toEqual([1, 3, 4]);
  });

  test("again, or of a stream that never was, it changes nothing", async () => {
    const log = await withSecret(bench);
    await log.erase("s", { actor: "u" });
    expect(await log.erase("s", { actor: "u" })).toEqual({ erased: 0 });
    expect(await log.erase("never", { actor: "u" })).toEqual({ erased: 0 });
    expect(await log.head()).toBe(4);
  });

  test("the live lane forgets what it had of it", async () => {
    const log = await bench.open();
    await log.append({ stream: "ses_1", events: [admitted(1)], actor: "u" });
    for (const session of ["ses_1", "ses_2"] as const)
      log.live.emit({ kind: "text", session, part: `prt_${session}`, offset: 0, text: secret });
    await log.erase("ses_1", { actor: "u" });
    const heard: string[] = [];
    log.live.subscribe({}, (deltas) => heard.push(...deltas.map(({ session }) => session)));
    expect(heard).toEqual(["ses_2"]);
  });
}

/** The stream "s" with a secret in two events, around one of another stream. */
async function withSecret(bench: Bench): Promise<Log> {
  const log = await bench.open();
  await log.append({ stream: "s", events: [admitted(1, secret)], actor: "u" });
  await log.append({ stream: "a", events: [admitted(2)], actor: "u" });
  await log.append({ stream: "s", events: [admitted(3, `${secret} ${"z".repeat(5000)}`)], actor: "u" });
  return log;
}
