import type { EnvironmentLimits } from "@corral/protocol";
import { constants, setPriority } from "node:os";
import { type Hierarchy, hierarchies } from "./hierarchy.ts";
import { type Controller, controllers, findCgroupParents, type CgroupParent } from "./cgroup-parent.ts";

/** How limits are kept on this machine. */
export interface Means {
  readonly parents: readonly CgroupParent[];
  readonly trees: readonly Hierarchy[];
}

/** Found out by trying: cgroups are made and removed. */
export function findMeans(home: string): Means {
  const trees = hierarchies();
  return { trees, parents: findCgroupParents(trees, { home, isRoot: process.getuid?.() === 0 }) };
}

/** What no cgroup keeps. */
export function lacking({ parents }: Means): Controller[] {
  const kept = new Set(parents.flatMap((parent) => parent.controllers));
  return controllers.filter((each) => !kept.has(each));
}

/** For the process that is going to build an environment, where no cgroup divides the processor. */
export function giveWay(means: Means, pid: number): void {
  if (lacking(means).includes("cpu")) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
}

/**
 * Words for the keeper's shell, which sets them for itself and so for everybody after it; nobody inside can lift them
 * again. Shells name the limit of processes by different letters.
 */
export function resourceLimits(means: Means, { pids, memoryBytes, diskBytes }: EnvironmentLimits): string {
  const missing = lacking(means);
  return [
    `ulimit -f ${Math.ceil(diskBytes / 512)}`,
    ...(missing.includes("memory") ? [`ulimit -d ${Math.ceil(memoryBytes / 1024)}`] : []),
    ...(missing.includes("pids") ? [`ulimit -p ${pids} || ulimit -u ${pids}`] : []),
  ].join("; ");
}
