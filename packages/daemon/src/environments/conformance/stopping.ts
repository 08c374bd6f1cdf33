import { expect, test } from "vitest";
import { type Bench, command, nap, result, runOutOfTime } from "./fixture.ts";

export function stopping({ open }: Bench): void {
  test("a command whose shell does not take it up in time is given up, and the shell is replaced", async () => {
    const { environment, run, inside } = await open();
    // Stopped before its end is written down it would have more to do for this one.
    const isOver = `until [ -s ${inside.spool}/$_corral_id.rc ]; do sleep 0.01; done`;
    const pid = (await run(`(${isOver}; kill -s STOP $$) & echo $$`)).stdout.trim();
    const isStopped = `until grep -q 'State:.T' /proc/${pid}/status; do sleep 0.01; done`;
    await environment.openShell("beside").run(command(isStopped));
    const stuck = environment.shell.run({ ...command("echo never"), timeoutMs: 500 });
    expect(await stuck).toMatchObject({ timedOut: true, limit: "time", stdout: "", shellRespawned: true });
    expect((await run("echo on")).stdout).toBe("on\n");
  });

  test("a time limit ends a tree that left its session and ignores TERM; the shell goes on", async () => {
    const { environment, run } = await open();
    const stubborn = `setsid sh -c 'trap "" TERM; echo out; sleep ${nap}21; sleep ${nap}22' & setsid sleep ${nap}23 & wait`;
    expect(await runOutOfTime(environment.shell, stubborn)).toMatchObject({
      stdout: "out\n",
      timedOut: true,
      limit: "time",
      shellRespawned: true,
    });
    // The probe finds what is there; processes that end while it looks are none of its business.
    const probe = `grep -alE 'sleep.${nap}2[1-4]' /proc/[0-9]*/cmdline 2>/dev/null | wc -l`;
    expect((await run(probe)).stdout.trim()).toBe("0");
    expect((await run(`sh -c 'sleep ${nap}24; :' & until [ $(${probe}) -gt 0 ]; do :; done; echo found`)).stdout).toBe(
      "found\n",
    );
  });

  test("a time limit is named also where the shell heeds TERM in its own way and tells how its command ended", async () => {
    const { environment, run } = await open();
    const limited = await runOutOfTime(environment.shell, "trap : TERM; echo out; sleep 1000");
    expect(limited).toMatchObject({ stdout: "out\n", timedOut: true, limit: "time", shellRespawned: true });
    expect((await run("echo on")).stdout).toBe("on\n");
  });

  test("a command aborted the moment the environment opened ends, and the next one runs", async () => {
    const { environment, run } = await open();
    const signal = AbortSignal.timeout(0);
    const aborted = await environment.shell.run({ ...command("sleep 1000"), signal });
    expect(aborted).toMatchObject({ exitCode: 143, timedOut: false });
    expect((await run("echo on")).stdout).toBe("on\n");
  });

  test("an aborted command ends and gives what it had written", async () => {
    const { environment, run } = await open();
    const abort = new AbortController();
    const running = environment.shell.run({
      ...command("echo before; sleep 1000"),
      signal: abort.signal,
      onOutput: () => abort.abort(),
    });
    expect(await running).toEqual(result({ exitCode: 143, stdout: "before\n", shellRespawned: true }));
    expect((await run("echo on")).stdout).toBe("on\n");
  });

  test("a command aborted before its turn never begins", async () => {
    const { environment, run } = await open();
    const abort = new AbortController();
    const first = run("sleep 0.1");
    const second = environment.shell.run({ ...command("touch ran"), id: "second", signal: abort.signal });
    abort.abort();
    expect(await second).toEqual(result({ exitCode: 143 }));
    await first;
    expect(await environment.shell.find("second")).toEqual({ kind: "absent" });
    expect((await run("ls")).stdout).toBe("");
  });
}
