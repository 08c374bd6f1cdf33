import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DaemonInfo } from "@corral/protocol";
import type { World } from "../world.ts";

export interface RecordedDaemon extends DaemonInfo {
  readonly token: string;
}

export type WhoseDaemon = Pick<World, "home" | "token">;

/**
 * What the home says about its daemon. The process is looked up too: after a crash the old port may
 * belong to a stranger, and the token is not for strangers.
 */
export function recordedDaemon({ home, token: given }: WhoseDaemon): RecordedDaemon | undefined {
  try {
    const info = infoIn(readFileSync(join(home, "daemon.json"), "utf8"));
    const token = given ?? readFileSync(join(home, "token"), "utf8").trim();
    return info !== undefined && isAlive(info.pid) ? { ...info, token } : undefined;
  } catch {
    return undefined;
  }
}

/** Looked at by hand: most commands begin here, and the schemas take longer to load than all the rest. */
function infoIn(text: string): DaemonInfo | undefined {
  const { url, pid, version, stopping } = JSON.parse(text) as Partial<DaemonInfo>;
  if (typeof url !== "string" || typeof version !== "string" || !Number.isSafeInteger(pid)) return undefined;
  if (pid === undefined || pid <= 0) return undefined;
  return { url, pid, version, ...(stopping === true ? { stopping } : {}) };
}

/**
 * A process that is not ours to signal is not our daemon either. A zombie is gone: it runs nothing more, however late
 * its parent is to collect it.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

/** Where there is no /proc nothing tells, and it is taken for alive. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses may hold any character, so the state is looked for behind the last of them.
    return stat.startsWith("Z", stat.lastIndexOf(")") + 2);
  } catch {
    return false;
  }
}
