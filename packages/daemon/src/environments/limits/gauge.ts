import type { EnvironmentLimits, LimitHit, ProcessIdentity } from "@corral/protocol";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { processesOf } from "./processes.ts";
import type { Guard, Guarded } from "./guard.ts";

/** What a shell asks about the limits of its environment, once for each command. */
export interface Gauge {
  /** A command begins; `stop` is called, at most once, when it has to end because of a limit. */
  watch(stop: () => void): CommandWatch;
}

export interface CommandWatch {
  /** Whether what the command left behind leaves no room for another process. */
  isFull(): boolean;
  /** The command is over. Tells the limit that it ran into; can be repeated. */
  end(exitCode?: number): LimitHit | undefined;
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
  readonly guard: Guard;
  readonly guarded: Guarded;
}

export function openGauge({ supervisor, cgroups, limits, guard, guarded }: GaugeOptions): Gauge {
  const files = counters(cgroups);
  return {
    watch(stop) {
      const before = hits(files);
      let stoppedFor: LimitHit | undefined;
      const unwatch = guard.watch(guarded, (limit) => {
        stoppedFor = limit;
        stop();
      });
      let ended: { readonly limit: LimitHit | undefined } | undefined;
      const hit = () => stoppedFor ?? risen(before, hits(files));
      return {
        isFull() {
          const full = files.pids === undefined ? isCrowded() : hit() === "pids" && isAtMost(files.pids);
          if (full) stoppedFor ??= "pids";
          return full;
        },
        end(exitCode) {
          if (ended === undefined) {
            unwatch();
            ended = { limit: hit() ?? (exitCode === endedByFileSize ? "disk" : undefined) };
          }
          return ended.limit;
        },
      };
    },
  };

  /** Without a cgroup nothing counts refusals; that there is no room is all there is to see. */
  function isCrowded(): boolean {
    return processesOf(supervisor, limits.pids + 1).length >= limits.pids;
  }
}

/** What a shell says of a program ended by SIGXFSZ: its file became larger than all that the environment may add. */
const endedByFileSize = 128 + 25;

/** A limit of memory ends what ran into it; one of processes only refuses, so the first says more. */
function risen(before: Hits, now: Hits): LimitHit | undefined {
  if (now.memory > before.memory) return "memory";
  return now.pids > before.pids ? "pids" : undefined;
}

interface Counters {
  readonly memory: string | undefined;
  /** The cgroup that counts processes. */
  readonly pids: string | undefined;
}

function counters(cgroups: readonly string[]): Counters {
  const memory = cgroups.flatMap((folder) => ["memory.events", "memory.oom_control"].map((file) => join(folder, file)));
  return {
    memory: memory.find((file) => existsSync(file)),
    pids: cgroups.find((folder) => existsSync(join(folder, "pids.events"))),
  };
}

function hits({ memory, pids }: Counters): Hits {
  return {
    memory: memory === undefined ? 0 : valueIn(memory, "oom_kill"),
    pids: pids === undefined ? 0 : valueIn(join(pids, "pids.events"), "max"),
  };
}

function isAtMost(folder: string): boolean {
  return Number(look(join(folder, "pids.current"))) >= Number(look(join(folder, "pids.max")));
}

function valueIn(file: string, key: string): number {
  const line = look(file)
    .split("\n")
    .find((each) => each.startsWith(`${key} `));
  return line === undefined ? 0 : Number(line.slice(key.length + 1));
}

/** What cannot be read counts for nothing: it names a limit, it does not keep one. */
function look(file: string): string {
  try {
    return readFileSync(file, "latin1").trim();
  } catch {
    return "";
  }
}
