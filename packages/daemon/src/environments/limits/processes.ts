import type { ProcessIdentity } from "@corral/protocol";
import { readdirSync, readFileSync } from "node:fs";
import { readdir, readFile, stat, statfs } from "node:fs/promises";
import { isAlive } from "../system/process-identity.ts";

/** The processes of an environment: its first one and all that came of it, those that were orphaned too. */
export function processesOf(supervisor: ProcessIdentity, most = 10_000): number[] {
  if (!isAlive(supervisor)) return [];
  const found = [supervisor.pid];
  for (let index = 0; index < found.length && found.length < most; index++) found.push(...childrenOf(found[index]!));
  return found;
}

/** What they, and those before them that have ended, have written to the disk. */
export function writtenBy(pids: readonly number[]): number {
  return sum(pids, (pid) => Math.max(0, counter(pid, "write_bytes") - counter(pid, "cancelled_write_bytes")));
}

/**
 * Whether one of them does not let its own user see what it writes, as a program that may be run and not read. Nobody sees that of one that has ended
 * and was not collected yet, which has nothing to hide, unless threads of it go on.
 */
export function isHiding(pids: readonly number[]): boolean {
  return pids.some((pid) => tells(pid, "io") === "" && goesOn(tells(pid, "stat")));
}

/** By what its `stat` says: behind its name, which may have anything in it, come its state and, as the 18th, how many threads it has. */
function goesOn(stat: string): boolean {
  if (stat === "") return false;
  const [state = "", ...others] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return !"ZX".includes(state) || Number(others[16]) > 1;
}

/** A file that is open and has no name any more, or never had one: whoever goes through folders does not find it. */
export interface Nameless {
  readonly device: number;
  readonly inode: number;
  readonly bytes: number;
  /** The kernel keeps it in memory, and not on a disk. */
  readonly isInMemory: boolean;
}

export interface NamelessSeen {
  /** Each one once. */
  readonly files: readonly Nameless[];
  /** Whether there may be more: a process does not let itself be looked at, has too many open, or has sent some that nobody has received yet. */
  readonly isAll: boolean;
}

export async function namelessOf(pids: readonly number[]): Promise<NamelessSeen> {
  const files = new Map<string, Nameless>();
  let [looked, isAll] = [0, !isHiding(pids)];
  for (const pid of pids)
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      if (looked++ > mostDescriptors) {
        isAll = false;
        break;
      }
      const path = `/proc/${pid}/fd/${fd}`;
      const open = await stat(path).catch(() => undefined);
      if (open?.isSocket() === true && (await hasFilesInside(pid, fd))) isAll = false;
      if (open?.isFile() !== true || open.nlink > 0) continue;
      const { dev: device, ino: inode, blocks } = open;
      const isInMemory = inMemory.has((await statfs(path).catch(() => undefined))?.type ?? 0);
      files.set(`${device} ${inode}`, { device, inode, bytes: blocks * 512, isInMemory });
    }
  return { files: [...files.values()], isAll };
}

/** Of tmpfs, which memfds are on, too, and of hugetlbfs. */
const inMemory = new Set([0x0102_1994, 0x9584_58f6]);

/** Files can be sent through a socket, and are then open nowhere until they are received. */
async function hasFilesInside(pid: number, fd: string): Promise<boolean> {
  const said = await readFile(`/proc/${pid}/fdinfo/${fd}`, "latin1").catch(() => "");
  return /^scm_fds:\s*[1-9]/m.test(said);
}

/** It takes a second to look at so many. */
const mostDescriptors = 20_000;

const pageBytes = 4096;

/** What a process has in memory. What it shares with others counts for each of them. */
export function residentOf(pid: number): number {
  return Number(tells(pid, "statm").split(" ")[1] ?? 0) * pageBytes;
}

/** What a process has in memory; of what it shares with others its part. */
export function shareOf(pid: number): number {
  return kilobytes(tells(pid, "smaps_rollup"), "Pss");
}

/** The part of its share that is shared memory, or lies in files that are kept in memory. */
export function sharedOf(pid: number): number {
  return kilobytes(tells(pid, "smaps_rollup"), "Pss_Shmem");
}

/** The part of its share that lies in files that match, by device and inode. Nothing where it is in too many pieces to look at. */
export async function shareInFiles(pid: number, matches: (device: number, inode: number) => boolean): Promise<number> {
  // Most programs share no memory at all, and to tell each piece takes long.
  if (sharedOf(pid) === 0) return 0;
  if ((tells(pid, "maps").match(/\n/g)?.length ?? 0) > mostPieces) return 0;
  const pieces = (await readFile(`/proc/${pid}/smaps`, "latin1").catch(() => "")).split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  return sum(pieces, (piece) => {
    const [, major = "", minor = "", inode] = /^\S+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+)/.exec(piece) ?? [];
    if (inode === undefined || !matches(deviceOf(hex(major), hex(minor)), Number(inode))) return 0;
    return kilobytes(piece, "Pss");
  });
}

/** The number by which `stat` tells it. */
function deviceOf(major: number, minor: number): number {
  return Math.floor(minor / 256) * 2 ** 20 + major * 256 + (minor % 256);
}

function hex(digits: string): number {
  return Number.parseInt(digits, 16);
}

/** What the kernel says in kB, in bytes. */
export function kilobytes(said: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(said)?.[1] ?? 0) * 1024;
}

const mostPieces = 5_000;

export function sum<T>(all: readonly T[], of: (each: T) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}

function counter(pid: number, name: string): number {
  return Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(tells(pid, "io"))?.[1] ?? 0);
}

function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((thread) =>
    tells(pid, `task/${thread}/children`).split(" ").filter(Boolean).map(Number),
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

function tells(pid: number, file: string): string {
  return look(`/proc/${pid}/${file}`);
}

/** What cannot be read says nothing. */
export function look(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
