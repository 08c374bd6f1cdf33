import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { endLeftJails } from "./leftovers.ts";

/** A git jail that another process started, which ends with it. */
function leftJail(depot: string) {
  mkdirSync(depot, { recursive: true });
  const system = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"];
  const walls = ["--unshare-pid", "--tmpfs", "/", ...system, "--bind", depot, "/depot"];
  const jail = ["/usr/bin/bwrap", ...walls, "--", "/usr/bin/sleep", "1000"];
  const starter = spawn("/bin/sh", ["-c", '"$@" & wait', "sh", ...jail], { stdio: "ignore", detached: true });
  onTestFinished(() => {
    if (starter.exitCode === null) process.kill(-(starter.pid ?? 0), "SIGKILL");
  });
  return { starter, ended: once(starter, "exit") };
}

test("git jails that write below the folder and are somebody else's are ended, and no others", async () => {
  const home = mkdtempSync(join(tmpdir(), "corral-left-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const left = leftJail(join(home, "workspaces", "a.depot"));
  const stranger = leftJail(join(home, "workspaces-2", "b.depot"));
  await expect.poll(() => endLeftJails(join(home, "workspaces")), { timeout: 10_000 }).toBeGreaterThan(0);
  await left.ended;
  expect(stranger.starter.exitCode).toBeNull();
  await expect.poll(() => endLeftJails(join(home, "workspaces-2")), { timeout: 10_000 }).toBeGreaterThan(0);
  await stranger.ended;
});
