import type { EnvironmentLimits, LimitHit, ProcessIdentity } from "@corral/protocol";
import { statfsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isAlive } from "../system/process-identity.ts";
import { HeldMemory } from "./memory.ts";
import { isHiding, namelessOf, processesOf, sum, writtenBy } from "./processes.ts";

/**
 * Looks after what no mechanism of the kernel keeps, as long as this process has environments open: the disk, and memory
 * where there is no cgroup for it. It is not there between two looks, so these limits are soft.
 *
 * 1. A look costs one question to the file system. A walk through a workspace follows only when at least an eighth of
 *    what its environment may add, or its workspace may hold, has gone from the disk since the last one, whoever took it.
 * 2. Below the reserve the environment that has written most is stopped, one at a time, whatever its own limit is.
 * 3. Nobody is stopped for the disk who does not add to it, as far as that can be seen: a full one must not end work that needs no room, or makes some.
 * 4. A command that runs is stopped; what runs without one, in the background, ends with its environment.
 * 5. It never holds the process up, and never throws.
 */
export class Warden {
  readonly #options: WardenOptions;
  readonly #watches = new Set<Watch>();
  #timer: NodeJS.Timeout | undefined;
  #pace: keyof typeof paces | undefined;
  #looking = false;

  constructor(options: WardenOptions) {
    this.#options = options;
  }

