import { describe, expect, test } from "vitest";
import type { EnvironmentDriver } from "../environments/index.ts";
import { callsTool, says, startTestDaemon } from "../testing/index.ts";
import { endEnvironments, sweepEnvironments } from "./leftovers.ts";

describe("environments left over", () => {
  test("one that cannot be ended is reported and stays on record, the others are ended", async () => {
    await using daemon = await startTestDaemon();
    const [first, second] = [daemon.session, await daemon.another()];
    for (const session of [first, second]) {
      daemon.model.script([callsTool("shell", { command: "true" }), says("done")]);
      await session.prompt("go");
      await session.until("activity.settled");
    }
    const stuck = (await first.until("environment.opened")).data.state;
    const ended: string[] = [];
    const reported: string[] = [];
    await endEnvironments(daemon.log, driverWith({ stuck: stuck.id, ended }), {
      which: "resting",
      onFailure: (name, error) => reported.push(`${name}: ${String(error)}`),
    });
    expect(reported).toEqual([`the environment of ${first.id}: Error: stuck`]);
    expect(ended).toEqual([(await second.until("environment.opened")).data.state.id]);
    expect((await daemon.log.rows("environments")).map((row) => row["session"])).toEqual([first.id]);
  });

  test("a sweep that fails as a whole is reported, too", async () => {
    await using daemon = await startTestDaemon();
    const reported: string[] = [];
    const driver = { sweep: () => Promise.reject(new Error("no such disk")) } as Partial<EnvironmentDriver>;
    await sweepEnvironments(daemon.log, driver as EnvironmentDriver, {
      onFailure: (name, error) => reported.push(`${name}: ${String(error)}`),
      signal: AbortSignal.timeout(10_000),
    });
    expect(reported).toEqual(["the environments: Error: no such disk"]);
  });
});

/** Ends environments in name only, but for one. */
function driverWith({ stuck, ended }: { stuck: string; ended: string[] }): EnvironmentDriver {
  const reopen = (state: { id: string }) => {
    const end = async () => void ended.push(state.id);
    if (state.id === stuck) return Promise.reject(new Error("stuck"));
    return Promise.resolve({ kind: "open", environment: { end } });
  };
  return { reopen } as unknown as EnvironmentDriver;
}
