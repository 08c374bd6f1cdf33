import { join } from "node:path";
import { expect, test } from "vitest";
import { type Bench, admitted, eventsOf, inputId, settled, idsOf, tailOf } from "./fixture.ts";

export function closing(bench: Bench): void {
  test("finishes what was accepted and refuses what comes later", async () => {
    const log = await bench.open();
    const accepted = log.append({ stream: "a", events: [admitted(1)], actor: "u" });
    await log.close();
    expect(await settled([accepted])).toEqual(["stored"]);
    const late = [
      log.append({ stream: "a", events: [admitted(2)], actor: "u" }),
      log.read({ after: 0 }),
      log.head(),
      log.row("inputs", "x"),
      log.rows("inputs"),
      log.counts("inputs", { where: { session: "a" }, by: "state" }),
      log.takeLease("a", "one"),
      log.tryLease("a", "one"),
      log.renewLease({ stream: "a", fence: 1, holder: "one" }),
      log.releaseLease({ stream: "a", fence: 1, holder: "one" }),
      log.trim({ before: 2 }),
      log.erase("a", { actor: "u" }),
      log.backup(join(bench.folder, "late")),
      tailOf(log, { after: 0 }).next(),
    ];
    expect(await settled(late)).toEqual(late.map(() => "log.closed"));
    await log.close();
    expect(idsOf(await eventsOf(await bench.open()))).toEqual([inputId(1)]);
  });

  test("wakes a waiting tail", async () => {
    const log = await bench.open();
    await log.append({ stream: "a", events: [admitted(1)], actor: "u" });
    const tail = tailOf(log, { after: 0 });
    await tail.next();
    const waiting = tail.next();
    await log.close();
    expect(await settled([waiting])).toEqual(["log.closed"]);
  });
}
