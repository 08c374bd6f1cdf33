import type { ProcessIdentity } from "@corral/protocol";
import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import {
  kilobytes,
  look,
  namelessOf,
  processesOf,
  residentOf,
  shareInFiles,
  sharedOf,
  shareOf,
  sum,
} from "./processes.ts";

/**
 * The memory that an environment holds and no cgroup counts: what its programs map, and what is kept in memory as a file that nobody has to
 * map, in scratch or without a name (a memfd). What several have counts once.
 *
 * 1. A look costs one question for each process. Files are looked for only when shared memory has grown, on the whole machine, by an
 *    eighth of the limit since the last time, whoever took it, and before anybody is said to hold too much.
 * 2. What cannot be seen, because a program hides it, counts as what the whole machine has more since all could be seen.
 * 3. The kernel's own memory is not counted: socket buffers, tables of pages, semaphores and messages.
 */
export class HeldMemory {
  readonly #options: HeldMemoryOptions;
  /** What nobody maps. */
  #unmapped = 0;
  /** How much more shared memory there was on the machine since that was looked for; at first nothing is known. */
  #grown = Infinity;
  /** Shared memory on the machine at the last look. */
  #machine = sharedOnMachine();
  /** What of it was not this environment's when all could be seen. */
  #elsewhere = this.#machine;

  constructor(options: HeldMemoryOptions) {
    this.#options = options;
  }

  async isMoreThan(bytes: number): Promise<boolean> {
    const pids = processesOf(this.#options.supervisor);
    const machine = sharedOnMachine();
    this.#grown += Math.max(0, machine - this.#machine);
    this.#machine = machine;
    if (this.#grown >= bytes / 8) await this.#lookForFiles(pids, machine);
    // An upper bound that is cheap to find says no nearly always.
    const isMore = () => [residentOf, shareOf].every((of) => sum(pids, of) + this.#unmapped > bytes);
    if (!isMore()) return false;
    await this.#lookForFiles(pids, machine);
    return isMore();
  }

  async #lookForFiles(pids: readonly number[], machine: number): Promise<void> {
    this.#grown = 0;
    const { supervisor, disk, scratch } = this.#options;
    const places = await Promise.all(scratch.map((path) => placeAt(join(`/proc/${supervisor.pid}/root`, path))));
    const devices = new Set(places.map(({ device }) => device));
    const onDisk = (await placeAt(disk)).device;
    const { files, isAll } = await namelessOf(pids);
    const nameless = files.filter((each) => each.isInMemory && each.device !== onDisk && !devices.has(each.device));
    const known = new Set(nameless.map(({ device, inode }) => `${device} ${inode}`));
    const isCounted = (device: number, inode: number) => devices.has(device) || known.has(`${device} ${inode}`);
    const mapped = await Promise.all(pids.map((pid) => shareInFiles(pid, isCounted)));
    const unmapped = sum(places, ({ used }) => used) + sum(nameless, ({ bytes }) => bytes) - sum(mapped, Number);
    const shared = sum(pids, sharedOf);
    if (isAll) this.#elsewhere = machine - unmapped - shared;
    this.#unmapped = isAll ? unmapped : Math.max(unmapped, machine - this.#elsewhere - shared);
  }
}

export interface HeldMemoryOptions {
  readonly supervisor: ProcessIdentity;
  /** A host folder on the disk whose files are not memory, even where that disk is. */
  readonly disk: string;
  /** Folders inside whose files are kept in memory, each on a file system of its own. */
  readonly scratch: readonly string[];
}

/** What is not there has nothing in it. */
async function placeAt(path: string): Promise<{ device: number | undefined; used: number }> {
  try {
    const [{ dev: device }, { blocks, bfree, bsize }] = await Promise.all([stat(path), statfs(path)]);
    return { device, used: (blocks - bfree) * bsize };
  } catch {
    return { device: undefined, used: 0 };
  }
}

/** All that is shared memory, or files in it, of everybody. */
function sharedOnMachine(): number {
  return kilobytes(look("/proc/meminfo"), "Shmem");
}
