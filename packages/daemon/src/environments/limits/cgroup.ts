import type { EnvironmentLimits } from "@corral/protocol";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { CgroupParent } from "./cgroup-parent.ts";

/**
 * The cgroups of one environment: one in each tree that keeps a limit.
 *
 * 1. They are on file before they are made, so that a sweep finds every one of them.
 * 2. Whoever builds the environment goes into them by itself, before it begins: whatever runs in the environment was
 *    born there, and its own namespace of cgroups begins there.
 * 3. They hold nothing but the environment. Its processes are ended first, then they can be removed.
 */
export function cgroupFolders(parents: readonly CgroupParent[], id: string): string[] {
  return parents.map(({ folder }) => join(folder, id));
}

/** Throws when one cannot be had. Can be repeated. */
export function makeCgroups(parents: readonly CgroupParent[], id: string): void {
  for (const parent of parents) makeBelow(parent, join(parent.folder, id));
}

/** Whoever is in them already is held to their limits from now on. Throws when one cannot be set. Can be repeated. */
export function limitCgroups(parents: readonly CgroupParent[], id: string, limits: EnvironmentLimits): void {
  for (const { folder, version, controllers } of parents)
    for (const controller of controllers)
      for (const [file, value, need] of settingsOf[version][controller](limits)) {
        try {
          set(join(folder, id), file, value);
        } catch (error) {
          if (need === "must") throw error;
        }
      }
}

/**
 * The files that a process with one thread writes a 0 to, to be in them. Version 1 lets a thread move itself at once; moving a whole process
 * waits until every processor of the machine has come to rest, which takes longer than all else at a start.
 */
export function cgroupDoors(parents: readonly CgroupParent[], id: string): string[] {
  return parents.map(({ folder, version }) => join(folder, id, version === 1 ? "tasks" : "cgroup.procs"));
}

/** What is left in them is ended; then they go, as soon as they are empty. */
export async function removeCgroups(folders: readonly string[]): Promise<void> {
  for (const folder of folders) endMembers(folder);
  for (const folder of folders) await removeEmpty(folder);
}

/** Whoever is in it belongs to the environment, also where nobody wrote down its number: half a bubblewrap whose starter was killed. */
function endMembers(folder: string): void {
  try {
    set(folder, "cgroup.kill", "1");
  } catch {
    // Version 1 has no such file.
    for (const pid of membersOf(folder)) kill(pid);
  }
}

function membersOf(folder: string): number[] {
  try {
    const pids = readFileSync(join(folder, "cgroup.procs"), "latin1").split("\n").map(Number);
    return pids.filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended meanwhile, or is told of when the cgroup cannot be removed.
  }
}

/** Each new cgroup has it; version 1 takes a millisecond to be told so. */
const quotaPeriodUs = 100_000;

type SettingsOf = (
  limits: EnvironmentLimits,
) => readonly (readonly [file: string, value: string, need: "must" | "may"])[];

/** Swap would make a limit of memory one of patience; not every kernel counts it. */
const settingsOf: Record<CgroupParent["version"], Record<CgroupParent["controllers"][number], SettingsOf>> = {
  1: {
    pids: ({ pids }) => [["pids.max", String(pids), "must"]],
    memory: ({ memoryBytes }) => [
      ["memory.limit_in_bytes", String(memoryBytes), "must"],
      ["memory.memsw.limit_in_bytes", String(memoryBytes), "may"],
    ],
    cpu: ({ cpus }) => [["cpu.cfs_quota_us", String(quotaOf(cpus)), "must"]],
  },
  2: {
    pids: ({ pids }) => [["pids.max", String(pids), "must"]],
    memory: ({ memoryBytes }) => [
      ["memory.max", String(memoryBytes), "must"],
      ["memory.swap.max", "0", "may"],
      // One that is too large is ended, not everybody with it: the keeper goes on.
      ["memory.oom.group", "0", "may"],
    ],
    cpu: ({ cpus }) => [["cpu.max", `${quotaOf(cpus)} ${quotaPeriodUs}`, "must"]],
  },
};

function quotaOf(cpus: number): number {
  return Math.max(1_000, Math.round(cpus * quotaPeriodUs));
}

/** The folder above may go at any moment, with the last environment in it. */
function makeBelow(parent: CgroupParent, folder: string): void {
  for (let tries = 3; ; tries--) {
    try {
      return mkdirSync(folder);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") return;
      if (tries === 0 || code !== "ENOENT") throw error;
      parent.prepare();
    }
  }
}

const removalMs = 5_000;

async function removeEmpty(folder: string): Promise<void> {
  const deadline = performance.now() + removalMs;
  for (let wait = 1; ; wait = Math.min(50, wait * 2)) {
    const failure = removeNow(folder);
    if (failure === undefined) break;
    if (failure.code !== "EBUSY" || performance.now() > deadline) throw failure;
    await pause(wait);
    endMembers(folder);
  }
  // The last one puts the light out.
  removeNow(dirname(folder));
}

function removeNow(folder: string): NodeJS.ErrnoException | undefined {
  try {
    rmdirSync(folder);
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    if (failure.code !== "ENOENT") return failure;
  }
  return undefined;
}

function set(folder: string, file: string, value: string): void {
  writeFileSync(join(folder, file), value);
}
