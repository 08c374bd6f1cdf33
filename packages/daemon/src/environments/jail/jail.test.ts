import { type CommandResult, newId, type ProcessIdentity } from "@corral/protocol";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir, uptime } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test } from "vitest";
import { envOfSystem } from "../keeper/index.ts";
import type { Environment, EnvironmentDriver, EnvironmentPlan, Sweep } from "../port.ts";
import { planOf } from "../plan.ts";
import { findMeans, removeCgroups } from "../limits/index.ts";
import { bootId, commandOf, endProcess, isAlive, leftInSession } from "../process-identity.ts";
import { removeFolder } from "../remove-folder.ts";
import { openJailDriver } from "./jail.ts";
import { jailOwner } from "../walled/index.ts";
import { sweepJails } from "./sweep.ts";

const isRoot = process.getuid?.() === 0;
const ordinary = { uid: 1234, gid: 1234 };
const cleanUps: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

test("nothing that a stopped command would do next is done, in whatever order its processes are reached", async () => {
  const { environment, run, workspace } = await openJail();
  // Something beside it, so that its processes are named one by one: in the order of their numbers' letters, so that 100 comes before 99.
  await environment.openShell("beside").run({ id: "beside", text: "true", timeoutMs: 60_000 });
  await run("while sh -c 'test $$ -lt 85'; do :; done; mkfifo gate");
  const parents = "for i in 1 2 3 4 5 6; do sh -c 'read x <&7; sleep 1000; : >survived' & done";
  const burn = "while sh -c 'test $$ -lt 99'; do :; done; for i in 1 2 3 4 5 6; do echo >&7; done";
  const crowd =
    "for i in $(seq 150); do sleep 1000 & done; until [ $(pgrep -c sleep) -gt 155 ]; do :; done; echo there; wait";
  const leaving = new AbortController();
  // Held open, the gate is there for each of them, whoever comes when.
  const text = `{ ${[parents, burn, crowd].join("; ")}; } 7<>gate`;
  const running = { id: "crowd", text, timeoutMs: 60_000, signal: leaving.signal, onOutput: () => leaving.abort() };
  expect(await environment.shell.run(running)).toMatchObject({ stdout: "there\n", exitCode: 143 });
  expect(existsSync(join(workspace, "survived"))).toBe(false);
});

