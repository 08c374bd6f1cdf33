import { type CommandResult, type EnvironmentLimits, newId } from "@corral/protocol";
import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findMeans, lacking } from "../limits/index.ts";
import { defaultLimits, planOf } from "../plan/plan.ts";
import type { Environment, EnvironmentDriver } from "../port.ts";
import { isAlive } from "../system/process-identity.ts";
import { openJailDriver } from "./jail.ts";
import { jailOwner } from "../walled/index.ts";
import { runOutside, runUnshielded } from "./testing/place.ts";

const mebibyte = 2 ** 20;
const onDisk = "/var/tmp";
const isRoot = process.getuid?.() === 0;
const softly = new Set(lacking(findMeans(tmpdir())));

/** Every bomb has a limit above it and an end of its own: it starts a few thousand processes at most, for seconds. */
const forkBomb = `bomb() {
  if [ $1 -gt 11 ]; then sleep 5; else bomb $(($1 + 1)) & bomb $(($1 + 1)) & wait; fi
}
bomb 0 &
wait`;
const hundredProcesses = "n=0; while [ $n -lt 100 ]; do sleep 20 & n=$((n + 1)); done; echo $n";
/** `tail` keeps what has no newline, all of it. */
const largeProgram = "head -c 300000000 /dev/zero | tail | wc -c";

/** Programs that hold 400 MB which nobody maps, for long enough to be seen. */
const numbers =
  process.arch === "arm64"
    ? { memfd: 279, prctl: 167, sendmsg: 211, inotify: 26 }
    : { memfd: 319, prctl: 157, sendmsg: 46, inotify: 294 };
const memfd = `$name = "held"; $fd = syscall(${numbers.memfd}, $name, 0); open M, ">&=", $fd; syswrite M, "x" x 1e6 for 1 .. 400;`;
const held = `sleep 3; print "held\\n"`;
const send = `
  socketpair A, B, 1, 1, 0;
  ($data, $file) = ("x", pack "Q l l l x4", 20, 1, 1, $fd);
  $part = pack "P Q", $data, 1;
  syscall(${numbers.sendmsg}, fileno A, pack("Q L x4 P Q P Q L x4", 0, 0, $part, 1, $file, 24, 0), 0) == 1 or die $!;
  close M;`;
const unmapped = {
  "files in /tmp": `head -c 400000000 /dev/zero >/tmp/large && sleep 3 && echo held`,
  "files without a name": `perl -e '${memfd} ${held}'`,
  "files of a program that hides": `perl -e 'syscall(${numbers.prctl}, 4, 0, 0, 0, 0); ${memfd} ${held}'`,
  "files that were sent and not received": `perl -e '${memfd} ${send} ${held}'`,
};

describe("processes", () => {
  test("beyond the limit are refused, and the result says so", async () => {
    const { run } = await openJail({ pids: 40 });
    const refused = await run(hundredProcesses);
    expect(refused).toMatchObject({ limit: "pids" });
    expect(refused.stdout).not.toBe("100\n");
    expect(await run("ls /workspace; echo well")).toMatchObject({ exitCode: 0, stdout: "well\n" });
  });

  test.skipIf(softly.has("pids"))(
    "so few that not even a jail fits are told of, and nothing else is blamed",
    async () => {
      await expect(openJail({ pids: 1 })).rejects.toMatchObject({
        code: "jail.unavailable",
        hint: expect.stringContaining("limits.pids") as string,
      });
    },
  );

  test("below the limit are nobody's business", async () => {
    const { run } = await openJail({});
    const started = await run(hundredProcesses);
    expect(started).toMatchObject({ exitCode: 0, stdout: "100\n" });
    expect(started.limit).toBeUndefined();
  });

  test("that beget processes are felt in their own jail alone, and the shell goes on", async () => {
    const [{ run }, neighbour] = await Promise.all([openJail({ pids: 60 }), openJail({})]);
    const bombed = run(forkBomb);
    const meanwhile = await neighbour.run("ls / >/dev/null && echo quick");
    execFileSync("/bin/true");
    expect(meanwhile).toMatchObject({ exitCode: 0, stdout: "quick\n" });
    expect(await bombed).toMatchObject({ limit: "pids" });
    expect(await run("ls /workspace; echo well")).toMatchObject({ exitCode: 0, stdout: "well\n" });
  }, 60_000);
});

