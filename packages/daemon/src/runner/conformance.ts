import { describe, expect, test } from "vitest";
import type { AskOf } from "../capabilities/port.ts";
import { type HostPlace, openStage, type Reached, type StagedRun } from "./conformance/stage.ts";
import type { RunEnd, RunnerHost } from "./port.ts";

/**
 * What every runner host promises. It is opened so that its runs have the rehearsed agent, which does
 * what its inputs say.
 */
export function describeRunnerHost(name: string, open: (place: HostPlace) => RunnerHost): void {
  describe(`the runner host ${name}`, () => {
    test("takes what waits in the inbox, one activity after the other", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("say one", "say two");
      await session.start();
      expect(await session.said(2)).toEqual(["one", "two"]);
      const before = ["session.created", "input.admitted", "input.admitted"];
      const activity = [
        ...["activity.opened", "input.promoted", "turn.prepared", "turn.dispatched"],
        ...["turn.said", "turn.replied", "turn.settled", "activity.settled"],
      ];
      expect((await session.types()).slice(0, 15)).toEqual([...before, ...activity, ...activity.slice(0, 4)]);
    });

    test("sends what is recorded in the order it is recorded", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("count 500");
      await session.start();
      expect(await session.said(500)).toEqual(Array.from({ length: 500 }, (_, n) => String(n + 1)));
    });

    test("sends the pieces of a part before the event that closes it", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("say a b c\nsay d\ncount 20");
      const run = await session.start();
      await session.said(22);
      expect(pieceCounts(run.reached)).toEqual([3, 1, ...Array.from({ length: 20 }, () => 1)]);
    });

    test("has files kept, byte for byte, and goes on when one is refused", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("keep \u00e4\u0000 \nsay on");
      const run = await session.start();
      expect(await session.said(3)).toEqual(["3", "refused", "on"]);
      const id = "art_kept";
      expect(run.reached.flatMap((each) => (each.what === "keep" ? [plain(each.step)] : []))).toEqual([
        { step: "begin", id, name: "kept.txt", kind: "stdout" },
        { step: "append", id, bytes: "c3a400" },
        { step: "append", id, bytes: "" },
        { step: "finish", id },
      ]);
    });

    test("carries calls to the daemon, and back what they are answered or refused with", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("judge shell\nreach-out\nsay on");
      await session.start();
      expect(await session.said(3)).toEqual(["allow", "capability.missing", "on"]);
    });

    test("lets a call be given up, and tells whoever works on it", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("wait\nsay on");
      const run = await session.start();
      await session.said(1);
      run.tell(await session.interrupt());
      expect(await session.said(3)).toEqual(["waiting", "given up", "on"]);
      expect(run.reached.filter(({ what }) => what === "given up")).toHaveLength(1);
    });

    test("looks into the inbox when it is woken", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("say first");
      const run = await session.start();
      await session.said(1);
      await session.admit("say second");
      run.wake();
      expect(await session.said(2)).toEqual(["first", "second"]);
    });

    test("hears what others record", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("say waiting\nhold\nsay interrupted");
      const run = await session.start();
      await session.said(1);
      run.tell(await session.interrupt());
      expect(await session.said(2)).toEqual(["waiting", "interrupted"]);
    });

    test("runs sessions side by side", async () => {
      await using stage = await openStage(open);
      const held = await stage.session("say held\nhold");
      const other = await stage.session("say free");
      await held.start();
      await held.said(1);
      await other.start();
      expect(await other.said(1)).toEqual(["free"]);
    });

    test("lets a session go that has nothing to do for a while", async () => {
      await using stage = await openStage(open, { idleMs: 1 });
      const session = await stage.session("say done");
      const run = await session.start();
      expect(await run.ended).toEqual({ kind: "idle", heard: 0 });
      expect((await session.types()).at(-1)).toBe("activity.settled");
    });

    test("drains a session at rest at once", async () => {
      await using stage = await openStage(open);
      const run = await (await stage.session()).start();
      await stage.host.drain(60_000);
      expect(await run.ended).toEqual({ kind: "drained" });
    });

    test("drains a busy session at the end of its turn", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("say busy\nhold");
      const run = await session.start();
      await session.said(1);
      const drained = stage.host.drain(60_000);
      run.tell(await session.interrupt());
      await drained;
      expect(await run.ended).toEqual({ kind: "drained" });
      expect((await session.types()).at(-1)).toBe("turn.settled");
    });

    test("drains no longer than the deadline, and the run goes on", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("say busy\nhold\nsay still-here");
      const run = await session.start();
      await session.said(1);
      await stage.host.drain(1);
      expect(await isOver(run)).toBe(false);
      run.tell(await session.interrupt());
      expect(await session.said(2)).toEqual(["busy", "still-here"]);
    });

    test("starts nothing any more once it drains", async () => {
      await using stage = await openStage(open);
      await stage.host.drain(0);
      const run = await (await stage.session("say never")).start();
      expect(await run.ended).toEqual({ kind: "drained" });
      expect(run.reached).toEqual([]);
    });

    test("loses every run when it closes, and starts nothing any more", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("say busy\nhold");
      const run = await session.start();
      await session.said(1);
      await stage.host.close();
      expect(await run.ended).toMatchObject({ kind: "lost" });
      expect(await (await session.start()).ended).toMatchObject({ kind: "lost" });
    });

    test("loses a run whose lease was taken by another, and nothing of it is recorded after that", async () => {
      await using stage = await openStage(open);
      const session = await stage.session("say mine\nhold\nsay not mine any more");
      const run = await session.start();
      await session.said(1);
      await stage.log.takeLease(session.id, "another");
      run.tell(await session.interrupt());
      expect(await run.ended).toMatchObject({ kind: "lost", reason: expect.stringMatching(/lease/i) });
      expect((await session.types()).filter((type) => type === "turn.said")).toHaveLength(1);
    });

    test("ends a run once: what is said to it afterwards starts nothing and does not change its end", async () => {
      await using stage = await openStage(open, { idleMs: 1 });
      const session = await stage.session("say done");
      const first = await session.start();
      const ends = [await first.ended];
      const reached = [...first.reached];
      await session.admit("say later");
      first.wake();
      // Hosts hear in order: what the first run still does comes before what the second does.
      const second = await session.start();
      expect(await session.said(2)).toEqual(["done", "later"]);
      await second.ended;
      expect(stage.host.runners().filter(({ sessions }) => sessions > 0)).toEqual([]);
      first.tell(await session.interrupt());
      await stage.host.close();
      ends.push(await first.ended, await second.ended);
      const idle: RunEnd = { kind: "idle", heard: 0 };
      expect(ends).toEqual([idle, idle, idle]);
      expect(first.reached).toEqual(reached);
    });

    test("loses a run that cannot begin, and no other", async () => {
      await using stage = await openStage(open);
      const held = await stage.session("say held\nhold\nsay unharmed");
      const run = await held.start();
      await held.said(1);
      const broken = await (await stage.session()).start();
      const again = stage.host.start({ ...broken.assignment, events: null as never }, broken.office);
      expect(await again.ended).toMatchObject({ kind: "lost", reason: expect.stringContaining("defect") });
      run.tell(await held.interrupt());
      expect(await held.said(2)).toEqual(["held", "unharmed"]);
    });

    test("loses a run whose agent has a defect", async () => {
      await using stage = await openStage(open);
      const run = await (await stage.session("dance")).start();
      expect(await run.ended).toEqual({ kind: "lost", reason: 'defect: "dance" is no order' } satisfies RunEnd);
    });
  });
}

/** For each closing event, how many pieces of its part had come before it. */
function pieceCounts(reached: readonly Reached[]): readonly number[] {
  return reached.flatMap((each, at) => {
    if (each.what !== "event" || each.event.type !== "turn.said") return [];
    const { part } = each.event.data;
    return reached.slice(0, at).filter((earlier) => earlier.what === "delta" && earlier.delta.part === part).length;
  });
}

async function isOver(run: StagedRun): Promise<boolean> {
  return Promise.race([run.ended.then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))]);
}

function plain(step: AskOf<"artifacts.keep">): object {
  return step.step === "append" ? { ...step, bytes: Buffer.from(step.bytes).toString("hex") } : step;
}
