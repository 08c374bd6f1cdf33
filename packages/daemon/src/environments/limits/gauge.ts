import type { EnvironmentLimits, LimitHit, ProcessIdentity } from "@corral/protocol";
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { processesOf } from "./processes.ts";
import type { Ward, Warden } from "./warden.ts";

/** What a shell asks about the limits of its environment, once for each command. */
export interface Gauge {
  /** A command begins; `stop` is called, at most once, when it has to end because of a limit. */
  watch(stop: () => void): CommandWatch;
  /** Nobody asks any more. */
  close(): void;
}

export interface CommandWatch {
  /** Whether what the command left behind leaves no room for another process. */
  isFull(): boolean;
  /** The command is over. Tells the limit that it ran into; can be repeated. */
  end(seen?: SeenOfCommand): LimitHit | undefined;
}

export interface SeenOfCommand {
  readonly exitCode: number | undefined;
  readonly stderr: string;
}

/** How often an environment ran into a limit, counted from its beginning. */
interface Hits {
  readonly memory: number;
  readonly pids: number;
}

export interface GaugeOptions {
  readonly supervisor: ProcessIdentity;
  readonly cgroups: readonly string[];
  readonly limits: EnvironmentLimits;
  readonly warden: Warden;
  readonly ward: Ward;
}

export function openGauge({ supervisor, cgroups, limits, warden, ward }: GaugeOptions): Gauge {
  const files = counters(cgroups);
  return {
    watch(stop) {
      const before = hits(files);
      const { timesFull } = ward;
      // What `isFull` has just read serves the end too.
      let now: Hits | undefined;
      let stoppedFor: LimitHit | undefined;
      const unwatch = warden.watch(ward, "command", (limit) => {
        stoppedFor = limit;
        stop();
      });
      let wasCrowded = false;
      // What counts refusals needs no looks.
      const stopLooking = files.pids === undefined ? lookOften(() => (wasCrowded = isCrowded(usedUp))) : undefined;
      let ended: { readonly limit: LimitHit | undefined } | undefined;
      return {
        isFull() {
          now = hits(files);
          const isOutOfPids = files.pids === undefined ? isCrowded() : now.pids > before.pids && isUsedUp(files.pids);
          const isOutOfMemory = now.memory > before.memory && isUsedUp(files.memory);
          if (isOutOfPids || isOutOfMemory) stoppedFor ??= risen(before, now) ?? "pids";
          return isOutOfPids || isOutOfMemory;
        },
        end({ exitCode, stderr = "" }: Partial<SeenOfCommand> = {}) {
          if (ended === undefined) {
            unwatch();
            stopLooking?.();
            const isRefused = wasCrowded || (files.pids === undefined && cannotFork.test(stderr));
            const isStarved = files.memory === undefined && exitCode !== 0 && cannotAllocate.test(stderr);
            const seen = isRefused ? "pids" : isStarved ? "memory" : undefined;
            const hit = stoppedFor ?? risen(before, now ?? hits(files)) ?? seen;
            // Where there was no room nobody could write that there was none.
            const isDisk = exitCode === endedByFileSize || warden.timesFull(ward) > timesFull;
            ended = { limit: hit ?? (isDisk ? "disk" : undefined) };
          }
          return ended.limit;
        },
      };
    },
    close() {
      files.memory?.events.close();
      files.pids?.events.close();
    },
  };

  /** Without a cgroup nothing counts refusals; that there is no room is all there is to see. */
  function isCrowded(share = 1): boolean {
    return processesOf(supervisor, limits.pids + 1).length >= share * limits.pids;
  }
}

/** Soon, and then less and less often, until it has seen what it looks for; it takes a twentieth of the time at most. */
function lookOften(isSeen: () => boolean): () => void {
  let timer = setTimeout(look, firstLookMs).unref();
  let pause = firstLookMs;
  return () => clearTimeout(timer);

  function look(): void {
    const start = performance.now();
    if (isSeen()) return;
    pause = Math.max(Math.min(2 * pause, longestPauseMs), 20 * (performance.now() - start));
    timer = setTimeout(look, pause).unref();
  }
}

const firstLookMs = 20;
const longestPauseMs = 200;

/** What shells say when they are refused a process: a bomb may be over before anybody looks. */
const cannotFork = /can(?:no|')t fork|fork: (?:retry: )?Resource temporarily unavailable/i;

/** What programs say that are refused memory: without a cgroup each is held to its own, and nobody counts. V8's heap has a limit of its own. */
const cannotAllocate = /(?<!heap )out of memory|can(?:no|')t allocate memory|memory exhausted|MemoryError|bad_alloc/i;

/** What a shell says of a program ended by SIGXFSZ: its file became larger than all that the environment may add. */
const endedByFileSize = 128 + 25;

/** A limit of memory ends what ran into it; one of processes only refuses, so the first says more. */
function risen(before: Hits, now: Hits): LimitHit | undefined {
  if (now.memory > before.memory) return "memory";
  return now.pids > before.pids ? "pids" : undefined;
}

/** The files of a cgroup that tell of one limit. */
interface Counter {
  readonly events: KeptOpen;
  readonly key: string;
  readonly used: string;
  readonly most: string;
}

interface Counters {
  readonly memory: Counter | undefined;
  readonly pids: Counter | undefined;
}

function counters(cgroups: readonly string[]): Counters {
  const find = (events: string, key: string, used: string, most: string): Counter | undefined => {
    const folder = cgroups.find((each) => existsSync(join(each, events)));
    if (folder === undefined) return undefined;
    return { key, events: new KeptOpen(join(folder, events)), used: join(folder, used), most: join(folder, most) };
  };
  return {
    memory:
      find("memory.events", "oom_kill", "memory.current", "memory.max") ??
      find("memory.oom_control", "oom_kill", "memory.usage_in_bytes", "memory.limit_in_bytes"),
    pids: find("pids.events", "max", "pids.current", "pids.max"),
  };
}

function hits({ memory, pids }: Counters): Hits {
  return { memory: countOf(memory), pids: countOf(pids) };
}

function countOf(counter: Counter | undefined): number {
  return counter === undefined ? 0 : valueIn(counter.events, counter.key);
}

/** What multiplies leaves a little room from moment to moment. */
const usedUp = 0.9;

function isUsedUp(counter: Counter | undefined): boolean {
  return counter !== undefined && Number(look(counter.used)) >= usedUp * Number(look(counter.most));
}

function valueIn(file: KeptOpen, key: string): number {
  const line = file
    .read()
    .split("\n")
    .find((each) => each.startsWith(`${key} `));
  return line === undefined ? 0 : Number(line.slice(key.length + 1));
}

/** A file that is read twice with every command: to open it takes longer than to read it. What cannot be read is empty. */
class KeptOpen {
  readonly #path: string;
  #fd: number | undefined;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  read(): string {
    if (this.#isClosed) return "";
    try {
      return textOf((this.#fd ??= openSync(this.#path, "r")));
    } catch {
      return "";
    }
  }

  close(): void {
    this.#isClosed = true;
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** What cannot be read counts for nothing: it names a limit, it does not keep one. */
function look(path: string): string {
  const file = new KeptOpen(path);
  try {
    return file.read();
  } finally {
    file.close();
  }
}

/** These files are short. */
const shortText = Buffer.alloc(1024);

function textOf(fd: number): string {
  return shortText.toString("latin1", 0, readSync(fd, shortText, 0, shortText.length, 0)).trim();
}