describe("memory", () => {
  test("beyond the limit is not to be had, and the shell goes on", async () => {
    const { run } = await openJail({ memoryBytes: 200 * mebibyte });
    const refused = await run(largeProgram);
    expect(refused.stdout).toBe("0\n");
    // Without a cgroup it is refused before anybody looks, and the program itself says so.
    expect(softly.has("memory") ? ["memory", undefined] : ["memory"]).toContain(refused.limit);
    expect(await run("echo $still well")).toMatchObject({ exitCode: 0, stdout: "well\n" });
  });

  test("below the limit is there", async () => {
    const { run } = await openJail({});
    const done = await run(largeProgram);
    expect(done).toMatchObject({ exitCode: 0, stdout: "300000000\n" });
    expect(done.limit).toBeUndefined();
  });

  test("counts for all programs together", async () => {
    const { run } = await openJail({ memoryBytes: 200 * mebibyte });
    // They hold it until one of them is ended for it.
    const hold =
      "(head -c 60000000 /dev/zero; until [ -e over ]; do sleep 0.1; done) | { tail >/dev/null; : >over; } &";
    expect(await run(`${hold.repeat(6)} wait`)).toMatchObject({ limit: "memory" });
    expect(await run("echo well")).toMatchObject({ exitCode: 0, stdout: "well\n" });
  }, 60_000);

  test.each(Object.entries(unmapped))(
    "that is in %s counts, though no program maps it",
    async (_, hold) => {
      const [small, large] = await Promise.all([openJail({ memoryBytes: 200 * mebibyte }), openJail({})]);
      const refused = await small.run(hold);
      expect(refused).toMatchObject({ stdout: "", limit: "memory", timedOut: false });
      expect(await large.run(hold)).toMatchObject({ stdout: "held\n", exitCode: 0 });
    },
    60_000,
  );

  test("that is in segments of shared memory is counted or refused", async () => {
    const take = `defined($id = shmget 0, $n, 0600) or die "$!\\n"; push @all, $id; shmwrite $id, "x" x $n, 0, $n`;
    const hold = (count: number, bytes: number) =>
      `perl -e '$n = ${bytes}; for (1 .. ${count}) { ${take} } print "held\\n"; shmctl $_, 0, 0 for @all'`;
    const [small, large] = await Promise.all([openJail({ memoryBytes: 200 * mebibyte }), openJail({})]);
    const refused = await small.run(hold(20, 2e7));
    const isSoft = softly.has("memory");
    expect(refused.stdout).toBe("");
    expect(isSoft ? refused.stderr : refused.limit).toBe(isSoft ? "Invalid argument\n" : "memory");
    const segments = isSoft ? hold(20, 2 ** 14) : hold(20, 2e7);
    expect(await large.run(segments)).toMatchObject({ stdout: "held\n", exitCode: 0 });
    expect(runUnshielded(small.workspace, hold(20, 2e7))).toEqual({ stdout: "held\n", exitCode: 0 });
  }, 60_000);

  test("counts once that is both in a file and mapped", async () => {
    const { run } = await openJail({ memoryBytes: 200 * mebibyte });
    // At its end it would let go of it.
    const map = `open F, "<:mmap", "/dev/shm/file"; $/ = \\1000000; <F> for 1 .. 119;`;
    const hold = `head -c 120000000 /dev/zero >/dev/shm/file && perl -e '${map} sleep 1; print "held\\n"'`;
    expect(await run(hold)).toMatchObject({ stdout: "held\n", exitCode: 0 });
  });
});

describe("what is kept in memory", () => {
  test("has a size, whatever else limits memory", async () => {
    const { run } = await openJail({});
    const sizes = await run("stat -f -c '%b %S' /tmp ~ /dev/shm");
    const bytes = sizes.stdout
      .trim()
      .split("\n")
      .map((line) =>
        line
          .split(" ")
          .map(Number)
          .reduce((a, b) => a * b),
      );
    expect(bytes).toEqual([1024 * mebibyte, 512 * mebibyte, 256 * mebibyte]);
    const filled = await run(
      "head -c 300000000 /dev/zero >/dev/shm/large; stat -c %s /dev/shm/large; rm /dev/shm/large",
    );
    expect(filled).toMatchObject({
      stdout: `${256 * mebibyte}\n`,
      stderr: expect.stringContaining("No space left") as string,
    });
    // Without a size it would go on.
    const unsized = ["--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/tmp"];
    execFileSync("bwrap", [...unsized, "--", "sh", "-c", "head -c 300000000 /dev/zero >/tmp/large"]);
  });
});

