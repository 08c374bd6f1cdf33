import { createHash } from "node:crypto";
import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Hierarchy } from "./hierarchy.ts";

export const controllers = ["pids", "memory", "cpu"] as const;
export type Controller = (typeof controllers)[number];

/** Where the cgroups of one home's environments are made, in one tree. */
export interface CgroupParent {
  readonly version: 1 | 2;
  /** The limits that are kept here. */
  readonly controllers: readonly Controller[];
  readonly folder: string;
  /** Makes the folder, with what its children need. Can be repeated. */
  readonly prepare: () => void;
}

/**
 * Finds the cgroups that this process can make others in, each by really making it: version 2 first, then version 1 for the
 * controllers that are left. Limits without a cgroup have to be kept by other means.
 */
export function findCgroupParents(
  trees: readonly Hierarchy[],
  { home, isRoot }: { home: string; isRoot: boolean },
): CgroupParent[] {
  const name = `corral-${createHash("sha256").update(home).digest("hex").slice(0, 12)}`;
  const unified = trees.filter(({ version }) => version === 2).flatMap((tree) => parentInUnified(tree, name, isRoot));
  const kept = new Set(unified.flatMap((parent) => parent.controllers));
  const legacy = trees.filter(({ version }) => version === 1).flatMap((tree) => parentInLegacy(tree, name, kept));
  return [...unified, ...legacy];
}

function parentInLegacy(tree: Hierarchy, name: string, kept: ReadonlySet<Controller>): CgroupParent[] {
  const own = controllers.filter((each) => tree.controllers.includes(each) && !kept.has(each));
  const folder = join(tree.own, name);
  const prepare = () => makeFolder(folder);
  return own.length > 0 && works(folder, prepare) ? [{ version: 1, controllers: own, folder, prepare }] : [];
}

function parentInUnified(tree: Hierarchy, name: string, isRoot: boolean): CgroupParent[] {
  const parent = isRoot ? { folder: tree.mount, isOurs: true } : delegated(tree);
  if (parent === undefined) return [];
  const offered = words(parent.folder, parent.isOurs ? "cgroup.controllers" : "cgroup.subtree_control");
  const own = controllers.filter((each) => offered.includes(each));
  if (own.length === 0) return [];
  if (parent.folder === tree.own && !isRoot) moveAside(parent.folder);
  const folder = join(parent.folder, name);
  const prepare = () => {
    enable(parent.folder, own);
    makeFolder(folder);
    enable(folder, own);
  };
  return works(folder, prepare) ? [{ version: 2, controllers: own, folder, prepare }] : [];
}

/**
 * The nearest cgroup above this process's own in which an ordinary user may make others, for instance the user's own
 * service manager's. A process can be moved only below a cgroup that its mover may write to. Where nothing above is
 * the user's, the process's own cgroup was handed to it (`Delegate=`), if it can be written.
 */
function delegated({ mount, own }: Hierarchy): { folder: string; isOurs: boolean } | undefined {
  if (!isWritable(own)) return undefined;
  for (let above = dirname(own); above.startsWith(mount) && isWritable(above); above = dirname(above)) {
    // Others look after it: what it hands on is taken, and nothing about it is changed.
    const handsOn = words(above, "cgroup.subtree_control");
    if (controllers.some((each) => handsOn.includes(each))) return { folder: above, isOurs: false };
  }
  const isHandedToUs = !isWritable(dirname(own)) || own === mount;
  return isHandedToUs ? { folder: own, isOurs: true } : undefined;
}

/** Version 2 gives limits only to children of cgroups that hold no process themselves. */
function moveAside(own: string): void {
  const aside = join(own, "corral-itself");
  try {
    makeFolder(aside);
    for (const pid of words(own, "cgroup.procs")) writeFileSync(join(aside, "cgroup.procs"), pid);
  } catch {
    // Then the controllers cannot be had, and that is found out by trying.
  }
}

function enable(folder: string, wanted: readonly Controller[]): void {
  const enabled = words(folder, "cgroup.subtree_control");
  const missing = wanted.filter((each) => !enabled.includes(each));
  if (missing.length === 0) return;
  writeFileSync(join(folder, "cgroup.subtree_control"), missing.map((each) => `+${each}`).join(" "));
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function works(folder: string, prepare: () => void): boolean {
  try {
    prepare();
  } catch {
    return false;
  }
  try {
    rmdirSync(folder);
  } catch {
    // It holds an environment already.
  }
  return true;
}

function words(folder: string, file: string): string[] {
  try {
    return readFileSync(join(folder, file), "latin1").split(/\s+/).filter(Boolean);
  } catch {
    return [];
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    accessSync(join(folder, "cgroup.procs"), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
