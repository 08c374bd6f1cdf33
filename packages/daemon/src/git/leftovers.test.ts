import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { type GitJail, runJailed, startJailed } from "./jailed.ts";
import { endLeftJails } from "./leftovers.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "corral-left-"));
  onTestFinished(async () => {
    await endLeftJails(home);
    rmSync(home, { recursive: true, force: true });
  });
});

function jailIn(folder: string): GitJail {
  const [workspace, depot] = ["workspace", "depot"].map((name) => join(home, folder, name)) as [string, string];
  for (const each of [workspace, depot]) mkdirSync(each, { recursive: true });
  return { workspace, readable: [], depot, user: undefined };
}

/** A process that starts a git jail and is killed in the moment in which it has. */
async function killedStarter(jail: GitJail): Promise<void> {
  const starting = `
    import { startJailed } from ${JSON.stringify(new URL("jailed.ts", import.meta.url).href)};
    startJailed(${JSON.stringify(jail)}, ["sleep", "1000"]);`;
  const env = { ...process.env, CORRAL_FAULT: "git.jailed:1" };
  const starter = spawn(process.execPath, ["--input-type=module", "-e", starting], { env, stdio: "ignore" });
  const [, signal] = await once(starter, "exit");
  expect(signal).toBe("SIGKILL");
}

function processesOf({ depot }: Pick<GitJail, "depot">): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`\0${depot}\0`);
    } catch {
      return false;
    }
  });
}

/** One whose starter is gone, and which does not end by itself. */
async function leftJail({ depot }: Pick<GitJail, "depot">, bind = "--bind"): Promise<void> {
  const system = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"];
  const walls = ["--unshare-pid", "--tmpfs", "/", ...system, bind, depot, "/depot"];
  const jail = ["/usr/bin/bwrap", ...walls, "--", "/usr/bin/sh", "-c", "echo here; exec sleep 1000"];
  const starter = spawn("/bin/sh", ["-c", '"$@" & exit', "sh", ...jail], { stdio: ["ignore", "pipe", "ignore"] });
  // Until the shell's other half has become bubblewrap it is no jail, whatever its words are.
  await Promise.all([once(starter, "exit"), once(starter.stdout, "data")]);
}

test("git jails with a depot below the folder that nobody has are ended, and no others", async () => {
  const [one, other, elsewhere] = [jailIn("home/one"), jailIn("home/other"), jailIn("home-2")];
  await Promise.all([leftJail(one), leftJail(other, "--ro-bind"), leftJail(elsewhere)]);
  expect(await endLeftJails(join(home, "home"))).toBeGreaterThanOrEqual(2);
  expect([one, other].flatMap(processesOf)).toEqual([]);
  expect(processesOf(elsewhere)).not.toEqual([]);
});

test("of a git jail whose starter is killed in the moment in which it begins nothing is left", async () => {
  const jails = Array.from({ length: 4 }, (_, n) => jailIn(`${n}`));
  await Promise.all(jails.map(killedStarter));
  await endLeftJails(home);
  expect(jails.flatMap(processesOf)).toEqual([]);
});

test("git jails of this process and of its children are nobody's leftovers", async () => {
  const jail = jailIn("one");
  const enough = new AbortController();
  const child = startJailed(jail, ["sh", "-c", "echo here; exec sleep 1000"], { signal: enough.signal });
  const ended = child.ended.catch(() => "ended");
  await once(child.stdout, "data");
  expect(await endLeftJails(home)).toBe(0);
  expect(child.exitCode).toBeNull();
  enough.abort();
  expect(await ended).toBe("ended");
  await expect.poll(() => processesOf(jail)).toEqual([]);
});

test("nothing is started, and so nothing left, for whoever has given up already", async () => {
  const jail = jailIn("one");
  for (let n = 0; n < 60; n++)
    await expect(runJailed(jail, ["true"], { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  expect(processesOf(jail)).toEqual([]);
});