describe("the processor", () => {
  test("is there for as much as the limit says", async ({ skip }) => {
    if (softly.has("cpu")) skip("a lower priority is all there is");
    const [little, plenty] = await Promise.all([openJail({ cpus: 0.1 }), openJail({})]);
    const burner = "timeout 1 sh -c 'while :; do :; done'";
    // Where many want the processor it may not even get what it may have.
    const burn = () => Promise.all([little.run(burner), plenty.run(burner)]).then(() => heldUp(little.environment));
    await expect.poll(burn).toBeGreaterThan(0);
    expect(heldUp(plenty.environment)).toBe(0);
  }, 60_000);

  test("goes to others first where there is no limit", async ({ skip }) => {
    if (!softly.has("cpu")) skip("there is a limit");
    const { run } = await openJail({});
    expect((await run("nice")).stdout).toBe("10\n");
  });
});

describe("the disk", () => {
  const fill = (megabytes: number) =>
    `n=0; while [ $n -lt ${megabytes / 20} ]; do head -c 20000000 /dev/zero >part$n; n=$((n + 1)); sleep 0.05; done; echo full`;

  test("is filled as far as the limit says, and a little more", async () => {
    const { run, workspace } = await openJail({ diskBytes: 100 * mebibyte });
    const stopped = await run(fill(2_000));
    expect(stopped).toMatchObject({ stdout: "", limit: "disk", timedOut: false });
    expect(existsSync(join(workspace, "part0"))).toBe(true);
    expect(await run("rm -f part* && echo room")).toMatchObject({ exitCode: 0, stdout: "room\n" });
  }, 60_000);

  test("below the limit is there", async () => {
    const { run } = await openJail({});
    const done = await run(fill(200));
    expect(done.stdout).toBe("full\n");
    expect(done.limit).toBeUndefined();
  });

  test("is not filled in the background either: it ends with the environment", async () => {
    const { run, environment } = await openJail({ diskBytes: 100 * mebibyte });
    expect((await run(`(${fill(4_000)}) >/dev/null 2>&1 & echo began`)).stdout).toBe("began\n");
    await expect.poll(() => isAlive(environment.state.supervisor)).toBe(false);
  }, 60_000);

  test("is not taken by one huge file", async () => {
    const { run } = await openJail({ diskBytes: 20 * mebibyte });
    expect(await run("head -c 40000000 /dev/zero >huge")).toMatchObject({ exitCode: 153, limit: "disk" });
    expect((await run("stat -c %s huge")).stdout).toBe(`${20 * mebibyte}\n`);
  });

  test("is not taken by open files that have no name any more", async () => {
    const hold = `for fd in 3 4 5 6 7 8; do eval "exec $fd>part"; rm part; head -c 15000000 /dev/zero >&$fd; sleep 0.3; done; sleep 3; echo held`;
    const [small, large] = await Promise.all([openJail({ diskBytes: 40 * mebibyte }), openJail({})]);
    expect(await small.run(hold)).toMatchObject({ stdout: "", limit: "disk", timedOut: false });
    expect(await large.run(hold)).toMatchObject({ stdout: "held\n", exitCode: 0 });
  }, 60_000);

  test("is not taken by what is set aside without being written", async () => {
    const take = "n=0; while [ $n -lt 20 ]; do fallocate -l 10M part$n || exit 1; n=$((n + 1)); done";
    const { run, workspace } = await openJail({ diskBytes: 20 * mebibyte }, onDisk);
    expect(await run(take)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("not supported") as string });
    // A file may be made to have no room, too, and who asks a library for some gets it written.
    expect(await run("head -c 8192 /dev/zero >holes && fallocate --punch-hole -l 4096 holes")).toMatchObject({
      exitCode: 0,
    });
    expect(await run("fallocate --posix -l 4096 part0 && stat -c %s part0")).toMatchObject({ stdout: "4096\n" });
    expect(runUnshielded(workspace, `${take}; rm part*`).exitCode).toBe(0);
  });

  test("is not taken by files without number", async () => {
    // With rests, in which it can be seen.
    const make = (count: number) =>
      `n=0; while [ $n -lt ${count} ]; do : >many$n; n=$((n + 1)); case $n in *000) sleep 0.2 ;; esac; done; echo made`;
    // In memory an empty file takes nothing.
    const [small, large] = await Promise.all([openJail({ diskBytes: 16 * mebibyte }, onDisk), openJail({}, onDisk)]);
    expect(await small.run(make(30_000))).toMatchObject({ stdout: "", limit: "disk" });
    // More than the other may have.
    expect(await large.run(make(6_000))).toMatchObject({ stdout: "made\n", exitCode: 0 });
  }, 120_000);
});

