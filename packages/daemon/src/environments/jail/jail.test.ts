import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { envOfSystem } from "../keeper/index.ts";
import { openElsewhere } from "./testing/elsewhere.ts";
import { afterwards, clearStage, giveToJail, newPlace, openJail } from "./testing/stage.ts";

afterEach(clearStage);

const isRoot = process.getuid?.() === 0;

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
    afterwards(() => void delete process.env["CORRAL_TEST_SECRET"]);
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
    afterwards(() => void server.close());
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
    afterwards(() => rmSync(join(shared, "../.."), { recursive: true }));
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
