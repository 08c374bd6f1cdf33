import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { callsTool, says } from "@corral/daemon/testing";
import type { EnvironmentState } from "@corral/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CommandLine, eventsUntil, isRunning, setStage, type Stage } from "./story.ts";

interface Line {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly limit: string | null;
}

async function jsonOf(stage: Stage, ...args: readonly string[]): Promise<{ line: Line; code: number | null }> {
  const run = stage.corral("shell", "--json", ...args);
  const code = await run.exit;
  const lines = run.stdout().split("\n");
  expect(lines.slice(1)).toEqual([""]);
  return { line: JSON.parse(lines[0] ?? "") as Line, code };
}

/** A command that ran out of time after its first words, for which half a second is not enough on a machine that has much else to do. */
async function outOfTime(stage: Stage, command: string, seconds = 0.5): ReturnType<typeof jsonOf> {
  const ended = await jsonOf(stage, "-c", command, "--timeout", String(seconds));
  return ended.line.stdout === "" && seconds < 30 ? outOfTime(stage, command, 4 * seconds) : ended;
}

/** Until the command of a shell has made this file in its folder. */
async function hasMade(stage: Stage, run: CommandLine, file: string): Promise<void> {
  const over = run.exit.then((code) => {
    throw new Error(`it ended with ${code} before it made ${file}:\n${run.stdout()}\n${run.stderr()}`);
  });
  over.catch(() => undefined);
  const isMade = async () => (await stage.client().shells.list()).some(({ path }) => existsSync(join(path, file)));
  while (!(await Promise.race([isMade(), over]))) await delay(20);
}

async function supervisors(stage: Stage): Promise<readonly number[]> {
  const { events } = await stage.client().events({ types: ["environment.opened"] });
  return events.map(({ data }) => (data as { state: EnvironmentState }).state.supervisor.pid);
}

