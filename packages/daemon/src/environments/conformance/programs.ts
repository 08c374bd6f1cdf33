import type { EnvironmentState } from "@corral/protocol";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Bench, command, nap, runner, tellFifo, textOf } from "./fixture.ts";
import { killAtFirstLine } from "./killed-process.ts";

export function spawning({ open, subject }: Bench): void {
  test("a program has pipes, variables, a folder and an exit code of its own", async () => {
    const { environment } = await open();
    const script = 'cat; printf "%s|" "$PWD" "$WORD" "$1" >&2; exit 7';
    const argv = ["sh", "-c", script, "sh", 'it\'s $HOME "quoted"\n*'] as const;
    const program = await environment.spawn({ argv, folder: "/tmp", variables: { WORD: "a 'b' $c" } });
    const [out, err] = [textOf(program.stdout), textOf(program.stderr)];
    const long = "é€\n".repeat(200_000);
    program.stdin.end(long);
    expect(await out).toBe(long);
    expect(await err).toBe("/tmp|a 'b' $c|it's $HOME \"quoted\"\n*|");
    expect(await program.ended).toEqual({ exitCode: 7 });
  });

  test("how a program ended is told truly, however often its keeper is woken meanwhile", async () => {
    const { environment } = await open();
    const { pid } = environment.state.supervisor;
    const waking = setInterval(() => process.kill(pid, "SIGUSR1"), 1);
    try {
      for (let time = 0; time < 20; time += 1) {
        const programs = await Promise.all(
          [3, 4, 5].map((code) => environment.spawn({ argv: ["sh", "-c", `exit ${code}`] })),
        );
        const ends = await Promise.all(programs.map(({ ended }) => ended));
        expect(ends.map(({ exitCode }) => exitCode)).toEqual([3, 4, 5]);
      }
    } finally {
      clearInterval(waking);
    }
  });

  test("a program that is not there ends with 127, one that is killed with the signal's number", async () => {
    const { environment } = await open();
    expect(await (await environment.spawn({ argv: ["not-there"] })).ended).toEqual({ exitCode: 127 });
    const sleeping = await environment.spawn({ argv: ["sleep", "1000"] });
    sleeping.kill();
    expect(await sleeping.ended).toEqual({ exitCode: 143 });
    const aborted = new AbortController();
    const stubborn = await environment.spawn({
      argv: ["sh", "-c", `trap '' TERM; echo on; while :; do sleep ${nap}30; done`],
      signal: aborted.signal,
    });
    await once(stubborn.stdout, "data");
    aborted.abort();
    expect(await stubborn.ended).toEqual({ exitCode: 137 });
    const probe = `grep -al 'sleep.${nap}3[0]' /proc/[0-9]*/cmdline 2>/dev/null | wc -l`;
    expect((await runner(environment)(probe)).stdout.trim()).toBe("0");
  });

  test("programs run beside the shell, and one that nobody reads holds nobody up", async () => {
    const { environment, run, workspace, inside } = await open();
    const begun = Promise.withResolvers<void>();
    const text = "echo begun; mkfifo go-on; chmod 666 go-on; read x <go-on";
    const running = environment.shell.run({ ...command(text), onOutput: () => begun.resolve() });
    await begun.promise;
    const unread = await environment.spawn({ argv: ["yes"] });
    const programs = await Promise.all(Array.from({ length: 10 }, () => environment.spawn({ argv: ["cat"] })));
    for (const [index, { stdin }] of programs.entries()) stdin.end(String(index));
    const said = await Promise.all(programs.map(({ stdout }) => textOf(stdout)));
    await Promise.all(programs.map(({ ended }) => ended));
    expect(said).toEqual(Array.from({ length: 10 }, (_, index) => String(index)));
    await tellFifo(join(workspace, "go-on"));
    expect(await running).toMatchObject({ exitCode: 0 });
    unread.kill();
    expect(await unread.ended).toEqual({ exitCode: 143 });
    expect((await run(`ls -a ${inside.spool} | grep -c prg_`)).stdout).toBe("0\n");
  });

  test("a program of a process that was killed ends, even if it does not read", async () => {
    const { environment, driver, home } = await open();
    environment.detach();
    const argv = ["sh", "-c", `trap '' TERM HUP; echo begun; while :; do sleep ${nap}31; done`];
    await spawnAndDie(subject.module, { home, state: environment.state, argv });
    const reopened = await driver.reopen(environment.state);
    if (reopened.kind !== "open") throw new Error("it did not live on");
    const probe = `grep -al 'sleep.${nap}3[1]' /proc/[0-9]*/cmdline 2>/dev/null | wc -l`;
    await expect.poll(async () => (await runner(reopened.environment)(probe)).stdout.trim()).toBe("0");
    reopened.environment.detach();
  }, 60_000);

  test("what a program waits for fails when the environment ends", async () => {
    const { environment } = await open();
    const cat = await environment.spawn({ argv: ["cat"] });
    await environment.kill();
    await expect(cat.ended).rejects.toMatchObject({ code: "environment.gone" });
    await expect(environment.spawn({ argv: ["cat"] })).rejects.toMatchObject({ code: "environment.gone" });
  });
}

const spawnAndDieScript = `
const [module, home, state, argv] = process.argv.slice(1);
const { openDriver } = await import(module);
const { environment } = await openDriver(home).reopen(JSON.parse(state));
const program = await environment.spawn({ argv: JSON.parse(argv) });
program.stdout.pipe(process.stdout);
`;

/** Another process starts a program in an open environment and is killed when it has begun. */
async function spawnAndDie(
  module: string,
  { home, state, argv }: { home: string; state: EnvironmentState; argv: readonly string[] },
): Promise<void> {
  await killAtFirstLine(spawnAndDieScript, [module, home, JSON.stringify(state), JSON.stringify(argv)]);
}
