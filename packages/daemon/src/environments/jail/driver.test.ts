import { newId, type ProcessIdentity } from "@corral/protocol";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { findMeans } from "../limits/index.ts";
import { bootId, commandOf, endProcess, isAlive, leftInSession } from "../system/process-identity.ts";
import { removeFolder } from "../system/remove-folder.ts";
import { openJailDriver } from "./jail.ts";
import { sweepJails } from "./sweep.ts";
import {
  dieBeforeRecordScript,
  dieWhenToldScript,
  dieWhileBuiltScript,
  firstLine,
  openElsewhere,
  reopenElsewhere,
} from "./testing/elsewhere.ts";
import { afterwards, clearStage, newPlace, openJail, ordinary, planFor, sweep } from "./testing/stage.ts";

afterEach(clearStage);

const isRoot = process.getuid?.() === 0;

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

  const hasCgroups = findMeans(tmpdir()).parents.length > 0;
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
    afterwards(() => void (process.env["PATH"] = path));
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
    afterwards(() => Promise.all(sessionOf(builder).map(endProcess)).then(() => undefined));
    const stranger = spawn("setsid", ["sleep", "1000"], { stdio: "ignore" });
    afterwards(() => void stranger.kill("SIGKILL"));
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

/** What an opener's builder left in its session. */
function sessionOf(builder: number): ProcessIdentity[] {
  return leftInSession({ pid: builder, startTime: "", bootId: bootId() });
}
