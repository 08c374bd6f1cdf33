import type { EnvironmentState, ProcessIdentity } from "@corral/protocol";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { identify } from "../system/process-identity.ts";

/** How many this process has, and how many of them have a name in the folder. */
export function descriptorsIn(folder: string): { all: number; named: number } {
  const targets = readdirSync("/proc/self/fd").flatMap((fd) => linkAt(`/proc/self/fd/${fd}`) ?? []);
  return { all: targets.length, named: targets.filter((target) => target.startsWith(folder)).length };
}

/** Mounts of what is in the folder, in every namespace that can be looked into. */
export function mountsIn(folder: string): string[] {
  const namespaces = new Map<string, string>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const namespace = linkAt(`/proc/${pid}/ns/mnt`);
    if (namespace !== undefined && !namespaces.has(namespace))
      namespaces.set(namespace, textAt(`/proc/${pid}/mountinfo`));
  }
  return [...namespaces.values()].flatMap((text) => text.split("\n").filter((line) => line.includes(folder)));
}

/** None, when it has gone meanwhile or is somebody else's. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** All that descends from the environment's first process, as the host sees it. */
export function processesIn({ supervisor }: EnvironmentState): ProcessIdentity[] {
  const below = (pid: number): number[] => {
    const children = childrenOf(pid).split(" ").filter(Boolean).map(Number);
    return children.flatMap((child) => [child, ...below(child)]);
  };
  return below(supervisor.pid).flatMap((pid) => identify(pid) ?? []);
}

/** None, when it has ended meanwhile. */
function childrenOf(pid: number): string {
  return textAt(`/proc/${pid}/task/${pid}/children`);
}

function textAt(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