describe("corral shell", () => {
  test("-c --json prints one line: exit code, both outputs, and which limit was hit", async () => {
    await using stage = await setStage();
    await stage.serve();
    expect(await jsonOf(stage, "-c", "echo out; echo err >&2; exit 3")).toEqual({
      line: { exitCode: 3, stdout: "out\n", stderr: "err\n", timedOut: false, limit: null },
      code: 3,
    });
    expect(await outOfTime(stage, "echo begun; sleep 1000")).toEqual({
      line: { exitCode: 143, stdout: "begun\n", stderr: "", timedOut: true, limit: "time" },
      code: 143,
    });
  });

  test("-c --json prints one line where there is no result, too, and says why", async () => {
    await using stage = await setStage();
    await stage.serve();
    const nothing = { exitCode: null, stdout: "", stderr: "", timedOut: false, limit: null };
    expect(await jsonOf(stage, "--in", "shl_none", "-c", "true")).toEqual({
      line: { ...nothing, error: { code: "not-found", title: "There is no shell shl_none" } },
      code: 1,
    });
    const run = stage.corral("shell", "--json", "-c", "touch begun; sleep 1000");
    await hasMade(stage, run, "begun");
    const [supervisor] = await supervisors(stage);
    process.kill(supervisor!, "SIGKILL");
    expect({ code: await run.exit, line: JSON.parse(run.stdout()) }).toEqual({
      code: 1,
      line: { ...nothing, error: { title: expect.stringContaining("ended in the middle of it") } },
    });
    const left = stage.corral("shell", "--json", "-c", "trap '' INT TERM; touch deaf; while :; do sleep 1; done");
    await hasMade(stage, left, "deaf");
    for (const signal of ["SIGINT", "SIGTERM"] as const) left.process.kill(signal);
    expect({ code: await left.exit, line: JSON.parse(left.stdout()) }).toEqual({
      code: 143,
      line: { ...nothing, error: { title: "it is ended with its shell" } },
    });
  });

  test("-c streams output as it comes, whole, and ends with the command's exit code", async () => {
    await using stage = await setStage();
    await stage.serve();
    const run = stage.corral("shell", "-c", "echo first; while [ ! -e go ]; do sleep 0.05; done; seq 100000; exit 7");
    await run.shows("first\n");
    const [shell] = await stage.client().shells.list();
    writeFileSync(join(shell?.path ?? "", "go"), "");
    expect(await run.exit).toBe(7);
    const numbers = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join("");
    expect(run.stdout()).toBe(`first\n${numbers}`);
    // Something was made in the copy, so it is not thrown away.
    expect(run.stderr()).toBe(`changes are kept in ${shell?.path}\n`);
    expect(existsSync(join(shell?.path ?? "", "go"))).toBe(true);
  });

  test("what a command writes passes a pipe byte by byte", async () => {
    await using stage = await setStage();
    await stage.serve();
    const every =
      'for i in 0 1 2 3; do for j in 0 1 2 3 4 5 6 7; do for k in 0 1 2 3 4 5 6 7; do printf "\\\\$i$j$k"; done; done; done';
    const run = stage.corral("shell", "-c", `${every}; ${every} >&2`);
    const [out, err] = [buffer(run.process.stdout!), buffer(run.process.stderr!)];
    expect(await run.exit).toBe(0);
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    expect([await out, await err]).toEqual([all, all]);
  });

  test("a copy does not touch the repository; in place, writes arrive", async () => {
    await using stage = await setStage();
    await stage.serve();
    const before = readFileSync(join(stage.repository, "README.md"), "utf8");
    expect(
      await stage.corral("shell", "-c", "cat README.md; echo changed >README.md; rm -rf .git").exit,
    ).not.toBeNull();
    expect(readFileSync(join(stage.repository, "README.md"), "utf8")).toBe(before);
    expect(existsSync(join(stage.repository, ".git/HEAD"))).toBe(true);

    if (process.getuid?.() === 0) chownSync(stage.repository, 65533, 65533);
    const written = stage.corral("shell", "--workspace", "in-place", "-c", "echo here >arrived");
    expect({ code: await written.exit, stderr: written.stderr() }).toEqual({ code: 0, stderr: "" });
    expect(readFileSync(join(stage.repository, "arrived"), "utf8")).toBe("here\n");
  });

  test("what git ignores goes with a copy in which nothing else was changed, and one line says so", async () => {
    await using stage = await setStage();
    await stage.serve();
    writeFileSync(join(stage.repository, ".gitignore"), "dist/\n*.log\n");
    execFileSync("git", ["-C", stage.repository, "add", ".gitignore"]);
    execFileSync("git", ["-C", stage.repository, "commit", "-q", "-m", "Ignore what is built"]);
    const built = stage.corral("shell", "-c", "mkdir dist; echo built >dist/out; touch 1.log 2.log é.log");
    expect({ code: await built.exit, stderr: built.stderr() }).toEqual({
      code: 0,
      stderr:
        "ignored files went with the copy: 1.log, 2.log, dist/ (and 1 more); --keep keeps a shell and its files\n",
    });
    const kept = stage.corral("shell", "--keep", "-c", `touch "$(printf 'a\\033[31m%0200d.log' 7)"`);
    expect(await kept.exit).toBe(0);
    const ended = stage.corral("shell", "--end", /shl_\w+/.exec(kept.stderr())?.[0] ?? "");
    expect({ code: await ended.exit, stderr: ended.stderr() }).toEqual({
      code: 0,
      stderr: `ignored files went with the copy: "a\\033[31m${"0".repeat(50)}…\n`,
    });
    expect(readdirSync(join(stage.home, "workspaces"))).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)("root's own folder is refused in place, with what to do", async () => {
    await using stage = await setStage();
    const refused = stage.corral("shell", "--workspace", "in-place", "-c", "true");
    expect({ code: await refused.exit, stderr: refused.stderr() }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/belongs to root[^]*hint: Work on a copy/),
    });
  });

  test("takes lines one by one: folder and variables stay, exit leaves", async () => {
    await using stage = await setStage();
    await stage.serve();
    const shell = stage.corral("shell");
    shell.process.stdin?.write("cd /tmp; x=5\n");
    shell.process.stdin?.write('echo "$x $PWD"\n');
    await shell.shows("5 /tmp\n");
    shell.process.stdin?.write("(exit 4)\nexit\n");
    expect(await shell.exit).toBe(4);
    const ended = stage.corral("shell");
    ended.process.stdin?.end("false\n");
    expect(await ended.exit).toBe(1);
    const stopped = stage.corral("shell");
    stopped.process.stdin?.end('cd /tmp\nx=1\nfalse || exit 7\necho "after $PWD [$x]"\n');
    expect({ code: await stopped.exit, stdout: stopped.stdout(), stderr: stopped.stderr() }).toEqual({
      code: 7,
      stdout: "",
      stderr: "[this line ended the shell, or found it ended: none after it is run]\n",
    });
    expect((await supervisors(stage)).filter(isRunning)).toEqual([]);
  });

  test("Ctrl-C ends the command, and the shell with it", async () => {
    await using stage = await setStage();
    await stage.serve();
    const run = stage.corral("shell", "-c", "echo begun; sleep 1000");
    await run.shows("begun");
    run.process.kill("SIGINT");
    expect(await run.exit).toBe(130);
    const ended = (await eventsUntil(stage.client(), "shell.closed")).find(
      ({ type }) => type === "shell.command-ended",
    );
    expect(ended?.data).toMatchObject({ exitCode: 143, interruptedBy: "person:owner" });
    expect((await supervisors(stage)).filter(isRunning)).toEqual([]);
  });

  test("whoever is told to end, or has lost its reader, ends the command and leaves no shell", async () => {
    await using stage = await setStage();
    await stage.serve();
    const ends = {
      term: (run: CommandLine) => run.process.kill("SIGTERM"),
      hup: (run: CommandLine) => run.process.kill("SIGHUP"),
      // It is noticed with the next word.
      reader: (run: CommandLine) => run.process.stdout?.destroy(),
    };
    for (const [how, code] of [
      ["term", 143],
      ["hup", 129],
      ["reader", 141],
    ] as const) {
      const run = stage.corral("shell", "-c", how === "reader" ? "echo begun; yes" : "echo begun; sleep 1000");
      await run.shows("begun");
      ends[how](run);
      expect({ how, code: await run.exit }).toEqual({ how, code });
      expect(await stage.client().shells.list()).toEqual([]);
    }
    const lines = stage.corral("shell");
    lines.process.stdin?.write("echo begun; sleep 1000\necho never\n");
    await lines.shows("begun");
    lines.process.kill("SIGINT");
    expect({ code: await lines.exit, stdout: lines.stdout() }).toEqual({ code: 130, stdout: "begun\n" });
    expect(await stage.client().shells.list()).toEqual([]);
    expect((await supervisors(stage)).filter(isRunning)).toEqual([]);
  });

  test("outside of a repository it is in an empty folder, unless a repository was asked for", async () => {
    await using stage = await setStage();
    await stage.serve();
    const folder = join(stage.home, "..", "plain");
    mkdirSync(folder);
    writeFileSync(join(folder, "private"), "x");
    const shell = stage.corralIn(folder, "shell", "-c", "find . ! -type d; pwd");
    expect(await shell.exit).toBe(0);
    expect(shell.stdout()).toBe("/workspace\n");
    expect(shell.stderr()).toMatch(/is no git repository, so the shell is in an empty folder/);
    const refused = stage.corralIn(folder, "shell", "--workspace", "copy", "-c", "true");
    expect(await refused.exit).toBe(1);
    expect(refused.stderr()).toMatch(/hint: .*git init/);
    expect(readdirSync(join(stage.home, "workspaces"))).toEqual([]);
  });

  test("a command outlives a kill -9 of the daemon, and its true result comes once, in the same shell", async () => {
    await using stage = await setStage();
    const first = await stage.serve();
    const text = "echo x >>count; echo begun; while [ ! -e go ]; do sleep 0.05; done; cat count; kept=value";
    const run = stage.corral("shell", "--keep", "-c", text);
    await run.shows("begun\n");
    const [before] = await stage.client().shells.list();
    await first.kill();
    writeFileSync(join(before?.path ?? "", "go"), "");
    await stage.serve();
    expect({ code: await run.exit, stdout: run.stdout() }).toEqual({ code: 0, stdout: "begun\nx\n" });

    const again = stage.corral("shell", "--in", before?.id ?? "", "-c", "echo $kept; cat count");
    expect({ code: await again.exit, stdout: again.stdout() }).toEqual({ code: 0, stdout: "value\nx\n" });
    const events = await stage.client().events({ types: ["shell.*"] });
    expect(events.events.map(({ type }) => type)).toEqual([
      "shell.opened",
      "shell.command-started",
      "shell.command-ended",
      "shell.command-started",
      "shell.command-ended",
    ]);
    const ended = stage.corral("shell", "--end", before?.id ?? "");
    expect(await ended.exit).toBe(0);
    expect(ended.stdout()).toContain("its files are kept in");
    expect((await supervisors(stage)).filter(isRunning)).toEqual([]);
  });

  test("corral stop leaves no process of a shell at rest, and a later daemon goes on with its files", async () => {
    await using stage = await setStage();
    await stage.serve();
    const first = stage.corral("shell", "--keep", "-c", "echo here >file; sleep 1000 & echo left");
    expect(await first.exit).toBe(0);
    const id = /shl_\w+/.exec(first.stderr())?.[0] ?? "";
    const pids = await supervisors(stage);
    expect(pids.filter(isRunning)).toHaveLength(1);
    expect(await stage.corral("stop").exit).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    const later = stage.corral("shell", "--in", id, "-c", "cat file");
    expect({ code: await later.exit, stdout: later.stdout() }).toEqual({ code: 0, stdout: "here\n" });
  });

  test("without walls it says UNSAFE, keeps secrets out of the variables, and leaves no process", async () => {
    await using stage = await setStage();
    await stage.serve();
    const shell = stage.corral(
      "shell",
      "--env",
      "local",
      "-c",
      "pwd; env | grep -c sk-story; setsid sleep 1000 & echo $!",
    );
    expect(await shell.exit).toBe(0);
    const [path, secrets, pid] = shell.stdout().trim().split("\n");
    expect({ path, secrets, running: isRunning(Number(pid)) }).toEqual({
      path: expect.stringContaining(join(stage.home, "workspaces", "shl_")),
      secrets: "0",
      running: false,
    });
    expect(shell.stderr()).toMatch(/^UNSAFE: there are no walls/);
    const refused = stage.corral("shell", "--env", "local", "--network", "off", "-c", "true");
    expect(await refused.exit).toBe(1);
    expect(refused.stderr()).toMatch(/cannot keep programs from the network[^]*hint: Ask for a jail/);
  });

  test("a git that lies in a repository is not run, though it comes first in PATH", async () => {
    const folder = mkdtempSync(join(tmpdir(), "corral-planted-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, ".git"));
    writeFileSync(join(folder, "git"), `#!/bin/sh\n: >"${folder}/ran"\nexec /usr/bin/git "$@"\n`, { mode: 0o755 });
    await using stage = await setStage({ variables: { PATH: `${folder}:${process.env["PATH"]}` } });
    expect(await stage.corral("shell", "-c", "true").exit).toBe(0);
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });

  test("wrong words are told before anything is made", async () => {
    await using stage = await setStage();
    for (const [args, complaint] of [
      [["--env", "vm"], 'error: --env needs jail, container or local, not "vm"'],
      [["--timeout", "soon", "-c", "true"], 'error: --timeout needs seconds, at most a day, not "soon"'],
      [["--json"], '"title":"--json needs -c COMMAND"'],
      [["-c"], "error: -c needs a value"],
      [
        ["--in", "shl_1", "--access", "read", "-c", "rm -r ."],
        "error: --access does not go with --in; a shell stays as it was opened",
      ],
      [["--end", "shl_1", "-c", "true"], "error: --command does not go with --end"],
    ] as const) {
      const run = stage.corral("shell", ...args);
      expect({ code: await run.exit, stderr: run.stderr() }).toEqual({
        code: 2,
        stderr: expect.stringContaining(complaint),
      });
    }
    expect(existsSync(join(stage.home, "daemon.json"))).toBe(false);
  });
});

describe("a session without walls", () => {
  test("says UNSAFE wherever it is shown, works on its copy, and leaves no process", async () => {
    await using stage = await setStage();
    await stage.serve();
    stage.model.script([
      callsTool("shell", { command: "pwd; echo x >file; env | grep -c sk-story; setsid sleep 1000 & echo $!" }),
      says("done"),
    ]);
    const run = stage.corral("run", "--env", "local", "look around");
    // Nothing but the operator stands between it and the machine.
    expect(await run.exit).toBe(3);
    expect(run.stderr()).toMatch(/^UNSAFE: there are no walls/);
    const client = stage.client();
    const [question] = await client.questions.list();
    await client.questions.answer(question!.id, { choice: "once" });
    await eventsUntil(client, "activity.settled");
    const [session] = await client.sessions.list();
    expect(session?.environment).toEqual({ kind: "local", network: "open", access: "write" });
    const { events } = await client.events({ types: ["call.settled", "environment.opened"] });
    const [opened, settled] = events.map(({ data }) => data as Record<string, unknown>);
    expect(opened?.["state"]).toMatchObject({ kind: "local" });
    const { stdout } = (settled ?? {})["result"] as { stdout: string };
    const [path, secrets, pid] = stdout.split("\n");
    expect({ path, secrets, running: isRunning(Number(pid)) }).toEqual({
      path: join(stage.home, "workspaces", session?.id ?? ""),
      secrets: "0",
      running: true,
    });
    expect(existsSync(join(stage.repository, "file"))).toBe(false);
    const list = stage.corral("sessions");
    await list.exit;
    expect(list.stdout()).toContain("UNSAFE");
    expect(await stage.corral("stop").exit).toBe(0);
    expect(isRunning(Number(pid))).toBe(false);
  });
});

describe("a shell from a program", () => {
  const example = join(import.meta.dirname, "..", "examples", "shell.ts");

  test("the example runs as it is, and the same session is the same shell in another process", async () => {
    await using stage = await setStage();
    const run = (...args: readonly string[]) =>
      execFileSync(process.execPath, [example, ...args], { env: { ...process.env, ...stage.variables } }).toString();
    const rest = "stdout: checking\nstderr: oops\n{ exitCode: 3, timedOut: false }\n";
    expect(run("--keep")).toBe(`run 1 in /tmp as agent\n${rest}`);
    expect(run("--keep")).toBe(`run 2 in /tmp as agent\n${rest}`);
    expect(run()).toBe(`run 3 in /tmp as agent\n${rest}`);
    expect(run()).toBe(`run 1 in /tmp as agent\n${rest}`);
    expect(readdirSync(join(stage.home, "shells", "environments")).filter((name) => name.startsWith("env_"))).toEqual(
      [],
    );
  });

  test("processes that open the same session at once get the same shell", async () => {
    await using stage = await setStage();
    const shell = join(import.meta.dirname, "..", "dist", "shell.js");
    const script = `
      const { openShell } = await import(${JSON.stringify(shell)});
      const shell = await openShell({ session: "shared" });
      console.log((await shell.run("echo $$")).stdout.trim());
      shell.detach();`;
    const started = Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
        env: { ...process.env, ...stage.variables },
        stdio: ["ignore", "pipe", "inherit"],
      });
      let said = "";
      child.stdout.on("data", (piece) => (said += String(piece)));
      await once(child, "close");
      return said;
    });
    const said = await Promise.all(started);
    expect(new Set(said).size).toBe(1);
    const closing = `
      const { openShell } = await import(${JSON.stringify(shell)});
      await (await openShell({ session: "shared" })).close();`;
    execFileSync(process.execPath, ["--input-type=module", "--eval", closing], {
      env: { ...process.env, ...stage.variables },
    });
    expect(readdirSync(join(stage.home, "shells", "environments")).filter((name) => name.startsWith("env_"))).toEqual(
      [],
    );
  });
});