describe("the jail's walls", () => {
  test("the user's home, Corral's own state and the folders of others are not there", async () => {
    const { home, run } = await openJail();
    const secret = join(home, "token");
    writeFileSync(secret, "secret");
    const probe = `ls ${homedir()}; cat ${secret}; ls ${home}; ls /root /var/lib; cat /etc/shadow`;
    expect(
      execFileSync("/bin/sh", ["-c", `ls ${homedir()} && cat ${secret} && ls ${home}`], { encoding: "utf8" }),
    ).toContain("secret");
    expect(await run(probe)).toMatchObject({ stdout: "", exitCode: 1 });
  });

  test("ten that are opened at once all stand, whoever builds them", async () => {
    const opened = await Promise.all(Array.from({ length: 10 }, () => openJail()));
    const said = await Promise.all(opened.map(({ run }, index) => run(`echo ${index} >mine; cat mine`)));
    expect(said.map(({ stdout }) => stdout)).toEqual(opened.map((_, index) => `${index}\n`));
  });

  test("nothing can be written but the workspace, the home and /tmp", async () => {
    const { run, workspace } = await openJail();
    const places = [
      "/",
      "/etc",
      "/usr",
      "/usr/bin",
      "/dev",
      "/run",
      "/etc/corral",
      "/var",
      "/home",
      "/proc",
      "/proc/sys/kernel",
      "/sys",
    ];
    const tries = places.map((place) => `(echo x >${place}/planted) 2>/dev/null && echo ${place}`).join("\n");
    expect((await run(tries)).stdout).toBe("");
    expect(
      await run(
        "echo x >~/planted && echo x >/tmp/planted && echo x >/dev/shm/planted && echo mine >/workspace/planted",
      ),
    ).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(workspace, "planted"), "utf8")).toBe("mine\n");
  });

  test("the daemon's variables are in no process's environment", async () => {
    process.env["CORRAL_TEST_SECRET"] = "hunter2";
    cleanUps.push(() => void delete process.env["CORRAL_TEST_SECRET"]);
    const { run } = await openJail({ variables: { GIVEN: "yes" } });
    expect(execFileSync("/usr/bin/env", { encoding: "utf8" })).toContain("hunter2");
    const seen = (await run("env; cat /proc/*/environ | tr '\\0' '\\n'")).stdout;
    expect(seen).not.toContain("hunter2");
    const names = seen
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    // A shell of the keeper's that is about to become the worker has an OLDPWD for a moment.
    const given = new Set(["GIVEN", "HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "USER"]);
    expect(new Set(names.filter((name) => name !== "OLDPWD"))).toEqual(given);
  });

  test("no variable brings an option for bubblewrap along", async () => {
    const { home, workspace } = newPlace();
    const variables = { GIVEN: "yes\0--ro-bind\0/\0/home/agent" };
    await expect(openJail({ variables }, { home, workspace })).rejects.toMatchObject({ code: "request.invalid" });
    expect(readdirSync(join(home, "environments")).filter((name) => name.startsWith("env_"))).toEqual([]);
    const spelt = { GIVEN: variables.GIVEN.replaceAll("\0", " ") };
    const { run } = await openJail({ variables: spelt }, { home, workspace });
    expect((await run('echo "$GIVEN"; ls /home/agent')).stdout).toBe(`${spelt.GIVEN}\n`);
  });

  test("a server on the machine's loopback cannot be reached, nor anything else", async () => {
    const { run } = await openJail();
    const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
    cleanUps.push(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const probe = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    const outside = spawn("/bin/bash", ["-c", probe]);
    expect(String((await once(outside.stdout, "data"))[0])).toBe("reached");
    expect(await run(`bash -c '${probe}'`)).toMatchObject({ stdout: "", exitCode: 1 });
    expect((await run("ls /sys/class/net; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).stdout).toBe("lo\n");
  });

  test("only its own processes are seen, none is root, and none has a privilege", async () => {
    const { run } = await openJail();
    const pids = (await run("echo /proc/[0-9]*")).stdout.trim().split(" ");
    expect(readdirSync("/proc").filter((name) => /^\d+$/.test(name)).length).toBeGreaterThan(pids.length);
    expect(pids.length).toBeLessThan(8);
    const status = (await run("cat /proc/[0-9]*/status")).stdout;
    expect(new Set(status.match(/^Uid:.*$/gm))).toEqual(new Set([`Uid:${`\t${isRoot ? 65533 : 1000}`.repeat(4)}`]));
    expect(
      new Set(status.match(/^Cap(?:Prm|Eff|Bnd|Amb|Inh):\s*(\w+)$/gm)?.map((line) => line.split("\t")[1])),
    ).toEqual(new Set(["0000000000000000"]));
    expect(new Set(status.match(/^NoNewPrivs:.*$/gm))).toEqual(new Set(["NoNewPrivs:\t1"]));
  });

  test("no descriptor and no path of the host is handed on", async () => {
    const { run, home } = await openJail();
    const open = (await run("ls -l /proc/[0-9]*/fd | grep -o -e '[0-9]* -> .*' | sort -u")).stdout;
    // Programs load libraries and locales, and the keeper looks after its watch and the time, whenever they do.
    const known =
      /^\d+ -> (\/dev\/null|\/(etc|run)\/corral\/[\w.]+|\/proc\/(uptime|\d+\/(fd|stat|oom_score_adj))|\/etc\/ld\.so\.cache|\/usr\/lib\/.*|pipe:\[\d+\])$/;
    expect(
      open
        .trim()
        .split("\n")
        .filter((line) => !known.test(line)),
    ).toEqual([]);
    expect((await run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).stdout).not.toContain(home);
  });

  test("descriptors that this process was started with do not reach the jail", async () => {
    const { home, workspace } = newPlace();
    const secret = join(home, "open-secret");
    writeFileSync(secret, "secret");
    const script = `exec 9<"${secret}"; for fd in 23 77; do eval "exec $fd<\\"${secret}\\""; done; exec "$0" "$@"`;
    const { result } = await openElsewhere(["/bin/bash", "-c", script], { home, workspace, text: "ls -l /proc/*/fd" });
    expect(result.stdout).toContain("/run/corral");
    expect(result.stdout).not.toContain("open-secret");
    const outside = execFileSync("/bin/bash", ["-c", script, "/bin/ls", "-l", "/proc/self/fd"], { encoding: "utf8" });
    expect(outside.match(/\b(9|23|77) -> .*open-secret$/gm)).toHaveLength(3);
  });

  test.skipIf(envOfSystem() === undefined)(
    "what runs in it heeds the keys of a terminal (needs coreutils)",
    async () => {
      const { run, environment } = await openJail({ network: "open" });
      expect(await run("sh -c 'kill -s INT $$'; echo $?; sh -c 'kill -s QUIT $$'")).toMatchObject({
        stdout: "130\n",
        exitCode: 131,
      });
      // One that no tmux holds.
      const terminal = await environment.openTerminal("keys", { columns: 80, rows: 24 });
      expect(terminal.lasting).toBe(false);
      let text = "";
      terminal.watch((bytes) => (text += bytes.toString()));
      terminal.write(Buffer.from("echo be''gun; sleep 1000\r"));
      await expect.poll(() => text).toContain("begun");
      await expect.poll(async () => (await run("cat /proc/[0-9]*/cmdline")).stdout).toContain("sleep\u00001000");
      terminal.write(Buffer.from("\x03echo af''ter\r"));
      await expect.poll(() => text).toContain("after");
      await terminal.close();
    },
  );

  test("readable paths can be read at their place and not written", async () => {
    const { home, workspace } = newPlace();
    const shared = join(mkdtempSync(join(tmpdir(), "corral-shared-")), "deep", "objects");
    cleanUps.push(() => rmSync(join(shared, "../.."), { recursive: true }));
    mkdirSync(shared, { recursive: true });
    writeFileSync(join(shared, "object"), "content");
    const { run } = await openJail({ readable: [shared] }, { home, workspace });
    expect(await run(`cat ${shared}/object; echo x >${shared}/object`)).toMatchObject({
      stdout: "content",
      exitCode: 2,
    });
  });

  test("a readable path that would show Corral's state is refused", async () => {
    const { home, workspace } = newPlace();
    await expect(openJail({ readable: [home] }, { home, workspace })).rejects.toMatchObject({ code: "internal" });
    await expect(openJail({ readable: ["/"] }, { home, workspace })).rejects.toMatchObject({ code: "internal" });
  });

  test("a readable path that the jail's own places would hide is refused", async () => {
    for (const path of ["/workspace", "/workspace/.git/objects", "/run/corral/x"]) {
      await expect(openJail({ readable: [path] })).rejects.toMatchObject({
        code: "internal",
        message: expect.stringContaining(`cannot read ${path}: its own`) as string,
      });
    }
  });

  test("git's hooks and config cannot be changed, moved away or replaced, the rest of .git can", async () => {
    const { home, workspace } = newPlace();
    mkdirSync(join(workspace, ".git/hooks"), { recursive: true });
    writeFileSync(join(workspace, ".git/config"), "[core]\n");
    giveToJail(join(workspace, ".git"), join(workspace, ".git/hooks"), join(workspace, ".git/config"));
    const { run } = await openJail({}, { home, workspace });
    const tries = [
      "echo x >.git/hooks/pre-commit",
      "echo x >>.git/config",
      "mv .git away",
      "rm -rf .git/hooks .git/config",
      "mv .git/hooks away",
    ];
    const succeeded: string[] = [];
    for (const text of tries) if ((await run(text)).exitCode === 0) succeeded.push(text);
    expect(succeeded).toEqual([]);
    expect(await run("echo x >.git/HEAD")).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(workspace, ".git/config"), "utf8")).toBe("[core]\n");
    expect(readdirSync(join(workspace, ".git/hooks"))).toEqual([]);
  });

  test("a .git that is a link is refused: it could be replaced by anything", async () => {
    const { home, workspace } = newPlace();
    mkdirSync(join(home, "private/hooks"), { recursive: true });
    writeFileSync(join(home, "private/config"), "secret");
    symlinkSync(join(home, "private"), join(workspace, ".git"));
    await expect(openJail({}, { home, workspace })).rejects.toMatchObject({
      code: "jail.unavailable",
      message: expect.stringContaining(".git in the workspace is neither") as string,
    });
    expect(readdirSync(workspace)).toEqual([".git"]);
  });
});

describe("a jail left alone", () => {
  test("ends itself after its grace, also when somebody in it pretends to be its daemon", async () => {
    const { environment, run } = await openJail({}, newPlace(), { graceSeconds: 2 });
    const { stdout } = await run("sleep 1000 >/run/corral/here & echo $!; exec 9<>/run/corral/here");
    environment.detach();
    expect(Number(stdout)).toBeGreaterThan(1);
    await expect.poll(() => isAlive(environment.state.supervisor)).toBe(false);
  }, 90_000);

  test("goes on past its grace while its daemon is there, and ends who pretends to be it", async () => {
    const { run } = await openJail({}, newPlace(), { graceSeconds: 1 });
    await run("sleep 1000 >/run/corral/here & pretender=$!; sleep 1000 & other=$!");
    const isOver = async () => (await run("kill -0 $pretender 2>/dev/null; echo $?; kill -0 $other; echo $?")).stdout;
    await expect.poll(isOver).toBe("1\n0\n");
  }, 90_000);

  test.each(["ended", "stopped"])(
    "ends itself after its grace when it is idle, also when a command %s its watch",
    async (how) => {
      const { environment, run } = await openJail({}, newPlace(), { graceSeconds: 3 });
      await run(how === "ended" ? "kill -9 -1" : "kill -STOP -1");
      environment.detach();
      await expect.poll(() => isAlive(environment.state.supervisor)).toBe(false);
    },
  );

  test("ends itself when whoever opened it was killed", async () => {
    const { home, workspace } = newPlace();
    const { state } = await openElsewhere([], { home, workspace, text: "true", graceSeconds: 3 });
    await expect.poll(() => isAlive(state.supervisor)).toBe(false);
  });

  test.each([
    ["within", 60],
    ["beyond", 1],
  ])("holds its command to a time limit %s its grace and writes the result down", async (_, graceSeconds) => {
    const place = newPlace();
    const { environment, driver } = await openJail({}, place, { graceSeconds });
    const ticked = Promise.withResolvers<void>();
    const text = "echo out; sleep 1000";
    const running = environment.shell.run({ id: "long", text, timeoutMs: 60_000, onOutput: () => ticked.resolve() });
    await ticked.promise;
    const spool = join(place.home, "environments", environment.state.id, "spool");
    const [limit, since] = readFileSync(join(spool, "long.limit"), "utf8").split("\n").map(Number);
    expect({ limit, isNow: Math.abs(uptime() - since!) < 50 }).toEqual({ limit: 60, isNow: true });
    // Sooner over for the jail than for who runs it, who would end it, too.
    writeFileSync(join(spool, "long.limit"), `60\n${Math.ceil(uptime()) - 58}\n`);
    environment.detach();
    await expect(running).rejects.toMatchObject({ code: "environment.gone" });
    await expect.poll(() => readFileSync(join(spool, "long.rc"), "utf8")).toMatch(/\n$/);
    const reopened = await driver.reopen(environment.state);
    // Idle since, one with a short grace may have ended itself.
    const results = reopened.kind === "open" ? reopened.environment.shell : reopened.results;
    const expected = expect.objectContaining({
      stdout: "out\n",
      timedOut: true,
      limit: "time",
      shellRespawned: true,
    }) as unknown;
    expect(await results.find("long")).toEqual({ kind: "done", result: expected });
    if (reopened.kind === "open") reopened.environment.detach();
  });

  test("has whoever joins its command hold it to the time that it has left, and not to as much again", async () => {
    const { environment, other, hasHadItsTime } = await twoHolders();
    const [first, second] = [environment, other].map(({ shell }) => (then?: () => void) => {
      const begun = then === undefined ? {} : { onOutput: then };
      return shell.run({ id: "long", text: "echo begun; sleep 1000", timeoutMs: 60_000, ...begun });
    });
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const running = first!(resolve);
    await begun;
    hasHadItsTime("long");
    const ended = { stdout: "begun\n", timedOut: true, limit: "time" };
    expect(await Promise.all([running, second!()])).toMatchObject([ended, ended]);
  });

  test("ends a command that has had its time for one that waits behind it, whoever sent it", async () => {
    const { environment, other, hasHadItsTime } = await twoHolders();
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const text = "echo begun; sleep 1000";
    const running = environment.shell.run({ id: "long", text, timeoutMs: 60_000, onOutput: () => resolve() });
    await begun;
    hasHadItsTime("long");
    const waiting = other.shell.run({ id: "late", text: "true", timeoutMs: 300 });
    expect(await Promise.all([running, waiting])).toMatchObject([
      { stdout: "begun\n", timedOut: true },
      { timedOut: true, shellRespawned: true },
    ]);
  });

  test("stays when somebody comes back in time", async () => {
    const { home, environment, driver } = await openJail();
    const { id, supervisor } = environment.state;
    const control = join(home, "environments", id, "spool/control");
    const watchSays = async (what: RegExp) => {
      await expect.poll(() => readFileSync(control, "utf8")).toMatch(what);
    };
    await watchSays(/^back 1\n$/);
    environment.detach();
    await watchSays(/left 1\n$/);
    const reopened = await driver.reopen(environment.state);
    if (reopened.kind !== "open") throw new Error("it did not live on");
    await watchSays(/back 1\n$/);
    // As its timer does when the grace is over.
    appendFileSync(control, "over 1\n");
    process.kill(supervisor.pid, "SIGUSR1");
    // The second is started when the keeper has done all that it had to do at the end of the first.
    for (let times = 0; times < 2; times++) {
      const program = await reopened.environment.spawn({ argv: ["true"] });
      expect(await program.ended).toEqual({ exitCode: 0 });
    }
    reopened.environment.detach();
  });
});

describe("the jail driver", () => {
  test("says that jails can be opened here, and leaves nothing behind by finding out", async () => {
    const { home } = newPlace();
    expect(await openJailDriver({ home }).probe()).toMatchObject({ ok: true });
    expect(readdirSync(join(home, "environments")).filter((name) => !/^\.(made-|stubs$)/.test(name))).toEqual([]);
  });

  test("gives the disk back what a forgotten command had written, and after very many its files too", async () => {
    const { home, environment } = await openJail();
    const { shell, state } = environment;
    const output = join(home, "environments", state.id, "spool", "big.out");
    await shell.run({ id: "big", text: "head -c 40000000 /dev/zero", timeoutMs: 60_000 });
    expect(statSync(output).size).toBe(40_000_000);
    shell.forget("big");
    await expect.poll(() => statSync(output).size).toBe(0);
    for (let i = 0; i < 2_000; i++) shell.forget("big");
    await expect.poll(() => existsSync(output)).toBe(false);
  });

  test("a killed environment ends all that runs in it and keeps what it wrote down", async () => {
    const { environment, driver } = await openJail();
    const { shell, state } = environment;
    const done = await shell.run({ id: "done", text: "sleep 1000 & echo done", timeoutMs: 60_000 });
    await environment.kill();
    expect(isAlive(state.supervisor)).toBe(false);
    const found = await driver.reopen(state);
    if (found.kind !== "gone") throw new Error("it is still there");
    expect(await found.results.find("done")).toEqual({ kind: "done", result: done });
  });

  test("sweeps away what is left of environments not on record", async () => {
    const { home } = newPlace();
    const [left, kept] = [newId("environment"), newId("environment")];
    for (const name of [left, kept, `.probe-${left}`, ".making-abc", ".removed-abc", ".made-abc"]) {
      mkdirSync(join(home, "environments", name, "spool"), { recursive: true });
      utimesSync(join(home, "environments", name), 0, 0);
    }
    expect(await sweep(openJailDriver({ home }), { onRecord: new Set([kept]) })).toEqual([]);
    expect(readdirSync(join(home, "environments")).toSorted()).toEqual([".made-abc", kept].toSorted());
  });

  test("has a builder wait, and nothing on file, once it is warm", () => {
    const { home } = newPlace();
    openJailDriver({ home }).warmUp?.();
    const children = readdirSync("/proc/self/task").flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, "latin1").split(" ").filter(Boolean),
    );
    const commands = children.map((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1"));
    expect(commands.filter((each) => each.includes("read -r orders"))).toHaveLength(1);
    expect(existsSync(join(home, "environments"))).toBe(false);
  });

  test("a jail not on record is ended by a sweep when its opener is dead, and left alone while it lives", async () => {
    const { home, environment, driver, run } = await openJail();
    const { state } = await openElsewhere([], { home, workspace: newPlace().workspace, text: "setsid sleep 1000 &" });
    expect(isAlive(state.supervisor)).toBe(true);
    expect(state.cgroups.filter((folder) => existsSync(folder))).toEqual(state.cgroups);
    expect(await sweep(driver)).toEqual([]);
    expect(isAlive(state.supervisor)).toBe(false);
    expect(state.cgroups.filter((folder) => existsSync(folder))).toEqual([]);
    expect(readdirSync(join(home, "environments")).filter((name) => !/^\.(made-|stubs$)/.test(name))).toEqual([
      environment.state.id,
    ]);
    expect((await run("echo on")).stdout).toBe("on\n");
  });

  test("a sweep does not touch a jail on record, nor one whose folder was only just made", async () => {
    const { home, workspace } = newPlace();
    const { state } = await openElsewhere([], { home, workspace, text: "true" });
    const made = newId("environment");
    mkdirSync(join(home, "environments", made));
    expect(await sweep(openJailDriver({ home }), { onRecord: new Set([state.id]) })).toEqual([]);
    expect(isAlive(state.supervisor)).toBe(true);
    expect(existsSync(join(home, "environments", made))).toBe(true);
  });

  test("an aborted sweep removes no more, and leaves nothing running", async () => {
    const { home, workspace } = newPlace();
    const { state } = await openElsewhere([], { home, workspace, text: "true" });
    expect(await sweep(openJailDriver({ home }), { signal: AbortSignal.abort() })).toEqual([]);
    expect(isAlive(state.supervisor)).toBe(false);
    expect(existsSync(join(home, "environments", state.id))).toBe(true);
  });

  test("what a sweep cannot remove it reports, and it removes the others", async () => {
    const { home } = newPlace();
    const environments = join(home, "environments");
    for (const name of ["a", "b", "c"]) mkdirSync(join(environments, `.removed-${name}`), { recursive: true });
    const failed: string[] = [];
    const remove = (folder: string) =>
      folder.endsWith("b") ? Promise.reject(new Error("busy")) : removeFolder(folder);
    const onFailure = (name: string, error: unknown) => failed.push(`${name}: ${String(error)}`);
    await sweepJails(environments, { onRecord: new Set(), onFailure }, remove);
    expect(failed).toEqual([".removed-b: Error: busy"]);
    expect(readdirSync(environments)).toEqual([".removed-b"]);
  });

  test("a jail whose opener is killed before the jail is on file never begins", async () => {
    const { home, workspace } = newPlace();
    const supervisor = JSON.parse(
      await firstLine([], dieBeforeRecordScript, { home, workspace }, undefined),
    ) as ProcessIdentity;
    await expect.poll(() => isAlive(supervisor)).toBe(false);
    expect(existsSync(join(home, "environments/env_elsewhere/spool/control"))).toBe(false);
    expect(await sweep(openJailDriver({ home }))).toEqual([]);
    expect(existsSync(join(home, "environments/env_elsewhere"))).toBe(false);
  });

  const hasCgroups = findMeans(tmpdir()).places.length > 0;
  test.skipIf(!hasCgroups)(
    "a jail whose opener is killed before it knows the first process leaves none after a sweep (needs cgroups)",
    async () => {
      const { home, workspace } = newPlace();
      const cgroups = JSON.parse(
        await firstLine([], dieWhileBuiltScript, { home, workspace }, undefined),
      ) as readonly string[];
      const living = () => cgroups.filter((each) => existsSync(each));
      expect(living()).toEqual(cgroups);
      expect(await sweep(openJailDriver({ home }))).toEqual([]);
      expect({ living: living(), folder: existsSync(join(home, "environments/env_elsewhere")) }).toEqual({
        living: [],
        folder: false,
      });
    },
  );

  test("refuses with the fix when bubblewrap is missing", async () => {
    const { home, workspace } = newPlace();
    const driver = openJailDriver({ home, bubblewrap: "/nonexistent/bwrap" });
    expect(await driver.probe()).toMatchObject({
      ok: false,
      fix: expect.stringContaining("apt install bubblewrap") as string,
    });
    await expect(driver.open(planFor(workspace))).rejects.toMatchObject({
      code: "jail.unavailable",
      hint: expect.stringContaining("apt install bubblewrap") as string,
    });
  });

  test("refuses when bubblewrap cannot build the walls, and leaves nothing behind", async () => {
    const { home, workspace } = newPlace();
    const broken = join(home, "bwrap");
    writeFileSync(broken, "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n", {
      mode: 0o755,
    });
    const driver = openJailDriver({ home, bubblewrap: broken });
    await expect(driver.open(planFor(workspace))).rejects.toMatchObject({
      code: "jail.unavailable",
      message: expect.stringContaining("No permissions") as string,
      hint: expect.stringContaining("user namespaces") as string,
    });
    expect(readdirSync(join(home, "environments")).filter((name) => name.startsWith("env_"))).toEqual([]);
  });

  test("does not look for bubblewrap in PATH", async () => {
    const { home, workspace } = newPlace();
    writeFileSync(join(home, "bwrap"), `#!/bin/sh\ntouch ${home}/fake-was-run\n`, { mode: 0o755 });
    const path = process.env["PATH"];
    process.env["PATH"] = `${home}:${path}`;
    cleanUps.push(() => void (process.env["PATH"] = path));
    const { run } = await openJail({}, { home, workspace });
    expect((await run("echo jailed")).stdout).toBe("jailed\n");
    expect(existsSync(join(home, "fake-was-run"))).toBe(false);
    execFileSync("bwrap");
    expect(existsSync(join(home, "fake-was-run"))).toBe(true);
  });
});

describe.skipIf(!isRoot)("a jail opened by an ordinary user (needs root, to become one)", () => {
  test("has the same walls, and its files are the user's", async () => {
    const { home, workspace } = newPlace(ordinary);
    const text = "id -u; echo x >file; ls /root; grep -h CapEff /proc/self/status; unshare -U true; echo $?";
    const { result } = await openElsewhere([], { home, workspace, text, as: ordinary });
    expect(result.stdout).toMatch(/^1000\nCapEff:\t0{16}\n[1-9]\d*\n$/);
    expect(statSync(join(workspace, "file")).uid).toBe(ordinary.uid);
  });

  test("leaves none after a sweep when its opener is killed before it knows the first process, without cgroups, too", async () => {
    const { home, workspace } = newPlace(ordinary);
    const builder = Number(await firstLine([], dieWhenToldScript, { home, workspace }, ordinary));
    // Who has nobody to tell of its inner half ends, and the inner half waits for it.
    await expect.poll(() => sessionOf(builder).map(({ pid }) => commandOf(pid)[1])).toEqual(["--args"]);
    cleanUps.push(() => Promise.all(sessionOf(builder).map(endProcess)).then(() => undefined));
    const stranger = spawn("setsid", ["sleep", "1000"], { stdio: "ignore" });
    cleanUps.push(() => void stranger.kill("SIGKILL"));
    expect(await sweep(openJailDriver({ home }))).toEqual([]);
    expect({ left: sessionOf(builder), folder: existsSync(join(home, "environments/env_elsewhere")) }).toEqual({
      left: [],
      folder: false,
    });
    expect(stranger.exitCode).toBeNull();
  });

  test("survives its opener and is found again by the same user", async () => {
    const { home, workspace } = newPlace(ordinary);
    const { state } = await openElsewhere([], { home, workspace, text: "echo one", as: ordinary });
    const found = await reopenElsewhere(state, { home, as: ordinary });
    expect(found).toEqual({ kind: "done", stdout: "one\n", after: "again\n" });
    expect(isAlive(state.supervisor)).toBe(false);
  });
});

type Owner = { readonly uid: number; readonly gid: number };

function newPlace(owner: Owner | undefined = jailOwner()): { home: string; workspace: string } {
  const home = mkdtempSync(join(tmpdir(), "corral-jail-"));
  cleanUps.push(() => rmSync(home, { recursive: true, force: true }));
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  if (owner !== undefined) chownSync(workspace, owner.uid, owner.gid);
  if (owner === ordinary) chownSync(home, owner.uid, owner.gid);
  return { home, workspace };
}

function giveToJail(...paths: string[]): void {
  const owner = jailOwner();
  if (owner !== undefined) for (const path of paths) chownSync(path, owner.uid, owner.gid);
}

function planFor(workspace: string): EnvironmentPlan {
  return planOf({ id: newId("environment"), workspace });
}

async function openJail(
  plan: Partial<EnvironmentPlan> = {},
  place: { home: string; workspace: string } = newPlace(),
  options: { graceSeconds?: number } = {},
): Promise<{
  home: string;
  workspace: string;
  driver: EnvironmentDriver;
  environment: Environment;
  run: (text: string) => Promise<CommandResult>;
}> {
  const driver = openJailDriver({ home: place.home, ...options });
  const environment = await driver.open({ ...planFor(place.workspace), ...plan });
  cleanUps.push(() => environment.end());
  let count = 0;
  const run = (text: string) => environment.shell.run({ id: `cal_${count++}`, text, timeoutMs: 60_000 });
  return { ...place, driver, environment, run };
}

/** A jail that two hold, as after a restart, and a way to have a command's time be over. */
async function twoHolders() {
  const { home, environment, driver } = await openJail();
  const found = await driver.reopen(environment.state);
  if (found.kind !== "open") throw new Error("it did not live on");
  cleanUps.push(() => found.environment.detach());
  const spool = join(home, "environments", environment.state.id, "spool");
  const hasHadItsTime = (id: string) => writeFileSync(join(spool, `${id}.limit`), `60\n${Math.ceil(uptime()) - 61}\n`);
  return { environment, other: found.environment, hasHadItsTime };
}

const jailModule = new URL("jail.ts", import.meta.url).href;

const openScript = `
const { home, workspace, text, graceSeconds } = JSON.parse(process.argv[2]);
const { openJailDriver } = await import(process.argv[1]);
const { planOf } = await import(new URL("../plan.ts", process.argv[1]));
const plan = planOf({ id: "env_elsewhere", workspace });
const { shell, state } = await openJailDriver({ home, graceSeconds }).open(plan);
const result = await shell.run({ id: "first", text, timeoutMs: 60_000 });
console.log(JSON.stringify({ state, result }));
setInterval(() => {}, 1000);
`;

const dieBeforeRecordScript = `
const { home, workspace } = JSON.parse(process.argv[2]);
const { openJailDriver } = await import(process.argv[1]);
const { WalledFolder } = await import(new URL("../walled/folder.ts", process.argv[1]));
const { writeSync } = await import("node:fs");
WalledFolder.prototype.recordSupervisor = (supervisor) => {
  writeSync(1, JSON.stringify(supervisor) + "\\n");
  process.kill(process.pid, "SIGKILL");
};
const { planOf } = await import(new URL("../plan.ts", process.argv[1]));
await openJailDriver({ home }).open(planOf({ id: "env_elsewhere", workspace }));
`;

/** When its limits are set bubblewrap has its options, and tells of its inner half somewhat later: to nobody. */
const dieWhileBuiltScript = `
const { home, workspace } = JSON.parse(process.argv[2]);
const fs = (await import("node:fs")).default;
const { syncBuiltinESMExports } = await import("node:module");
const { writeFileSync } = fs;
fs.writeFileSync = (path, ...rest) => {
  writeFileSync(path, ...rest);
  if (!/cgroup.*env_elsewhere/.test(path)) return;
  const { cgroups } = JSON.parse(fs.readFileSync(home + "/environments/env_elsewhere/record.json", "utf8"));
  fs.writeSync(1, JSON.stringify(cgroups) + "\\n");
  process.kill(process.pid, "SIGKILL");
};
syncBuiltinESMExports();
const { openJailDriver } = await import(process.argv[1]);
const { planOf } = await import(new URL("../plan.ts", process.argv[1]));
await openJailDriver({ home }).open(planOf({ id: "env_elsewhere", workspace }));
`;

/** The same where no limits are set: when the builder was told what bubblewrap is to do. */
const dieWhenToldScript = `
const { home, workspace } = JSON.parse(process.argv[2]);
const { readdirSync, readFileSync, writeSync } = await import("node:fs");
const { Socket } = await import("node:net");
const { end } = Socket.prototype;
Socket.prototype.end = function (...words) {
  end.apply(this, words);
  if (!String(words[0]).includes("--info-fd")) return this;
  const children = (task) => readFileSync("/proc/self/task/" + task + "/children", "latin1").split(" ").filter(Boolean);
  writeSync(1, readdirSync("/proc/self/task").flatMap(children)[0] + "\\n");
  process.kill(process.pid, "SIGKILL");
};
const { openJailDriver } = await import(process.argv[1]);
const { planOf } = await import(new URL("../plan.ts", process.argv[1]));
await openJailDriver({ home }).open(planOf({ id: "env_elsewhere", workspace }));
`;

/** What an opener's builder left in its session. */
function sessionOf(builder: number): ProcessIdentity[] {
  return leftInSession({ pid: builder, startTime: "", bootId: bootId() });
}

/** Sweeps and tells what could not be removed. */
async function sweep(driver: EnvironmentDriver, options: Partial<Sweep> = {}): Promise<string[]> {
  const failed: string[] = [];
  await driver.sweep({ onRecord: new Set(), onFailure: (name) => failed.push(name), ...options });
  return failed;
}

interface Elsewhere {
  readonly home: string;
  readonly workspace: string;
  readonly text: string;
  readonly graceSeconds?: number;
  readonly as?: Owner;
}

/** Another process opens a jail, runs a command in it and is killed. */
async function openElsewhere(
  wrapper: string[],
  { as, ...what }: Elsewhere,
): Promise<{ state: Environment["state"]; result: CommandResult }> {
  const found = JSON.parse(await firstLine(wrapper, openScript, what, as)) as {
    state: Environment["state"];
    result: CommandResult;
  };
  cleanUps.push(() => endLeftOver(found.state));
  return found;
}

const reopenScript = `
const { home, state } = JSON.parse(process.argv[2]);
const { openJailDriver } = await import(process.argv[1]);
const { environment } = await openJailDriver({ home }).reopen(state);
const { kind, result } = await environment.shell.find("first");
const after = await environment.shell.run({ id: "second", text: "echo again", timeoutMs: 60_000 });
await environment.end();
console.log(JSON.stringify({ kind, stdout: result?.stdout, after: after.stdout }));
`;

async function reopenElsewhere(
  state: Environment["state"],
  { home, as }: { home: string; as: Owner },
): Promise<unknown> {
  return JSON.parse(await firstLine([], reopenScript, { home, state }, as));
}

async function firstLine(wrapper: string[], script: string, what: unknown, as: Owner | undefined): Promise<string> {
  const node = [process.execPath, "--input-type=module", "--eval", script, jailModule, JSON.stringify(what)];
  const [file, ...args] = [...wrapper, ...node];
  const child = spawn(file!, args, { stdio: ["ignore", "pipe", "inherit"], ...as });
  const exited = once(child, "exit");
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  child.kill("SIGKILL");
  await exited;
  return line;
}

async function endLeftOver({ supervisor, cgroups }: Environment["state"]): Promise<void> {
  await endProcess(supervisor);
  await removeCgroups(cgroups);
}