  /** Until the returned function is called; `stop` is called at most once. */
  watch(ward: Ward, of: "command" | "environment", stop: (limit: LimitHit) => void): () => void {
    const watch: Watch = { ward, of, stop, stopped: false };
    this.#watches.add(watch);
    ward.lookFirst(this.#options.free);
    this.#keepPace();
    return () => {
      this.#watches.delete(watch);
    };
  }

  /** Looks at once. Tells how often its disk was seen to be full so far. */
  timesFull(ward: Ward): number {
    ward.look(this.#options.free);
    return ward.timesFull;
  }

  /** Slower while nothing but the background runs. Slowing down waits for the next look: commands may be many and short. */
  #keepPace(): void {
    const watched = [...this.#watches];
    const pace = watched.some(({ of }) => of === "command") ? "quick" : watched.length > 0 ? "slow" : undefined;
    if (pace === this.#pace) return;
    clearTimeout(this.#timer);
    this.#pace = pace;
    if (pace === undefined) return;
    const ms = this.#options.everyMs ?? paces[pace];
    this.#timer = setTimeout(() => void this.#look(), ms).unref();
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      for (const watch of this.#watches) if (!isAlive(watch.ward.supervisor)) this.#watches.delete(watch);
      const inCharge = this.#inCharge();
      for (const { ward } of inCharge) ward.onLook?.();
      await Promise.all(inCharge.map(keepMemory));
      await this.#lookAtDisk(inCharge);
    } catch {
      // What cannot be found out now is found out at the next look.
    } finally {
      this.#looking = false;
      this.#pace = undefined;
      this.#keepPace();
    }
  }

  /** One for each environment: a command's, or else its own. */
  #inCharge(): Watch[] {
    const found = new Map<Ward, Watch>();
    for (const watch of this.#watches)
      if (watch.of === "command" || !found.has(watch.ward)) found.set(watch.ward, watch);
    return [...found.values()];
  }

  async #lookAtDisk(watches: readonly Watch[]): Promise<void> {
    const runsOut = ({ ward }: Watch): boolean => {
      const free = ward.look(this.#options.free);
      return free !== undefined && isScarce(free);
    };
    stopLargestWriter(watches.filter(runsOut));
    for (const watch of watches) if (this.#watches.has(watch)) await this.#keepDisk(watch);
  }

  async #keepDisk(watch: Watch): Promise<void> {
    const { ward } = watch;
    const { diskBytes, workspaceBytes = Infinity } = ward.limits;
    if (ward.gone < Math.min(diskBytes, workspaceBytes) / 8) return;
    ward.gone = 0;
    const processes = processesOf(ward.supervisor);
    const written = writtenBy(processes);
    const named = await this.#options.measure(ward.folders);
    if (named === undefined) return;
    const held = named + (await namelessOn(ward.folders[0], processes));
    ward.atFirst ??= Math.max(0, held - written);
    const hasGrown = held > (ward.held ?? ward.atFirst);
    ward.held = held;
    const isTooMuch = held - ward.atFirst > diskBytes || held > workspaceBytes;
    if (hasGrown && isTooMuch) stop(watch, "disk");
  }
}

/** How long from one look to the next. */
const paces = { quick: 200, slow: 1_000 };

export interface WardenOptions {
  /** What is left of the disk that the folder is on. */
  readonly free: (folder: string) => Free;
  /** What folders take on the disk; undefined: it cannot be found out. */
  readonly measure: (folders: readonly string[]) => Promise<number | undefined>;
  readonly everyMs?: number;
}

export interface Free {
  readonly bytes: number;
  readonly ofBytes: number;
  readonly files: number;
  /** 0: the file system has as many as there is room for. */
  readonly ofFiles: number;
}

/** An environment as the warden knows it, for as long as this process has it open. */
export class Ward {
  readonly supervisor: ProcessIdentity;
  readonly limits: EnvironmentLimits;
  /** Host folders that count, all on one disk. */
  readonly folders: readonly [string, ...string[]];
  /** Undefined: the kernel keeps its limit. */
  readonly memory: HeldMemory | undefined;
  /** What else is to be looked at as often. */
  readonly onLook: (() => void) | undefined;
  /** Gone from the disk since its folders were last measured. */
  gone = 0;
  /** Gone from the disk between the last two looks. */
  lost = 0;
  /** What its folders took before it wrote. */
  atFirst: number | undefined;
  /** What they took when they were last measured. */
  held: number | undefined;
  /** What its processes had written at the last look at a disk that runs out. */
  written: number | undefined;
  /** How many looks found no room for anything. */
  timesFull = 0;
  #free: Free | undefined;

  constructor({ supervisor, limits, folders, memory, onLook }: WardOptions) {
    this.supervisor = supervisor;
    this.limits = limits;
    this.folders = folders;
    this.onLook = onLook;
    if (memory !== undefined) this.memory = new HeldMemory({ supervisor, disk: folders[0], ...memory });
  }

  /** What it takes before the first look counts, too. */
  lookFirst(freeAt: WardenOptions["free"]): void {
    if (this.#free === undefined) this.look(freeAt);
  }

  /**
   * What is left of its disk, and adds what has gone since the last look. Undefined: its folder cannot be found now, and may be at the
   * next look; nobody else is left unwatched for that.
   */
  look(freeAt: WardenOptions["free"]): Free | undefined {
    const before = this.#free;
    try {
      this.#free = freeAt(this.folders[0]);
    } catch {
      return undefined;
    }
    this.lost = before === undefined ? 0 : goneBetween(before, this.#free);
    this.gone += this.lost;
    if (isFull(this.#free)) this.timesFull++;
    return this.#free;
  }
}

export interface WardOptions extends Pick<Ward, "supervisor" | "limits" | "folders">, Partial<Pick<Ward, "onLook">> {
  /** Where its memory has to be looked at. */
  readonly memory: WatchedMemory | undefined;
}

export interface WatchedMemory {
  /** Folders, as they are seen from inside, whose files are kept in memory. */
  readonly scratch: readonly string[];
}

export function freeAt(folder: string): Free {
  const { bavail, blocks, bsize, ffree, files } = statfsSync(folder);
  return { bytes: bavail * bsize, ofBytes: blocks * bsize, files: ffree, ofFiles: files };
}

/** Even an empty file costs: an inode, its name, and the time of whoever removes it. */
export const fileBytes = 4096;

interface Watch {
  readonly ward: Ward;
  readonly of: "command" | "environment";
  readonly stop: (limit: LimitHit) => void;
  stopped: boolean;
}

/**
 * Those stopped before are still on their way out, and may leave enough. Where the disk gets fuller and nobody is seen to write, whoever hides it is
 * taken to.
 */
function stopLargestWriter(scarce: readonly Watch[]): void {
  const writers = scarce.filter(({ ward }) => writesNow(ward));
  if (scarce.some(({ stopped }) => stopped)) return;
  const [largest] = writers.toSorted((a, b) => (b.ward.written ?? 0) - (a.ward.written ?? 0));
  const found = largest ?? scarce.find(({ ward }) => ward.lost > 0 && isHiding(processesOf(ward.supervisor)));
  if (found !== undefined) stop(found, "disk");
}

/** Whether its processes have written since the last time that this was asked. */
function writesNow(ward: Ward): boolean {
  const before = ward.written;
  ward.written = writtenBy(processesOf(ward.supervisor));
  return before !== undefined && ward.written > before;
}

async function keepMemory(watch: Watch): Promise<void> {
  const { memory, limits } = watch.ward;
  if ((await memory?.isMoreThan(limits.memoryBytes)) === true) stop(watch, "memory");
}

/** What they hold open on the disk of a folder that has no name any more. */
async function namelessOn(folder: string, pids: readonly number[]): Promise<number> {
  const disk = (await stat(folder).catch(() => undefined))?.dev;
  const { files } = await namelessOf(pids);
  return sum(files, ({ device, bytes }) => (device === disk ? bytes : 0));
}

function stop(watch: Watch, limit: LimitHit): void {
  if (watch.stopped) return;
  watch.stopped = true;
  watch.stop(limit);
}

const gibibyte = 2 ** 30;

/** What is kept free for everybody else: a twentieth of the disk, and a gibibyte at most. */
function reserveOf(bytes: number): number {
  return Math.min(gibibyte, bytes / 20);
}

function isScarce({ bytes, ofBytes, files, ofFiles }: Free): boolean {
  return bytes < reserveOf(ofBytes) || files < ofFiles / 20;
}

/** So little that not even what a command prints may fit. */
export function isFull({ bytes, files, ofFiles }: Free): boolean {
  return bytes < 2 ** 16 || (ofFiles > 0 && files === 0);
}

function goneBetween(before: Free, now: Free): number {
  return Math.max(0, before.bytes - now.bytes) + Math.max(0, before.files - now.files) * fileBytes;
}
