import { expect, test } from "vitest";
import { type Bench, admitted, inputs, settled, refusesPoison } from "./fixture.ts";

export function leases(bench: Bench): void {
  test("an append under an older fence is refused, one under the newest is taken", async () => {
    const log = await bench.open();
    const old = await log.takeLease("a", "one");
    const current = await log.takeLease("a", "two");
    expect(current.fence).toBeGreaterThan(old.fence);
    const under = (fence: number, n: number) => log.append({ stream: "a", events: [admitted(n)], actor: "u", fence });
    expect(await settled([under(old.fence, 1), under(current.fence, 2), under(old.fence, 3)])).toEqual([
      "lease.stale",
      "stored",
      "lease.stale",
    ]);
  });

  test("a fence never given out is refused and harms no later one", async () => {
    const log = await bench.open();
    const invented = log.append({ stream: "a", events: [admitted(1)], actor: "u", fence: 1 });
    expect(await settled([invented])).toEqual(["lease.stale"]);
    const { fence } = await log.takeLease("a", "one");
    expect(await settled([log.append({ stream: "a", events: [admitted(2)], actor: "u", fence })])).toEqual(["stored"]);
  });

  test("a lease taken between two appends made in order divides them", async () => {
    const log = await bench.open();
    const { fence } = await log.takeLease("a", "one");
    const before = log.append({ stream: "a", events: [admitted(1)], actor: "u", fence });
    const taken = log.takeLease("a", "two");
    const after = log.append({ stream: "a", events: [admitted(2)], actor: "u", fence });
    expect(await settled([before, taken, after])).toEqual(["stored", "stored", "lease.stale"]);
  });

  test("fences grow across restarts", async () => {
    const first = await bench.open();
    const before = await first.takeLease("a", "one");
    await first.close();
    const second = await bench.open();
    const after = await second.takeLease("a", "one");
    expect(after.fence).toBeGreaterThan(before.fence);
    const late = second.append({ stream: "a", events: [admitted(1)], actor: "u", fence: before.fence });
    expect(await settled([late])).toEqual(["lease.stale"]);
  });

  test("a lease still holds after a restart until another is taken", async () => {
    const first = await bench.open();
    const { fence } = await first.takeLease("a", "one");
    await first.close();
    const second = await bench.open();
    expect(await settled([second.append({ stream: "a", events: [admitted(1)], actor: "u", fence })])).toEqual([
      "stored",
    ]);
  });

  test("nothing is taken under a lease given back, and giving it back again is harmless", async () => {
    const log = await bench.open();
    const old = await log.takeLease("a", "one");
    await log.releaseLease(old);
    await log.releaseLease(old);
    const late = log.append({ stream: "a", events: [admitted(1)], actor: "u", fence: old.fence });
    expect(await settled([late])).toEqual(["lease.stale"]);
    const current = await log.takeLease("a", "two");
    await log.releaseLease(old);
    const held = log.append({ stream: "a", events: [admitted(2)], actor: "u", fence: current.fence });
    expect(await settled([held])).toEqual(["stored"]);
  });

  test.each([
    ["version", { expectedVersion: 9 }, "append.conflict"],
    ["guard", { guards: [{ table: "inputs", key: "missing", is: { state: "waiting" } }] }, "append.conflict"],
    ["projection", { events: [admitted(9, "poison")] }, "internal"],
  ])("once an append under a fence is refused for its %s, no later one is taken", async (_, refusal, code) => {
    const log = await bench.open({ projections: [inputs, refusesPoison] });
    const { fence } = await log.takeLease("a", "one");
    const under = (n: number, more = {}) =>
      log.append({ stream: "a", events: [admitted(n)], actor: "u", fence, ...more });
    expect(await settled([under(1), under(2, refusal), under(3)])).toEqual(["stored", code, "lease.stale"]);
    expect(await settled([under(4)])).toEqual(["lease.stale"]);
    const others = log.append({ stream: "a", events: [admitted(5)], actor: "u" });
    expect(await settled([others])).toEqual(["stored"]);
    const next = await log.takeLease("a", "one");
    expect(await settled([under(6, { fence: next.fence })])).toEqual(["stored"]);
  });

  test("one that was tentative leaves the fence good when a version or guard does not hold, and only then", async () => {
    const log = await bench.open({ projections: [inputs, refusesPoison] });
    const { fence } = await log.takeLease("a", "one");
    const under = (n: number, more = {}) =>
      log.append({ stream: "a", events: [admitted(n)], actor: "u", fence, tentative: true, ...more });
    const guards = [{ table: "inputs", key: "missing", is: { state: "waiting" } }];
    expect(await settled([under(1, { guards }), under(2, { expectedVersion: 9 }), under(3)])).toEqual([
      "append.conflict",
      "append.conflict",
      "stored",
    ]);
    expect(await settled([under(4, { events: [admitted(4, "poison")] }), under(5)])).toEqual([
      "internal",
      "lease.stale",
    ]);
  });

  test("trying for a lease leaves it to another holder and says who, and gives it to the same one anew", async () => {
    const log = await bench.open();
    expect(await log.tryLease("a", "one")).toEqual({
      kind: "taken",
      lease: { stream: "a", fence: 1, holder: "one" },
    });
    expect(await log.tryLease("a", "two")).toEqual({ kind: "held", by: "one" });
    const held = log.append({ stream: "a", events: [admitted(1)], actor: "u", fence: 1 });
    expect(await settled([held])).toEqual(["stored"]);
    const again = { stream: "a", fence: 2, holder: "one" };
    expect(await log.tryLease("a", "one")).toEqual({ kind: "taken", lease: again });
    await log.releaseLease(again);
    expect(await log.tryLease("a", "two")).toEqual({ kind: "taken", lease: { stream: "a", fence: 3, holder: "two" } });
  });

  test("a lease with a time holds until it runs out, and from then on nothing is taken under it", async () => {
    const clock = handClock();
    const log = await bench.open({ clock });
    const lease = await log.takeLease("a", "one", { ttlMs: 100 });
    const under = (n: number) => log.append({ stream: "a", events: [admitted(n)], actor: "u", fence: lease.fence });
    clock.pass(99);
    expect(await log.tryLease("a", "two")).toEqual({ kind: "held", by: "one" });
    expect(await settled([under(1)])).toEqual(["stored"]);
    clock.pass(1);
    expect(await settled([under(2), log.renewLease(lease)])).toEqual(["lease.stale", "lease.stale"]);
    const taken = await log.tryLease("a", "two", { ttlMs: 100 });
    expect(taken).toEqual({ kind: "taken", lease: { stream: "a", fence: lease.fence + 1, holder: "two" } });
    expect(await settled([under(3), log.renewLease(lease)])).toEqual(["lease.stale", "lease.stale"]);
  });

  test("a lease that is renewed in time holds on", async () => {
    const clock = handClock();
    const log = await bench.open({ clock });
    const lease = await log.takeLease("a", "one", { ttlMs: 100 });
    for (let n = 1; n <= 5; n++) {
      clock.pass(60);
      await log.renewLease(lease);
    }
    clock.pass(60);
    expect(await log.tryLease("a", "two")).toEqual({ kind: "held", by: "one" });
    const append = log.append({ stream: "a", events: [admitted(1)], actor: "u", fence: lease.fence });
    expect(await settled([append])).toEqual(["stored"]);
  });

  test("renewing a lease without a time, held, is harmless; lost or given back it is refused", async () => {
    const log = await bench.open();
    const old = await log.takeLease("a", "one");
    await log.renewLease(old);
    const lost = await log.takeLease("a", "two");
    await log.releaseLease(lost);
    expect(await settled([log.renewLease(old), log.renewLease(lost)])).toEqual(["lease.stale", "lease.stale"]);
  });

  test("time that passes while nobody has the log open does not use a lease up, and fences grow on", async () => {
    const first = await bench.open({ clock: handClock() });
    const lease = await first.takeLease("a", "one", { ttlMs: 100 });
    await first.close();
    const clock = handClock(1_000_000);
    const second = await bench.open({ clock });
    expect(await second.tryLease("a", "two")).toEqual({ kind: "held", by: "one" });
    const append = second.append({ stream: "a", events: [admitted(1)], actor: "u", fence: lease.fence });
    expect(await settled([append])).toEqual(["stored"]);
    clock.pass(100);
    expect(await second.tryLease("a", "two")).toEqual({
      kind: "taken",
      lease: { stream: "a", fence: lease.fence + 1, holder: "two" },
    });
  });

  test("a renewal made by another holder of the log is noticed", async () => {
    const clock = handClock();
    const [here, there] = [await bench.open({ clock }), await bench.open({ clock })];
    const lease = await there.takeLease("a", "there", { ttlMs: 100 });
    expect(await here.tryLease("a", "here")).toEqual({ kind: "held", by: "there" });
    clock.pass(90);
    await there.renewLease(lease);
    clock.pass(90);
    expect(await here.tryLease("a", "here")).toEqual({ kind: "held", by: "there" });
    // Counted from when the renewal was learnt of.
    clock.pass(100);
    expect(await here.tryLease("a", "here")).toEqual({
      kind: "taken",
      lease: { stream: "a", fence: lease.fence + 1, holder: "here" },
    });
    const late = there.append({ stream: "a", events: [admitted(1)], actor: "u", fence: lease.fence });
    expect(await settled([late])).toEqual(["lease.stale"]);
  });
}

/** A clock that stands still until told. */
function handClock(start = 0): (() => number) & { pass(milliseconds: number): void } {
  let now = start;
  return Object.assign(() => now, { pass: (milliseconds: number) => void (now += milliseconds) });
}
