import type { EnvironmentLimits, EnvironmentState } from "@corral/protocol";
import { keptEnvironment } from "../kept.ts";
import { type Gauge, openGauge, Ward, type Warden } from "../limits/index.ts";
import type { Environment } from "../port.ts";
import { endProcess, isAlive, isEnding, signal } from "../process-identity.ts";
import { SpoolUnreadable } from "../spool-file.ts";
import type { WalledFolder } from "./folder.ts";

/** An environment whose first process stands behind walls, as long as this process holds it. Throws when it cannot be talked to. */
export function walledEnvironment(folder: WalledFolder, state: EnvironmentState, held: Held): Environment {
  const { gauge, letGo } = watchLimits(folder, state, held);
  const kept = keptBehindWalls(folder, state, { ...held, gauge, letGo });
  const { hasGone, ...abilities } = kept;
  return {
    ...abilities,
    state,
    get isOpen() {
      return kept.isOpen;
    },
    detach: () => {
      letGo();
      kept.detach();
    },
    kill: async () => {
      await folder.endProcesses();
      hasGone();
    },
    end: async () => {
      letGo();
      await folder.endProcesses().finally(() => kept.detach());
      await held.remove();
    },
  };
}

/** None, when it does not live; one that lives and cannot be talked to is ended, for it is of no use to anybody. */
export async function findAlive(
  { supervisor }: EnvironmentState,
  open: () => Environment,
): Promise<Environment | undefined> {
  if (isEnding(supervisor)) await endProcess(supervisor);
  if (!isAlive(supervisor)) return undefined;
  try {
    return open();
  } catch (error) {
    if (error instanceof SpoolUnreadable && error.mayPass) throw error;
    await endProcess(supervisor);
    return undefined;
  }
}

export interface Held {
  readonly warden: Warden;
  readonly limits: EnvironmentLimits;
  /** No cgroup keeps its memory. */
  readonly isMemoryWatched: boolean;
  /** What is left of it when its processes have ended. */
  readonly remove: () => Promise<void>;
}

interface Watched {
  readonly gauge: Gauge;
  readonly letGo: () => void;
}

function watchLimits({ spool }: WalledFolder, state: EnvironmentState, held: Held): Watched {
  const { supervisor, cgroups, workspace } = state;
  const { warden, limits, isMemoryWatched } = held;
  const ward = new Ward({ supervisor, limits, folders: [workspace, spool], isMemoryWatched });
  const gauge = openGauge({ supervisor, cgroups, limits, warden, ward });
  const unwatch = warden.watch(ward, "environment", () => void signal(supervisor, "SIGKILL"));
  return {
    gauge,
    letGo: () => {
      unwatch();
      gauge.close();
    },
  };
}

function keptBehindWalls(
  { spool }: WalledFolder,
  { words, supervisor }: EnvironmentState,
  { limits, gauge, letGo }: Held & Watched,
): ReturnType<typeof keptEnvironment> {
  try {
    return keptEnvironment({
      words,
      spool,
      outputBytes: limits.outputBytes,
      gauge,
      keeper: {
        signal: (name) => void signal(supervisor, name),
        kill: () => void signal(supervisor, "SIGKILL"),
      },
    });
  } catch (error) {
    letGo();
    throw error;
  }
}
