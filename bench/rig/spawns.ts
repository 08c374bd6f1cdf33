import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { nodesOf } from "./tree.ts";

/**
 * The programs that the daemon and its runners start while something is done; what runs in jails that are open already is not
 * theirs. Undefined: there is no strace to tell.
 */
export async function startedBy(pid: number, work: () => Promise<unknown>): Promise<readonly string[] | undefined> {
  if (spawnSync("strace", ["-V"], { stdio: "ignore" }).status !== 0) return undefined;
  const watched = nodesOf(pid).flatMap((process) => ["-p", String(process.pid)]);
  const strace = spawn("strace", ["-f", "-qq", "-e", "trace=execve", ...watched], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  strace.stderr.on("data", (piece) => (said += String(piece)));
  await attached(strace.pid ?? 0, watched.length / 2);
  try {
    await work();
  } finally {
    const gone = once(strace, "exit");
    strace.kill("SIGINT");
    await gone;
  }
  return said.split("\n").filter((line) => /execve\(.* = 0$/.test(line));
}

/** Nothing tells when it has attached but the kernel: whoever is traced names its tracer. */
async function attached(tracer: number, count: number): Promise<void> {
  const isTraced = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/status`, "utf8").includes(`TracerPid:\t${tracer}\n`);
    } catch {
      return false;
    }
  };
  for (let tries = 0; tries < 500; tries++) {
    if (readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isTraced(name)).length >= count) return;
    await pause(20);
  }
  throw new Error("strace did not attach");
}
