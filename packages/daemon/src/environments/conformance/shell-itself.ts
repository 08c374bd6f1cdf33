import { expect, test } from "vitest";
import { letTimePass } from "../../testing/time.ts";
import { type Bench, command, result } from "./fixture.ts";

export function surviving({ open, subject }: Bench): void {
  const survived: [string, string, number][] = [
    ["an open quote", `echo "never closed`, 2],
    ["a syntax error", "if then fi )", 2],
    ["a return", "return 4", 4],
    ["a break and a continue", "break; continue 3; (exit 5)", 5],
    ["a folder that is gone", "mkdir gone; cd gone; rmdir ../gone; cd /tmp", 0],
    ["signals that it ignores or handles", "trap '' TERM HUP INT; trap 'echo caught' USR1 USR2 CHLD CONT", 0],
    ["a here-document without an end", "cat >/dev/null <<END\nnever ended", 0],
    ["a substitution without an end", "echo $(echo", 2],
    ["an unset PATH", "unset PATH", 0],
    ["closed descriptors", "exec <&- >&- 2>&-; (exit 6)", 6],
    ["redirected descriptors", "exec >/dev/null 2>&1; exec 7<&- 8<&- 9<&-; (exit 3)", 3],
    ["unset variables being errors, once the command is over", "set -u", 0],
    ["errors ending the shell, once the command is over", "set -e; true", 0],
    ["a strange IFS", "IFS=cal_0123456789", 0],
    ["a closed umask", "umask 777", 0],
    ["a trap on exit", "trap 'echo bye; exit 9' EXIT", 0],
    ["options that forbid overwriting and globbing", "set -Cf", 0],
    [
      "functions and aliases named like the shell's own words",
      "command() { exit 1; }; read() { :; }; echo() { exit 1; }; test() { exit 1; }; umask() { exit 1; }; alias case=exit unset=exit; (exit 8)",
      8,
    ],
  ];
  const promised = survived.filter(([what]) => subject.fatal?.includes(what) !== true);
  test.each(promised)("the shell lives through %s", async (_, text, exitCode) => {
    const { run } = await open();
    await run("kept=value; cd /tmp");
    expect(await run(text)).toMatchObject({ exitCode, shellRespawned: false });
    expect(await run(`printf '%s' "$PWD $kept"; false; printf ' %s' "$undefined"`)).toEqual(
      result({ stdout: "/tmp value " }),
    );
  });

  const respawned: [string, string, number][] = [
    ["exit", "echo out; exit 3", 3],
    ["exec", "echo out; exec sh -c 'exit 4'", 4],
    ["an error under set -e", "set -e; echo out; false; echo not reached", 1],
    ["a signal to itself", "echo out; kill -9 $$", 137],
  ];
  // Where it is not kept, this would end everything that the tester runs.
  if (subject.promises.walledProcesses === "kept")
    respawned.push(["a signal to everyone by another process", "echo out; sh -c 'kill -9 -1'; wait", 137]);
  test.each(respawned)("a shell ended by %s is replaced, and the result says so", async (_, text, exitCode) => {
    const { run } = await open();
    await run("kept=value");
    expect(await run(text)).toEqual(result({ exitCode, stdout: "out\n", shellRespawned: true }));
    expect(await run('echo "[$kept]"')).toEqual(result({ stdout: "[]\n" }));
  });

  test("a shell that was told to do nothing more does the next command", async () => {
    const { run } = await open();
    expect(await run("echo out; set -n; echo not reached")).toMatchObject({ exitCode: 0, stdout: "out\n" });
    expect((await run("echo on")).stdout).toBe("on\n");
  });

  const spoilt: [string, string][] = [
    ["not hear", "echo out; readonly _corral_id"],
    ["write no files", "echo out; ulimit -f 0"],
    ["open no files", "echo out; ulimit -n 5"],
  ];
  test.each(spoilt)("a shell that was told to %s is replaced, at the latest for the next command", async (_, text) => {
    const { run, environment } = await open();
    await run("kept=value");
    // Some shells are left without a way to say anything, and are ended by the limit. Most do so at once.
    const spoiling = command(text);
    let isLate: NodeJS.Timeout | undefined;
    const onOutput = () => (isLate ??= setTimeout(() => letTimePass(spoiling.timeoutMs), 2_000));
    const { stdout, shellRespawned } = await environment.shell.run({ ...spoiling, onOutput });
    clearTimeout(isLate);
    const next = await run('echo "[$kept]"');
    expect({ stdout, told: [shellRespawned, next.shellRespawned], next: next.stdout }).toEqual({
      stdout: "out\n",
      told: shellRespawned ? [true, false] : [false, true],
      next: "[]\n",
    });
  });
}
