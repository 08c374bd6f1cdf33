import {
  type CommandResult,
  type EnvironmentLimits,
  type EnvironmentState,
  newId,
  type ProcessIdentity,
} from "@corral/protocol";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { describeFiles, openForFiles, sharedForFiles } from "./files/conformance.ts";
import { defaultLimits, planOf } from "./plan.ts";
import type { Environment, EnvironmentDriver, EnvironmentPlan } from "./port.ts";
import { identify, isAlive } from "./process-identity.ts";

/** A driver as the suite needs it: opened on a home of its own, by this process or another one. */
export interface DriverUnderTest {
  open(home: string): EnvironmentDriver;
  /** Module that exports `openDriver(home)`, for the process that gets killed. */
  readonly module: string;
  /** What its shell cannot live through, by the names that this suite has for it. The next result says so. */
  readonly fatal?: readonly string[];
  /** `sparing`, where it is slow or tried already: fewer are opened to see that nothing is left, and the tests of files share one. */
  readonly opening?: "sparing";
  /** Whom workspaces must belong to. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /** What differs from the usual plan, for a driver that cannot keep it. */
  readonly plan?: Partial<EnvironmentPlan>;
  places(home: string, state: EnvironmentState): Places;
  readonly promises: Promises;
}

export interface Places {
  /** Seen from inside. */
  readonly workspace: string;
  /** Seen from inside. */
  readonly spool: string;
  readonly spoolOutside: string;
}

/** Where drivers differ: what is kept, or why it is not. */
export interface Promises {
  /** No signal from inside reaches anybody outside, and nobody inside escapes the end. Never tried where it is not kept. */
  readonly walledProcesses: "kept" | { readonly weaker: string };
}

