import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type StoredEvent } from "@corral/protocol";
import { expect, test } from "vitest";
import type { Log } from "../port.ts";
import { verifyChain } from "../verify.ts";
import { type Bench, admitted, eventsOf, inFlight, inputId, inputs, settled, idsOf, seqsUntil } from "./fixture.ts";

export function sharing(bench: Bench): void {
  test("several that start at once on an empty folder make the log once", async () => {
    const outputs = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        promisify(execFile)(process.execPath, [writer, bench.module, bench.folder, "one", `${n}`]),
      ),
    );
    expect(outputs.map(({ stderr }) => stderr)).toEqual(["", "", "", ""]);
    const events = await eventsOf(await bench.open());
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(idsOf(events).toSorted()).toEqual([1, 2, 3, 4].map(inputId));
  });

  test("what another process wrote is noticed by versions, fences, listeners and tails", async () => {
    const log = await bench.open();
    const { fence } = await log.takeLease("a", "here");
    await log.append({ stream: "a", events: [admitted(1)], actor: "u", fence });
    const heard: number[] = [];
    log.onCommit((events) => heard.push(...events.map(({ seq }) => seq)));
    const tailed = seqsUntil(log, { after: 1 }, 3);
    await promisify(execFile)(process.execPath, [writer, bench.module, bench.folder, "usurp", "2"]);
    expect(
      await settled([
        log.append({ stream: "a", events: [admitted(3)], actor: "u", fence }),
        log.append({ stream: "a", events: [admitted(4)], actor: "u", expectedVersion: 1 }),
        log.append({ stream: "a", events: [admitted(5)], actor: "u", expectedVersion: 2 }),
      ]),
    ).toEqual(["lease.stale", "append.conflict", "stored"]);
    expect(heard).toEqual([2, 3]);
    expect(await tailed).toEqual([2, 3]);
  });

  test("what others commit reaches the tails and listeners of one that does nothing, in order", async () => {
    const log = await bench.open();
    const heard: number[] = [];
    log.onCommit((events) => heard.push(...events.map(({ seq }) => seq)));
    const tailed = seqsUntil(log, { after: 0 }, 60);
    await Promise.all(
      ["a", "b", "c"].map((name) =>
        promisify(execFile)(process.execPath, [writer, bench.module, bench.folder, "twenty", name]),
      ),
    );
    const all = Array.from({ length: 60 }, (_, index) => index + 1);
    expect([await tailed, heard]).toEqual([all, all]);
    expect(await verifyChain(log)).toMatchObject({ verdict: "intact", events: 60 });
  });

  test("kill -9 amid many appends keeps exactly the acknowledged, and of those in flight whole ones in order", async () => {
    const child = spawn(process.execPath, [writer, bench.module, bench.folder, "storm"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const acknowledged: { caller: number; n: number; seqs: number[] }[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push(JSON.parse(line));
      if (acknowledged.length === 1500) child.kill("SIGKILL");
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(1500);
    expect(await bench.driver.verify(bench.folder)).toBe("ok");

    const log = await bench.open();
    const events = await everything(log);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const appends = appendsIn(events);
    for (const [caller, numbers] of appends.byCaller) {
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
      const known = acknowledged.filter((ack) => ack.caller === caller).length;
      expect(numbers.length - known).toBeLessThanOrEqual(inFlight);
    }
    for (const { caller, n, seqs } of acknowledged) expect(appends.seqs.get(`${caller}-${n}`)).toEqual(seqs);
    expect(await verifyChain(log)).toMatchObject({ verdict: "intact", events: events.length });
    const kept = await log.rows("inputs");
    await log.close();
    const rebuilt = await bench.open({ projections: [{ ...inputs, version: inputs.version + 1 }] });
    expect(await rebuilt.rows("inputs")).toEqual(kept);
  });
}

const writer = fileURLToPath(new URL("./writer.ts", import.meta.url));

async function everything(log: Log): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let page = await eventsOf(log); page.length > 0; page = await eventsOf(log, { after: events.at(-1)!.seq })) {
    events.push(...page);
  }
  return events;
}

/** The storm's appends as found in the log: the input ids are `caller-n-piece of pieces`. */
function appendsIn(events: readonly StoredEvent[]) {
  const seqs = new Map<string, number[]>();
  const byCaller = new Map<number, number[]>();
  let expected = 1;
  for (const [index, id] of idsOf(events).entries()) {
    const [, caller, n, piece, pieces] = /^inp_(\d+)-(\d+)-(\d+)of(\d+)$/.exec(id)!.map(Number);
    expect(piece).toBe(expected);
    expected = piece === pieces ? 1 : piece! + 1;
    if (piece === 1) byCaller.set(caller!, [...(byCaller.get(caller!) ?? []), n!]);
    seqs.set(`${caller}-${n}`, [...(seqs.get(`${caller}-${n}`) ?? []), events[index]!.seq]);
  }
  expect(expected).toBe(1);
  return { seqs, byCaller };
}
