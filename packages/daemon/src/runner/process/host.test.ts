import { describe, expect, onTestFinished, test, vi } from "vitest";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeRunnerHost } from "../conformance.ts";
import { type HostPlace, openStage, type StagedSession } from "../conformance/stage.ts";
import type { Pulse } from "./heartbeat.ts";
import { Secrets } from "../../secrets/index.ts";
import { openRehearsedHost } from "./testing/rehearsal.ts";

describeRunnerHost("process", openRehearsedHost);

/** Quick to find out, and not so quick that one which loads what it needs on a busy machine would be taken for hung. */
const quick: Pulse = { everyMs: 50, missed: 60, missedAtStart: 1_000 };
const openQuick = (place: HostPlace) => openRehearsedHost(place, { pulse: quick });

async function pidOf(session: StagedSession): Promise<number> {
  return Number((await session.said(1))[0]);
}

describe("a runner process", () => {
  test("that is killed loses its runs, and another takes over", async () => {
    await using stage = await openStage(openRehearsedHost);
    const session = await stage.session("pid\nhold", "pid");
    const run = await session.start();
    const pid = await pidOf(session);
    process.kill(pid, "SIGKILL");
    expect(await run.ended).toEqual({ kind: "lost", reason: "the runner process ended (SIGKILL)" });
    const next = await stage.session("pid");
    await next.start();
    expect(await pidOf(next)).not.toBe(pid);
  });

  test("is told of secrets before it is given anything, and of each that becomes known", async () => {
    const [early, late] = ["4f9a1c77e0b2a1", "77e0b2a14f9a1c"];
    const secrets = new Secrets();
    secrets.learn({ name: "EARLY", value: early });
    await using stage = await openStage((place) => openRehearsedHost(place, { secrets }));
    const session = await stage.session(`say ${early} ${late}\nhold\nsay ${early} ${late}`);
    const run = await session.start();
    expect(await session.said(1)).toEqual([`[masked: EARLY]${late}`]);
    secrets.learn({ name: "LATE", value: late });
    run.tell(await session.interrupt());
    expect((await session.said(2))[1]).toBe("[masked: EARLY][masked: LATE]");
  });

  test("that has ended, whyever, is told of once", async () => {
    const { promise: told, resolve } = Promise.withResolvers<void>();
    let ends = 0;
    const onEnded = () => {
      ends += 1;
      resolve();
    };
    await using stage = await openStage((place) => openRehearsedHost(place, { onEnded }));
    const session = await stage.session("pid\nhold");
    await session.start();
    process.kill(await pidOf(session), "SIGKILL");
    await told;
    await stage.host.close();
    expect(ends).toBe(1);
  });

  test("that is killed takes nobody with it", async () => {
    await using stage = await openStage((place) => openRehearsedHost(place, { size: 2 }));
    const first = await stage.session("pid\nhold");
    const second = await stage.session("pid\nhold\nsay unharmed");
    const lost = await first.start();
    const kept = await second.start();
    const [pid, other] = [await pidOf(first), await pidOf(second)];
    expect(pid).not.toBe(other);
    process.kill(pid, "SIGKILL");
    expect(await lost.ended).toMatchObject({ kind: "lost" });
    kept.tell(await second.interrupt());
    expect((await second.said(2))[1]).toBe("unharmed");
  });

  test("of a session without company runs that session alone, and ends with its run", async () => {
    await using stage = await openStage(openRehearsedHost);
    const suspect = await stage.session("pid\nhold");
    const innocent = await stage.session("pid\nhold");
    await innocent.start();
    const run = await suspect.start({ company: "none" });
    const [own, shared] = [await pidOf(suspect), await pidOf(innocent)];
    expect(own).not.toBe(shared);
    expect(stage.host.runners()).toEqual([
      { pid: shared, sessions: 1 },
      { pid: own, sessions: 1 },
    ]);
    process.kill(own, "SIGKILL");
    expect(await run.ended).toMatchObject({ kind: "lost" });
    await expect.poll(() => stage.host.runners()).toEqual([{ pid: shared, sessions: 1 }]);
  });

  test("that hangs is found out and killed, and another takes over", async () => {
    // Questions are asked when the test says so: whoever is only slow, on a busy machine, has all the time it needs.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    await using stage = await openStage(openQuick);
    const session = await stage.session("pid\nhold");
    const run = await session.start();
    const pid = await pidOf(session);
    process.kill(pid, "SIGSTOP");
    vi.advanceTimersByTime(quick.everyMs * (quick.missed + 1));
    expect(await run.ended).toEqual({ kind: "lost", reason: "the runner process does not answer" });
    const next = await stage.session("pid");
    await next.start();
    expect(await pidOf(next)).not.toBe(pid);
    await stage.host.close();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  test("that hangs delays no stop", async () => {
    await using stage = await openStage(openRehearsedHost);
    const session = await stage.session("pid\nhold");
    const run = await session.start();
    process.kill(await pidOf(session), "SIGSTOP");
    await stage.host.drain(1);
    await stage.host.close();
    expect(await run.ended).toEqual({ kind: "lost", reason: "the host was closed" });
  });

  test("is not taken for hung after the whole machine slept", async () => {
    await using stage = await openStage(openQuick);
    const session = await stage.session("pid\nhold\nsay awake");
    const run = await session.start();
    const pid = await pidOf(session);
    process.kill(pid, "SIGSTOP");
    standStill(1.2 * quick.everyMs * quick.missed);
    process.kill(pid, "SIGCONT");
    run.tell(await session.interrupt());
    expect((await session.said(2))[1]).toBe("awake");
  });

  const defects = [
    ["break", "a rehearsed defect"],
    ["neglect", "a neglected promise"],
  ] as const;
  test.each(defects)("that meets a defect (%s) tells what it was", async (order, what) => {
    await using stage = await openStage(openRehearsedHost);
    const run = await (await stage.session(order)).start();
    expect(await run.ended).toEqual({ kind: "lost", reason: `the runner process broke: TypeError: ${what}` });
    expect(stage.defects).toEqual([expect.stringMatching(new RegExp(`broke: TypeError: ${what}\\n +at .*rehearsal`))]);
  });

  test("that breaks at its start loses its runs, and everything can be stopped", async () => {
    await using stage = await openStage((place) => {
      const entry = join(place.home, "broken.mjs");
      writeFileSync(entry, "process.exit(3);");
      return openRehearsedHost(place, { entry });
    });
    for (let n = 0; n < 3; n++) {
      const run = await (await stage.session("say never")).start();
      expect(await run.ended).toEqual({ kind: "lost", reason: "the runner process ended (3)" });
    }
    await stage.host.drain(60_000);
    await stage.host.close();
  });

  test("that leaves its channel is ended", async () => {
    await using stage = await openStage((place) => {
      const entry = join(place.home, "leaving.mjs");
      writeFileSync(entry, "process.disconnect(); setInterval(() => {}, 1000);");
      return openRehearsedHost(place, { entry });
    });
    const run = await (await stage.session("say never")).start();
    expect(await run.ended).toEqual({ kind: "lost", reason: "the runner process ended (SIGKILL)" });
  });

  test("that cannot be started loses its runs, until it can", async () => {
    let runtime = "";
    await using stage = await openStage((place) => {
      runtime = join(place.home, "node");
      return openRehearsedHost(place, { runtime, size: 2 });
    });
    const lost = { kind: "lost", reason: expect.stringContaining("was not started") };
    expect(await (await (await stage.session("say never")).start()).ended).toMatchObject(lost);
    expect(await (await (await stage.session("say never")).start()).ended).toMatchObject(lost);
    symlinkSync(process.execPath, runtime);
    const session = await stage.session("say finally");
    await session.start();
    expect(await session.said(1)).toEqual(["finally"]);
  });

  test("that could not be started delays no stop", async () => {
    await using stage = await openStage((place) => openRehearsedHost(place, { runtime: join(place.home, "nothing") }));
    const run = await (await stage.session("say never")).start();
    await stage.host.drain(60_000);
    await stage.host.close();
    expect(await run.ended).toMatchObject({ kind: "lost" });
  });

  test("may end between two words that are said to it", async () => {
    await using stage = await openStage(openRehearsedHost);
    const session = await stage.session("pid\nhold");
    const run = await session.start();
    const interrupt = await pidOf(session).then((pid) => {
      process.kill(pid, "SIGKILL");
      return session.interrupt();
    });
    for (let n = 0; n < 1_000; n++) {
      run.wake();
      run.tell(interrupt);
    }
    expect(await run.ended).toMatchObject({ kind: "lost" });
    run.wake();
  });
});

/** This whole process stands still, as one whose machine sleeps. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