/** What every environment promises, whatever its walls are made of. */
export function describeEnvironment(name: string, subject: DriverUnderTest): void {
  if (subject.opening === "sparing") {
    const files = sharedForFiles(subject);
    afterAll(() => files.close());
    describeFiles(name, files);
  } else describeFiles(name, { open: () => openForFiles(subject) });
  describe(`${name} environment`, () => {
    const cleanUps: (() => Promise<void> | void)[] = [];
    afterEach(async () => {
      for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
    });

    function newPlace(): { home: string; workspace: string; driver: EnvironmentDriver } {
      const home = mkdtempSync(join(tmpdir(), "corral-environment-"));
      cleanUps.push(() => rmSync(home, { recursive: true, force: true }));
      const workspace = join(home, "workspace");
      mkdirSync(workspace);
      if (subject.owner !== undefined) chownSync(workspace, subject.owner.uid, subject.owner.gid);
      chmodSync(workspace, 0o755);
      return { home, workspace, driver: subject.open(home) };
    }

    async function open(limits: Partial<EnvironmentLimits> = {}): Promise<Opened> {
      const { home, workspace, driver } = newPlace();
      const plan = planOf({
        id: newId("environment"),
        workspace,
        limits: { ...defaultLimits, ...limits },
        ...subject.plan,
      });
      const environment = await driver.open(plan);
      cleanUps.push(() => environment.end());
      const inside = subject.places(home, environment.state);
      return { home, workspace, driver, environment, inside, run: runner(environment) };
    }

    test("files are read and written while a command runs", async () => {
      const { environment, run } = await open();
      const { files } = environment;
      const running = run("until [ -e go ]; do sleep 0.01; done; cat go");
      await files.write("file", "text");
      expect((await files.read("file")).bytes.toString()).toBe("text");
      await files.write("go", "gone on");
      expect((await running).stdout).toBe("gone on");
    });

    test("files go on after a time limit ended everything", async () => {
      const { environment } = await open();
      const { files } = environment;
      await files.write("file", "text");
      for (const id of ["one", "two"]) {
        const limited = environment.shell.run({ id, text: "sleep 1000", timeoutMs: 50 });
        const over = new AbortController();
        void limited.finally(() => over.abort());
        const seen = new Set<string>();
        while (!over.signal.aborted) seen.add((await files.read("file")).bytes.toString());
        expect([...seen]).toEqual(["text"]);
        expect(await limited).toMatchObject({ shellRespawned: true });
        await files.edit("file", (text) => text);
      }
    });

    test("files of an environment that ended say that it is gone", async () => {
      const { environment } = await open();
      await environment.files.write("file", "text");
      await environment.kill();
      await expect(environment.files.read("file")).rejects.toMatchObject({ code: "environment.gone" });
      await expect(environment.files.write("file", "new")).rejects.toMatchObject({ code: "environment.gone" });
      await expect(environment.files.glob("*")).rejects.toMatchObject({ code: "environment.gone" });
    });

    test("stdout, stderr and exit code are told apart", async () => {
      const { run } = await open();
      expect(await run("echo out; echo err >&2; (exit 7)")).toEqual(
        result({ exitCode: 7, stdout: "out\n", stderr: "err\n" }),
      );
    });

    test("folder, variables and functions stay from command to command", async () => {
      const { run } = await open();
      await run("mkdir sub; cd sub; kept=value; greet() { echo hello $1; }");
      expect((await run("basename $PWD; echo $kept; greet you")).stdout).toBe("sub\nvalue\nhello you\n");
    });

    test("commands have no input to wait for", async () => {
      const { run } = await open();
      expect(await run("cat; read x")).toEqual(result({ exitCode: 1 }));
    });

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
    test.each(spoilt)(
      "a shell that was told to %s is replaced, at the latest for the next command",
      async (_, text) => {
        const { run, environment } = await open();
        await run("kept=value");
        // Some shells are left without a way to say anything, and are ended by the limit.
        const { stdout, shellRespawned } = await environment.shell.run({ ...command(text), timeoutMs: 3_000 });
        const next = await run('echo "[$kept]"');
        expect({ stdout, told: [shellRespawned, next.shellRespawned], next: next.stdout }).toEqual({
          stdout: "out\n",
          told: shellRespawned ? [true, false] : [false, true],
          next: "[]\n",
        });
      },
    );

    test("a command may be a megabyte long, have the ends of lines of another system, and bytes that no text has", async () => {
      const { run } = await open();
      const long = "é".repeat(600_000);
      expect(await run(`printf %s "${long}" | wc -c`)).toMatchObject({ exitCode: 0, stdout: "1200000\n" });
      expect(await run("printf %s one\r\nprintf two")).toMatchObject({ exitCode: 0, stdout: "one\rtwo" });
      expect((await run("echo a; # \0 b\necho c")).exitCode).toBeLessThan(128);
      expect((await run("echo on")).stdout).toBe("on\n");
    });

    test("processes in the background hold nobody up, wherever they went and whatever they hold", async () => {
      const { run } = await open();
      const text = "sleep 1000 & setsid sleep 1000 & (setsid sh -c 'sleep 1000; :' &); nohup sleep 1000 & echo out";
      expect(await run(text)).toEqual(result({ stdout: "out\n" }));
      expect((await run("echo on")).stdout).toBe("on\n");
    });

    test.each(["forged", "stopped", "$_corral_id", "$_corral_id 0", "$_corral_id 0 $_corral_pass", "lost $_corral_id"])(
      "no printed bytes and no words to the daemon's own channel end a command, not %j",
      async (word) => {
        const { run, inside } = await open();
        await run("echo before");
        const forged = await run(`echo "${word}"; echo "${word}" >${inside.spool}/done; sleep 0.1; echo true; false`);
        expect(forged).toMatchObject({
          exitCode: 1,
          stdout: expect.stringMatching(/\ntrue\n$/),
          shellRespawned: false,
        });
      },
    );

    test("a short command that takes its own text away leaves the next ones theirs", async () => {
      const { run, inside } = await open();
      expect(await run(`rm ${inside.spool}/command; echo out`)).toMatchObject({ exitCode: 0, stdout: "out\n" });
      expect(await run("echo a longer one than before")).toMatchObject({ stdout: "a longer one than before\n" });
      expect(await run("echo short")).toMatchObject({ stdout: "short\n" });
    });

    test("bytes that are no text are replaced, the others kept", async () => {
      const { run } = await open();
      const { stdout, stdoutBytes } = await run(String.raw`printf 'a\377b\000c\303\251'`);
      expect({ stdout, stdoutBytes }).toEqual({ stdout: "a\uFFFDb\0cé", stdoutBytes: 7 });
    });

    test("long output keeps its beginning, its end and its size, and cuts no character", async () => {
      const { run } = await open();
      const long = await run("echo begin; yes é€ | head -c 5000000; echo; echo end");
      expect(long.stdoutBytes).toBe(5_000_011);
      expect(long.stdout.length).toBeLessThan(70_000);
      expect(long.stdout).toMatch(/^begin\né€\n[^]*\[… \d+ bytes left out …\][^]*\nend\n$/);
      expect(long.stdout).not.toContain("\uFFFD");
    });

    test("what a result leaves out can be read, for a while also when it was forgotten", async () => {
      const { environment, run } = await open();
      await run("seq 1 100000; printf tail >&2", "long");
      environment.shell.forget("long");
      const whole = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join("");
      const middle = await environment.shell.readWhole("long", "stdout", { from: 300_000, bytes: 1_000 });
      expect(middle).toEqual({ bytes: Buffer.from(whole.slice(300_000, 301_000)), size: whole.length });
      const { bytes } = await environment.shell.readWhole("long", "stderr");
      expect(bytes.toString()).toBe("tail");
      expect(await environment.shell.readWhole("other", "stdout")).toEqual({ bytes: Buffer.alloc(0), size: 0 });
    });

    test("a command that writes without end is ended, and the result names the limit", async () => {
      const { environment, driver, run } = await open({ outputBytes: 1_000_000 });
      const endless = await run("echo begin; yes");
      expect(endless).toMatchObject({ limit: "output", timedOut: false, shellRespawned: true });
      expect(endless.stdoutBytes).toBeGreaterThan(1_000_000);
      expect(endless.stdout).toMatch(/^begin\ny\n/);
      const gigabyte = await run("head -c 1000000000 /dev/zero | tr '\\0' x");
      expect(gigabyte).toMatchObject({
        limit: "output",
        timedOut: false,
        stdout: expect.stringMatching(/^x+\n\[… \d+ bytes left out …\]\nx+$/) as string,
      });
      const line = await run("head -c 900000 /dev/zero | tr '\\0' x");
      expect(line).toMatchObject({ exitCode: 0, stdoutBytes: 900_000 });
      environment.detach();
      const reopened = await driver.reopen(environment.state);
      if (reopened.kind !== "open") throw new Error("it did not live on");
      expect(await runner(reopened.environment)("yes >&2")).toMatchObject({ limit: "output" });
      reopened.environment.detach();
    });

    test("what goes on writing in the background is kept from filling the disk", async () => {
      const { environment, inside, run } = await open({ outputBytes: 1_000_000 });
      const text = "(while sleep 0.01; do head -c 100000 /dev/zero; done) & echo $!";
      const [pid] = (await run(text, "writer")).stdout.split("\n");
      environment.shell.forget("writer");
      const output = join(inside.spoolOutside, "writer.out");
      await expect.poll(() => statSync(output).size, { timeout: 20_000 }).toBeGreaterThan(1_000_000);
      // Truncated, it is a file with a hole at its beginning.
      await expect
        .poll(() => statSync(output).size - statSync(output).blocks * 512, { timeout: 20_000 })
        .toBeGreaterThan(500_000);
      await run(`kill ${pid}`);
    });

    test("a command whose shell does not take it up in time is given up, and the shell is replaced", async () => {
      const { environment, run } = await open();
      const pid = (await run("(sleep 0.2; kill -s STOP $$) & echo $$")).stdout.trim();
      const isStopped = `until grep -q 'State:.T' /proc/${pid}/status; do sleep 0.01; done`;
      await environment.openShell("beside").run(command(isStopped));
      const stuck = environment.shell.run({ ...command("echo never"), timeoutMs: 500 });
      expect(await stuck).toMatchObject({ timedOut: true, limit: "time", stdout: "", shellRespawned: true });
      expect((await run("echo on")).stdout).toBe("on\n");
    });

    test("live output comes while the command runs, in order, and complete", async () => {
      const { environment, workspace } = await open();
      const heard = { stdout: "", stderr: "" };
      const firstWord = Promise.withResolvers<void>();
      const running = environment.shell.run({
        ...command(
          "printf 'one \\303'; mkfifo go-on; chmod 666 go-on; read x <go-on; printf '\\251 two'; echo err >&2",
        ),
        onOutput: (stream, text) => {
          heard[stream] += text;
          if (heard.stdout.startsWith("one")) firstWord.resolve();
        },
      });
      await firstWord.promise;
      await tellFifo(join(workspace, "go-on"));
      expect(await running).toEqual(result({ stdout: "one é two", stderr: "err\n" }));
      expect(heard).toEqual({ stdout: "one é two", stderr: "err\n" });
    });

    test("commands run one at a time and in order", async () => {
      const { run } = await open();
      const all = ["sleep 0.05; echo a >>order", "echo b >>order", "cat order"].map((text) => run(text));
      expect((await Promise.all(all)).at(-1)?.stdout).toBe("a\nb\n");
    });

    test("a time limit ends a tree that left its session and ignores TERM; the shell goes on", async () => {
      const { environment, run } = await open();
      const stubborn = `setsid sh -c 'trap "" TERM; sleep ${nap}21; sleep ${nap}22' & setsid sleep ${nap}23 & echo out; wait`;
      const limited = await environment.shell.run({ ...command(stubborn), timeoutMs: 200 });
      expect(limited).toMatchObject({ stdout: "out\n", timedOut: true, limit: "time", shellRespawned: true });
      // The probe finds what is there; processes that end while it looks are none of its business.
      const probe = `grep -alE 'sleep.${nap}2[1-4]' /proc/[0-9]*/cmdline 2>/dev/null | wc -l`;
      expect((await run(probe)).stdout.trim()).toBe("0");
      expect(
        (await run(`sh -c 'sleep ${nap}24; :' & until [ $(${probe}) -gt 0 ]; do :; done; echo found`)).stdout,
      ).toBe("found\n");
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

    test("an id runs once, however often it is sent", async () => {
      const { environment, run } = await open();
      const once_ = { id: "same", text: "echo x >>count; sleep 0.05; cat count", timeoutMs: 60_000 };
      const both = await Promise.all([environment.shell.run(once_), environment.shell.run(once_)]);
      const later = await environment.shell.run(once_);
      expect([...both, later]).toEqual(Array.from({ length: 3 }, () => result({ stdout: "x\n" })));
      expect((await run("cat count")).stdout).toBe("x\n");
    });

    test("a command is absent, begun and done", async () => {
      const { environment, workspace } = await open();
      const { shell } = environment;
      expect(await shell.find("it")).toEqual({ kind: "absent" });
      const begun = Promise.withResolvers<void>();
      const text = "echo begun; mkfifo go-on; chmod 666 go-on; read x <go-on";
      const running = shell.run({ id: "it", text, timeoutMs: 60_000, onOutput: () => begun.resolve() });
      await begun.promise;
      expect(await shell.find("it")).toEqual({ kind: "begun" });
      await tellFifo(join(workspace, "go-on"));
      const done = await running;
      expect(await shell.find("it")).toEqual({ kind: "done", result: done });
    });

    test("a command in flight outlives a kill -9 of the process that opened the environment, and ran once", async () => {
      const { home, workspace, driver } = newPlace();
      const text = "echo begun; echo x >>count; mkfifo go-on; chmod 666 go-on; read x <go-on; cat count; exit 5";
      const plan = planOf({ id: newId("environment"), workspace, ...subject.plan });
      const state = await openRunAndDie(subject.module, { home, plan, text });
      const reopened = await driver.reopen(state);
      if (reopened.kind !== "open") throw new Error("it did not live on");
      cleanUps.push(() => reopened.environment.end());
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

    test("an environment that another version of Corral has opened is ended, and tells what ended before", async () => {
      const { environment, driver, run } = await open();
      const done = await run("echo over", "over");
      await run("echo more");
      environment.detach();
      const found = await driver.reopen({ ...environment.state, words: 1 });
      if (found.kind !== "gone") throw new Error("it lives on");
      expect(await found.results.find("over")).toEqual({ kind: "done", result: done });
      await expect.poll(() => isAlive(environment.state.supervisor), { timeout: 10_000 }).toBe(false);
    });

    test("a killed environment is gone: what ran is begun, what ended is done, the rest is absent", async () => {
      const { environment, driver, run } = await open();
      const done = await run("echo over", "over");
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
      expect(await build.run({ ...command("echo $where $PWD"), id: "same" })).toEqual(
        result({ stdout: "build /tmp\n" }),
      );
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
      expect((await run(`grep -al 'sleep.${nap}2[5]' /proc/[0-9]*/cmdline 2>/dev/null | wc -l`)).stdout.trim()).toBe(
        "0",
      );
      expect(await environment.openShell("build").run(command("echo [$kept]"))).toEqual(result({ stdout: "[]\n" }));
    });

    test("a limit in one shell ends its tree, and neither the command of another nor a program", async () => {
      const { environment, workspace } = await open();
      const build = environment.openShell("build");
      const cat = await environment.spawn({ argv: ["cat"] });
      const begun = Promise.withResolvers<void>();
      const text = "kept=value; echo begun; mkfifo go-on; chmod 666 go-on; read x <go-on; echo $kept";
      const beside = build.run({ ...command(text), onOutput: () => begun.resolve() });
      await begun.promise;
      const stubborn = `setsid sh -c 'trap "" TERM; sleep ${nap}26; sleep ${nap}27' & (setsid sleep ${nap}28 &) ; wait; sleep ${nap}29`;
      const limited = await environment.shell.run({ ...command(stubborn), timeoutMs: 300 });
      expect(limited).toMatchObject({ timedOut: true, limit: "time", shellRespawned: true });
      await tellFifo(join(workspace, "go-on"));
      expect(await beside).toEqual(result({ stdout: "begun\nvalue\n" }));
      const probe = `grep -alE 'sleep.${nap}2[6-9]' /proc/[0-9]*/cmdline 2>/dev/null | wc -l`;
      expect((await build.run(command(probe))).stdout.trim()).toBe("0");
      cat.stdin.end("still there");
      expect(await textOf(cat.stdout)).toBe("still there");
    });

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
      await expect
        .poll(async () => (await runner(reopened.environment)(probe)).stdout.trim(), { timeout: 20_000 })
        .toBe("0");
      reopened.environment.detach();
    }, 60_000);

    test("what a program waits for fails when the environment ends", async () => {
      const { environment } = await open();
      const cat = await environment.spawn({ argv: ["cat"] });
      await environment.kill();
      await expect(cat.ended).rejects.toMatchObject({ code: "environment.gone" });
      await expect(environment.spawn({ argv: ["cat"] })).rejects.toMatchObject({ code: "environment.gone" });
    });

    test("its end leaves no process, can be repeated, and takes what an agent hid in the spool", async () => {
      const { environment, inside, run } = await open();
      await run(`cd ${inside.spool}; mkdir -p deep/er; touch deep/er/file; chmod 000 deep; setsid sleep 1000 &`);
      const processes = processesIn(environment.state);
      expect({ processes: processes.length > 2, spool: existsSync(inside.spoolOutside) }).toEqual({
        processes: true,
        spool: true,
      });
      await environment.end();
      await environment.end();
      expect(isAlive(environment.state.supervisor)).toBe(false);
      expect(processes.filter(isAlive)).toEqual([]);
      expect(existsSync(inside.spoolOutside)).toBe(false);
    });

    test("many environments and 200 shells, opened and ended, leave no process, mount, cgroup, descriptor or file", async () => {
      const { home, workspace, driver } = newPlace();
      let environments = home;
      const openOne = async () => {
        const environment = await driver.open(planOf({ id: newId("environment"), workspace, ...subject.plan }));
        const beside = environment.openShell("beside");
        const cat = await environment.spawn({ argv: ["cat"] });
        const ran = [environment.shell, beside].map((shell) =>
          shell.run(command("sleep 1000 & setsid sleep 1000 & echo on")),
        );
        expect((await Promise.all(ran)).map(({ stdout }) => stdout)).toEqual(["on\n", "on\n"]);
        const { cgroups, supervisor } = environment.state;
        expect(cgroups.filter((folder) => existsSync(folder))).toEqual(cgroups);
        expect(descriptorsIn(home).named).toBeGreaterThan(0);
        const held = { processes: [supervisor, ...processesIn(environment.state)], cgroups };
        await environment.end();
        await cat.ended.catch(() => undefined);
        environments = dirname(dirname(subject.places(home, environment.state).spoolOutside));
        return held;
      };
      // Whatever is made once is made by the first.
      await openOne();
      const before = descriptorsIn(home);
      const opened: Awaited<ReturnType<typeof openOne>>[] = [];
      const rounds = subject.opening === "sparing" ? 10 : 50;
      for (let i = 0; i < rounds; i++) opened.push(...(await Promise.all([openOne(), openOne()])));
      const processes = opened.flatMap((each) => each.processes);
      expect(processes.length).toBeGreaterThan(rounds * 10);
      await expect.poll(() => descriptorsIn(home).named, { timeout: 20_000 }).toBe(before.named);
      // A pool of them comes and goes; one for each environment would be twice as many as rounds.
      expect(descriptorsIn(home).all).toBeLessThan(before.all + rounds);
      expect(mountsIn(home)).toEqual([]);
      expect(processes.filter(isAlive)).toEqual([]);
      expect(opened.flatMap(({ cgroups }) => cgroups).filter((folder) => existsSync(folder))).toEqual([]);
      const left = readdirSync(environments, { encoding: "utf8", recursive: true });
      expect(left.filter((name) => !/^\.(made-.*|stubs)$/.test(name))).toEqual([]);
    }, 180_000);

    test("what an agent links into the spool is not read outside", async () => {
      const { environment, inside, run } = await open();
      const { spool } = inside;
      await run(`ln -sf /etc/shadow ${spool}/linked.out; ln -sf /etc/shadow ${spool}/planted.rc`, "linked");
      expect(await environment.shell.find("linked")).toEqual({ kind: "done", result: result({}) });
      expect(await environment.shell.find("planted")).toEqual({ kind: "absent" });
    });
  });
}

interface Opened {
  readonly inside: Places;
  readonly home: string;
  readonly workspace: string;
  readonly driver: EnvironmentDriver;
  readonly environment: Environment;
  readonly run: (text: string, id?: string) => Promise<CommandResult>;
}

/** Nobody else on the machine sleeps for so long: where there are no walls, everybody is seen. */
const nap = String(randomInt(10_000_000, 99_999_999));

let commands = 0;

function command(text: string): { id: string; text: string; timeoutMs: number } {
  return { id: `cal_${commands++}`, text, timeoutMs: 60_000 };
}

function runner(environment: Environment): Opened["run"] {
  return (text, id) => environment.shell.run({ ...command(text), ...(id === undefined ? {} : { id }) });
}

function result(expected: Partial<CommandResult>): CommandResult {
  const { stdout = "", stderr = "" } = expected;
  return {
    exitCode: 0,
    stdout,
    stderr,
    stdoutBytes: Buffer.byteLength(stdout),
    stderrBytes: Buffer.byteLength(stderr),
    timedOut: false,
    shellRespawned: false,
    ...expected,
  };
}

function textOf(stream: Readable): Promise<string> {
  return stream.setEncoding("utf8").reduce((all: string, chunk: string) => all + chunk, "");
}

/** Lets a command go on that reads from a FIFO in its workspace. */
async function tellFifo(path: string): Promise<void> {
  const writer = spawn("/bin/sh", ["-c", 'until [ -p "$0" ]; do sleep 0.01; done; echo >"$0"', path]);
  await once(writer, "exit");
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
  const args = ["--input-type=module", "--eval", openRunAndDieScript, module, home, JSON.stringify(plan), text];
  const opener = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(opener, "exit");
  const [line] = (await once(createInterface(opener.stdout), "line")) as [string];
  opener.kill("SIGKILL");
  await exited;
  return JSON.parse(line) as EnvironmentState;
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
  const args = [
    "--input-type=module",
    "--eval",
    spawnAndDieScript,
    module,
    home,
    JSON.stringify(state),
    JSON.stringify(argv),
  ];
  const opener = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(opener, "exit");
  await once(createInterface(opener.stdout), "line");
  opener.kill("SIGKILL");
  await exited;
}

/** How many this process has, and how many of them have a name in the folder. */
function descriptorsIn(folder: string): { all: number; named: number } {
  const targets = readdirSync("/proc/self/fd").flatMap((fd) => linkAt(`/proc/self/fd/${fd}`) ?? []);
  return { all: targets.length, named: targets.filter((target) => target.startsWith(folder)).length };
}

/** Mounts of what is in the folder, in every namespace that can be looked into. */
function mountsIn(folder: string): string[] {
  const namespaces = new Map<string, string>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const namespace = linkAt(`/proc/${pid}/ns/mnt`);
    if (namespace !== undefined && !namespaces.has(namespace))
      namespaces.set(namespace, textAt(`/proc/${pid}/mountinfo`));
  }
  return [...namespaces.values()].flatMap((text) => text.split("\n").filter((line) => line.includes(folder)));
}

/** None, when it has gone meanwhile or is somebody else's. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** All that descends from the environment's first process, as the host sees it. */
function processesIn({ supervisor }: EnvironmentState): ProcessIdentity[] {
  const below = (pid: number): number[] => {
    const children = childrenOf(pid).split(" ").filter(Boolean).map(Number);
    return children.flatMap((child) => [child, ...below(child)]);
  };
  return below(supervisor.pid).flatMap((pid) => identify(pid) ?? []);
}

/** None, when it has ended meanwhile. */
function childrenOf(pid: number): string {
  return textAt(`/proc/${pid}/task/${pid}/children`);
}

function textAt(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
