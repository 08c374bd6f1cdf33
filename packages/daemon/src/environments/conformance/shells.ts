import { join } from "node:path";
import { expect, test } from "vitest";
import { type Bench, command, nap, result, runOutOfTime, tellFifo, textOf } from "./fixture.ts";

export function shells({ open }: Bench): void {
  test("shells stand side by side, each with a state and ids of its own", async () => {
    const { environment, inside, run } = await open();
    const build = environment.openShell("build");
    expect(environment.openShell("build")).toBe(build);
    expect(environment.openShell("main")).toBe(environment.shell);
    const [held, release] = [
      command("mkfifo go-on; chmod 666 go-on; where=main; echo main; read x <go-on"),
      "echo >go-on",
    ];
    const running = environment.shell.run({ ...held, id: "same" });
    await build.run(command(`where=build; cd /tmp; until [ -p ${inside.workspace}/go-on ]; do sleep 0.01; done`));
    expect(await build.find("same")).toEqual({ kind: "absent" });
    expect(await build.run({ ...command("echo $where $PWD"), id: "same" })).toEqual(result({ stdout: "build /tmp\n" }));
    expect(await environment.shell.find("same")).toEqual({ kind: "begun" });
    await build.run(command(`cd ${inside.workspace}; ${release}`));
    expect(await running).toEqual(result({ stdout: "main\n" }));
    expect((await run("echo $where")).stdout).toBe("main\n");
  });

  test("a shell is found again by its name", async () => {
    const { environment, driver } = await open();
    await environment.openShell("build").run(command("kept=value"));
    environment.detach();
    const reopened = await driver.reopen(environment.state);
    if (reopened.kind !== "open") throw new Error("it did not live on");
    const found = reopened.environment.openShell("build");
    expect(await found.run(command("echo $kept"))).toEqual(result({ stdout: "value\n" }));
    reopened.environment.detach();
  });

  test("a closed shell leaves no process, and its name is a new shell", async () => {
    const { environment, run } = await open();
    const build = environment.openShell("build");
    const begun = Promise.withResolvers<void>();
    const running = build.run({ ...command(`kept=value; echo; sleep ${nap}25`), onOutput: () => begun.resolve() });
    const failed = running.catch((error: unknown) => error);
    await begun.promise;
    await environment.closeShell("build");
    expect(await failed).toMatchObject({ code: "environment.gone" });
    expect((await run(`grep -al 'sleep.${nap}2[5]' /proc/[0-9]*/cmdline 2>/dev/null | wc -l`)).stdout.trim()).toBe("0");
    expect(await environment.openShell("build").run(command("echo [$kept]"))).toEqual(result({ stdout: "[]\n" }));
  });

  test("a limit beside another shell is named, however many there are to be ended", async () => {
    const { environment } = await open();
    await environment.openShell("build").run(command("true"));
    const many = `n=0; while [ $n -lt 200 ]; do sleep ${nap}35 & n=$((n + 1)); done; echo; wait`;
    const limited = await runOutOfTime(environment.shell, many);
    expect(limited).toMatchObject({ exitCode: 143, timedOut: true, limit: "time", shellRespawned: true });
  });

  test("a limit in one shell ends its tree, and neither the command of another nor a program", async () => {
    const { environment, workspace } = await open();
    const build = environment.openShell("build");
    const cat = await environment.spawn({ argv: ["cat"] });
    const begun = Promise.withResolvers<void>();
    const text = "kept=value; echo begun; mkfifo go-on; chmod 666 go-on; read x <go-on; echo $kept";
    const beside = build.run({ ...command(text), timeoutMs: 600_000, onOutput: () => begun.resolve() });
    await begun.promise;
    const stubborn = `setsid sh -c 'trap "" TERM; echo; sleep ${nap}26; sleep ${nap}27' & (setsid sleep ${nap}28 &) ; wait; sleep ${nap}29`;
    expect(await runOutOfTime(environment.shell, stubborn)).toMatchObject({
      timedOut: true,
      limit: "time",
      shellRespawned: true,
    });
    await tellFifo(join(workspace, "go-on"));
    expect(await beside).toEqual(result({ stdout: "begun\nvalue\n" }));
    const probe = `grep -alE 'sleep.${nap}2[6-9]' /proc/[0-9]*/cmdline 2>/dev/null | wc -l`;
    expect((await build.run(command(probe))).stdout.trim()).toBe("0");
    cat.stdin.end("still there");
    expect(await textOf(cat.stdout)).toBe("still there");
  });
}