describe("what tells of changed files", () => {
  /** How many instances of inotify it got, and keeps until it is told to end. */
  const take = `perl -e '$n++ while syscall(${numbers.inotify}, 0) >= 0; print "$n\\n"'`;
  const isThere = () => runOutside(`perl -e 'exit(syscall(${numbers.inotify}, 0) < 0)'`).exitCode === 0;

  test.skipIf(isRoot)(
    "is left to its user by a jail that takes all that it can get (needs an ordinary user)",
    async () => {
      const most = Number(readFileSync("/proc/sys/fs/inotify/max_user_instances", "latin1"));
      const { run, workspace } = await openJail({});
      expect((await run(take)).stdout).toBe(`${Math.floor(most / 4)}\n`);
      const hold = take.replace("print", "$| = 1; print").replace(/'$/, "; sleep 60'");
      expect((await run(`${hold} >held & until [ -s held ]; do :; done; cat held`)).stdout).toBe(
        `${Math.floor(most / 4)}\n`,
      );
      expect(isThere()).toBe(true);
      // Nor can it be set higher again, by anybody inside.
      expect((await run("echo 1000 >/proc/sys/user/max_inotify_instances")).exitCode).not.toBe(0);
      // The rest of what the user has is to be had without walls: nothing else kept it.
      expect(Number(runUnshielded(workspace, take).stdout)).toBeGreaterThan(most / 4);
    },
  );

  test.skipIf(!isRoot)("is each workspace's own under root, and told to be (needs root)", async () => {
    const { home, driver } = await openJail({});
    const owned = async () => {
      const workspace = mkdtempSync(join(home, "workspace-"));
      const { uid, gid } = await driver.newOwner!();
      chownSync(workspace, uid, gid);
      return workspace;
    };
    const [one, other] = [await owned(), await owned()];
    const jails = await Promise.all([one, one, other].map((workspace) => openIn(driver, workspace, {})));
    onTestFinished(async () => void (await Promise.all(jails.map((each) => each.end()))));
    const run = async (at: number, text: string) =>
      (await jails[at]!.shell.run({ id: "cal_1", text, timeoutMs: 50_000 })).stdout;
    const most = readFileSync("/proc/sys/fs/inotify/max_user_instances", "latin1");
    const hold = take.replace("print", "$| = 1; print").replace(/'$/, "; sleep 60'");
    expect(await run(0, `${hold} >held & until [ -s held ]; do :; done; cat held`)).toBe(most);
    expect(await run(2, take)).toBe(most);
    // Who is in the same workspace is the same user.
    expect(await run(1, take)).toBe("\n");
    const probed = await driver.probe();
    expect(probed.ok && probed.limits?.find(({ limit }) => limit === "watches")).toEqual({
      limit: "watches",
      kept: "hard",
      by: "fs.inotify.max_user_instances of the workspace's own user; in place it shares those of the folder's owner",
    });
  });
});

describe("core dumps", () => {
  const limitOf = (pid: string) => `awk '/^Max core file size/ { print $5, $6 }' /proc/${pid}/limits`;
  const crash = `sh -c 'kill -SEGV $$'; ls | grep core; ${limitOf("self")}`;

  test("are not made, and no limit of them is to be had by which the kernel would run a handler", async () => {
    const { run, workspace } = await openJail({});
    const [, hard] = runOutside(limitOf("self")).stdout.split(/\s+/);
    // Who may have none at all cannot set it to one byte.
    const most = hard === "0" && !isRoot ? /^0 0$/ : /^1 1$/;
    expect((await run(limitOf("1"))).stdout.trim()).toMatch(most);
    const crashed = await run(`ulimit -c unlimited; ulimit -c 0; ${crash}`);
    expect(crashed.stdout.trim()).toMatch(most);
    expect(crashed.stderr.trim()).toMatch(/Segmentation fault$/);
    // Other limits are still a program's own.
    expect((await run("ulimit -n 100 && ulimit -n")).stdout).toBe("100\n");
    const pattern = readFileSync("/proc/sys/kernel/core_pattern", "latin1").trim();
    if (hard !== "unlimited") return console.warn("SKIPPED: without walls there are none either.");
    const unwalled = runUnshielded(workspace, `ulimit -c unlimited; ${crash}; rm -f core*`).stdout;
    // Any other pattern leads elsewhere.
    expect(unwalled).toMatch(pattern === "core" ? /^core[^]*unlimited unlimited/ : /unlimited unlimited/);
  });
});

describe("cgroups", () => {
  test("are used where they are given", async () => {
    const { environment } = await openJail({});
    // Said by who gives them; root has what there is.
    const given = process.env["CORRAL_TEST_CGROUPS"] ?? String(findMeans(tmpdir()).parents.length);
    expect(String(environment.state.cgroups.length)).toBe(given);
  });

  test("hold everything of the jail, and from inside there is nothing above them", async ({ skip }) => {
    const { run, environment } = await openJail({});
    if (environment.state.cgroups.length === 0) skip("there are none to be had");
    const shown = (await run("cat /proc/1/cgroup /proc/self/cgroup")).stdout.match(
      /^\d+:(?:pids|memory|cpu)\b.*|^0::.*/gm,
    );
    expect(new Set(shown?.map((line) => line.split(":")[2]))).toEqual(new Set(["/"]));
  });

  test("go with their environments, however many there were", async ({ skip }) => {
    const { home, driver, environment } = await openJail({});
    const { cgroups } = environment.state;
    if (cgroups.length === 0) skip("there are none to be had");
    expect(cgroups.filter((folder) => existsSync(folder))).toEqual(cgroups);
    for (let round = 0; round < 10; round++) {
      const opened = await Promise.all(Array.from({ length: 4 }, () => openIn(driver, newWorkspace(home), {})));
      await Promise.all(opened.map((each) => each.end()));
    }
    await environment.end();
    expect(cgroups.filter((folder) => existsSync(dirname(folder)))).toEqual([]);
  }, 60_000);
});

test("how each limit is kept is told as it was seen, and of a soft one of memory what it does not count", async () => {
  const { driver } = await openJail({});
  const probed = await driver.probe();
  const found = probed.ok ? probed.limits?.find(({ limit }) => limit === "memory") : undefined;
  expect(found).toMatchObject({
    kept: softly.has("memory") ? "soft" : "hard",
    by: expect.stringMatching(
      softly.has("memory") ? /files in memory .*; not counted is what the kernel holds/ : /^cgroup/,
    ) as string,
  });
});

async function openJail(
  limits: Partial<EnvironmentLimits>,
  where = tmpdir(),
): Promise<{
  home: string;
  workspace: string;
  driver: EnvironmentDriver;
  environment: Environment;
  run: (text: string) => Promise<CommandResult>;
}> {
  const home = mkdtempSync(join(where, "corral-limits-"));
  const driver = openJailDriver({ home });
  const workspace = newWorkspace(home);
  const environment = await openIn(driver, workspace, limits);
  onTestFinished(async () => {
    await environment.end();
    rmSync(home, { recursive: true, force: true });
  });
  let count = 0;
  const run = (text: string) => environment.shell.run({ id: `cal_${count++}`, text, timeoutMs: 50_000 });
  return { home, workspace, driver, environment, run };
}

function openIn(
  driver: EnvironmentDriver,
  workspace: string,
  limits: Partial<EnvironmentLimits>,
): Promise<Environment> {
  return driver.open(planOf({ id: newId("environment"), workspace, limits: { ...defaultLimits, ...limits } }));
}

function newWorkspace(home: string): string {
  const workspace = mkdtempSync(join(home, "workspace-"));
  const owner = jailOwner();
  if (owner !== undefined) chownSync(workspace, owner.uid, owner.gid);
  return workspace;
}

/** How often it was held up for having used more than its share. */
function heldUp({ state }: Environment): number {
  const file = state.cgroups.map((folder) => join(folder, "cpu.stat")).find((each) => existsSync(each));
  return Number(/^nr_throttled (\d+)$/m.exec(file === undefined ? "" : readFileSync(file, "latin1"))?.[1]);
}
