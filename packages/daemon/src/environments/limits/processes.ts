import type { ProcessIdentity } from "@corral/protocol";
import { readdirSync, readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { isAlive } from "../process-identity.ts";

/** The processes of an environment: its first one and all that came of it, those that were orphaned too. */
export function processesOf(supervisor: ProcessIdentity, most = 10_000): number[] {
  if (!isAlive(supervisor)) return [];
  const found = [supervisor.pid];
  for (let index = 0; index < found.length && found.length < most; index++) found.push(...childrenOf(found[index]!));
  return found;
}

/** Whether they hold more memory than that together. What several map counts once. */
export function holdMore(pids: readonly number[], bytes: number): boolean {
  // An upper bound that is cheap to find says no nearly always.
  return sum(pids, residentOf) > bytes && sum(pids, shareOf) > bytes;
}

/** What they, and those before them that have ended, have written to the disk. */
export function writtenBy(pids: readonly number[]): number {
  return sum(pids, (pid) => Math.max(0, counter(pid, "write_bytes") - counter(pid, "cancelled_write_bytes")));
}

/** Whether one of them does not let its own user see what it writes, as a program that may be run and not read. */
export function isHiding(pids: readonly number[]): boolean {
  return pids.some((pid) => look(pid, "io") === "" && look(pid, "stat") !== "");
}

/**
 * What they hold open on the disk of a folder that has no name any more: whoever goes through folders does not find it. Each file counts once.
 */
export async function namelessOf(pids: readonly number[], folder: string): Promise<number> {
  const device = (await stat(folder).catch(() => undefined))?.dev;
  const found = new Map<number, number>();
  let looked = 0;
  for (const pid of pids)
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      if (looked++ > mostDescriptors) break;
      const open = await stat(`/proc/${pid}/fd/${fd}`).catch(() => undefined);
      if (open?.isFile() === true && open.nlink === 0 && open.dev === device) found.set(open.ino, open.blocks * 512);
    }
  return [...found.values()].reduce((total, bytes) => total + bytes, 0);
}

/** It takes a second to look at so many. */
const mostDescriptors = 20_000;

const pageBytes = 4096;

function residentOf(pid: number): number {
  return Number(look(pid, "statm").split(" ")[1] ?? 0) * pageBytes;
}

function shareOf(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(look(pid, "smaps_rollup"))?.[1] ?? 0) * 1024;
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0);
}

function counter(pid: number, name: string): number {
  return Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(look(pid, "io"))?.[1] ?? 0);
}

function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((thread) =>
    look(pid, `task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
}

/** Each thread has children of its own. */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function look(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
