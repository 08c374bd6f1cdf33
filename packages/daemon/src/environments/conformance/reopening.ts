import { type EnvironmentState, newId } from "@corral/protocol";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planOf } from "../plan/plan.ts";
import type { EnvironmentPlan } from "../port.ts";
import { isAlive } from "../system/process-identity.ts";
import { type Bench, command, result, runner, tellFifo } from "./fixture.ts";
import { killAtFirstLine } from "./killed-process.ts";

export function reopening({ open, newHome, subject, afterwards }: Bench): void {
  test("a command in flight outlives a kill -9 of the process that opened the environment, and ran once", async () => {
    const { home, workspace, driver } = newHome();
    const text = "echo begun; echo x >>count; mkfifo go-on; chmod 666 go-on; read x <go-on; cat count; exit 5";
    const plan = planOf({ id: newId("environment"), workspace, ...subject.plan });
    const state = await openRunAndDie(subject.module, { home, plan, text });
    const reopened = await driver.reopen(state);
    if (reopened.kind !== "open") throw new Error("it did not live on");
    afterwards(() => reopened.environment.end());
    const { shell } = reopened.environment;
    expect(await shell.find("orphan")).toEqual({ kind: "begun" });
    const joined = shell.run({ id: "orphan", text, timeoutMs: 60_000 });
    await tellFifo(join(workspace, "go-on"));
    expect(await joined).toEqual(result({ exitCode: 5, stdout: "begun\nx\n", shellRespawned: true }));
    expect((await runner(reopened.environment)("cat count")).stdout).toBe("x\n");
  });

  test("an environment let go and found again keeps its shell", async () => {
    const { environment, driver, run } = await open();
    await run("kept=value");
    environment.detach();
    const reopened = await driver.reopen(environment.state);
    if (reopened.kind !== "open") throw new Error("it did not live on");
    expect((await runner(reopened.environment)("echo $kept")).stdout).toBe("value\n");
    reopened.environment.detach();
  });

  test("commands are ended in time though another process holds the environment too, and hears that they were", async () => {
    const { environment, driver, run } = await open();
    const other = await driver.reopen(environment.state);
    if (other.kind !== "open") throw new Error("it did not live on");
    afterwards(() => other.environment.detach());
    // The second shell tells itself how its command ended.
    for (const text of ["echo; sleep 1000", "trap : TERM; echo; sleep 1000"]) {
      const leaving = new AbortController();
      const slow = { ...command(text), onOutput: () => leaving.abort() };
      expect(await environment.shell.run({ ...slow, signal: leaving.signal })).toMatchObject({ exitCode: 143 });
      expect((await run("echo on")).stdout).toBe("on\n");
    }
  });

  test("a command that waits for another process's is given up in its time, and that one goes on", async () => {
    const { environment, driver, workspace, run } = await open();
    const other = await driver.reopen(environment.state);
    if (other.kind !== "open") throw new Error("it did not live on");
    afterwards(() => other.environment.detach());
    const begun = Promise.withResolvers<void>();
    const text = "kept=value; echo begun; mkfifo go-on; chmod 666 go-on; read x <go-on; echo on";
    const running = environment.shell.run({ ...command(text), onOutput: () => begun.resolve() });
    await begun.promise;
    const late = other.environment.shell.run({ ...command("touch ran"), timeoutMs: 300 });
    expect(await late).toEqual(result({ exitCode: 143, timedOut: true, limit: "time" }));
    await tellFifo(join(workspace, "go-on"));
    expect(await running).toEqual(result({ stdout: "begun\non\n" }));
    expect((await run("echo $kept; ls ran")).stdout).toBe("value\n");
  });

  test("an environment that another version of Corral has opened is ended, and tells what ended before", async () => {
    const { environment, driver, run } = await open();
    const done = await run("echo over", "over");
    await run("echo more");
    environment.detach();
    const found = await driver.reopen({ ...environment.state, words: 1 });
    if (found.kind !== "gone") throw new Error("it lives on");
    expect(await found.results.find("over")).toEqual({ kind: "done", result: done });
    await expect.poll(() => isAlive(environment.state.supervisor)).toBe(false);
  });

  test("a killed environment is gone: what ran is begun, what ended is done, the rest is absent", async () => {
    const { environment, driver, run } = await open();
    const done = await run("echo over", "over");
    const doneBeside = await environment.openShell("beside").run({ ...command("echo beside"), id: "over-there" });
    const begun = Promise.withResolvers<void>();
    const running = environment.shell.run({
      ...command("echo; sleep 1000"),
      id: "cut",
      onOutput: () => begun.resolve(),
    });
    await begun.promise;
    process.kill(environment.state.supervisor.pid, "SIGKILL");
    await expect(running).rejects.toMatchObject({ code: "environment.gone" });
    await expect(run("echo more")).rejects.toMatchObject({ code: "environment.gone" });
    const reopened = await driver.reopen(environment.state);
    if (reopened.kind !== "gone") throw new Error("it lives on");
    expect(await reopened.results.find("cut")).toEqual({ kind: "begun" });
    expect(await reopened.results.find("over")).toEqual({ kind: "done", result: done });
    expect(await reopened.results.find("other")).toEqual({ kind: "absent" });
    const beside = reopened.results.ofShell("beside");
    expect(await beside.find("over-there")).toEqual({ kind: "done", result: doneBeside });
    expect([await beside.find("over"), await reopened.results.find("over-there")]).toEqual([
      { kind: "absent" },
      { kind: "absent" },
    ]);
  });

  test("an environment of an earlier start of the machine cannot tell anything", async () => {
    const { environment, driver, run } = await open();
    await run("echo over", "over");
    const state = { ...environment.state, supervisor: { ...environment.state.supervisor, bootId: "another" } };
    const reopened = await driver.reopen(state);
    if (reopened.kind !== "gone") throw new Error("it lives on");
    expect(await reopened.results.find("over")).toEqual({ kind: "begun" });
    expect(await reopened.results.find("other")).toEqual({ kind: "begun" });
    expect((await run("echo on")).stdout).toBe("on\n");
  });
}

const openRunAndDieScript = `
const [module, home, plan, text] = process.argv.slice(1);
const { openDriver } = await import(module);
const environment = await openDriver(home).open(JSON.parse(plan));
const onOutput = () => console.log(JSON.stringify(environment.state));
await environment.shell.run({ id: "orphan", text, timeoutMs: 60_000, onOutput });
`;

/** Another process opens an environment and is killed when its command has begun. */
async function openRunAndDie(
  module: string,
  { home, plan, text }: { home: string; plan: EnvironmentPlan; text: string },
): Promise<EnvironmentState> {
  const state = await killAtFirstLine(openRunAndDieScript, [module, home, JSON.stringify(plan), text]);
  return JSON.parse(state) as EnvironmentState;
}
