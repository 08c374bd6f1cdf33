import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { unescaped } from "../system/mountinfo.ts";

/** One of the kernel's trees of cgroups, as this process sees it. */
export interface Hierarchy {
  readonly version: 1 | 2;
  /** Of version 1: what the tree is for. In version 2 each cgroup says which it has. */
  readonly controllers: readonly string[];
  /** Where the tree is mounted. */
  readonly mount: string;
  /** The cgroup that this process is in. */
  readonly own: string;
}

/** The folders of the cgroups that a process is in, where this process sees them. */
export function cgroupsOf(pid: number): string[] {
  return hierarchies("/proc/self", `/proc/${pid}/cgroup`).map(({ own }) => own);
}

/** The trees that are mounted and in which this process's own cgroup can be seen. */
export function hierarchies(process = "/proc/self", cgroup = `${process}/cgroup`): Hierarchy[] {
  const memberships = read(cgroup).map(parseMembership);
  return read(`${process}/mountinfo`).flatMap((line) => {
    const mount = parseMount(line);
    if (mount === undefined) return [];
    const path = memberships.find((each) => isOf(mount, each))?.path;
    const inside = path === undefined ? ".." : relative(mount.root, path);
    if (inside.startsWith("..")) return [];
    return [{ ...pick(mount), own: join(mount.mount, inside) }];
  });
}

interface Mount extends Omit<Hierarchy, "own"> {
  /** The cgroup that is seen at the mount. */
  readonly root: string;
}

/** `36 25 0:31 ROOT MOUNT OPTIONS [TAGS…] - TYPE SOURCE SUPER` */
function parseMount(line: string): Mount | undefined {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , root = "", mount = ""] = before.split(" ").map(unescaped);
  const [type, , options = ""] = after.split(" ");
  if (type === "cgroup2") return { version: 2, controllers: [], root, mount };
  if (type === "cgroup") return { version: 1, controllers: options.split(","), root, mount };
  return undefined;
}

/** `NUMBER:CONTROLLERS:PATH`, with number 0 and no controllers for version 2. */
function parseMembership(line: string): { controllers: string[]; path: string } {
  const [, controllers = "", ...path] = line.split(":");
  return { controllers: controllers === "" ? [] : controllers.split(","), path: path.join(":") };
}

function isOf({ version, controllers }: Mount, membership: { controllers: readonly string[] }): boolean {
  if (version === 2) return membership.controllers.length === 0;
  return membership.controllers.length > 0 && membership.controllers.every((each) => controllers.includes(each));
}

function pick({ version, controllers, mount }: Mount): Omit<Hierarchy, "own"> {
  return { version, controllers, mount };
}

function read(path: string): string[] {
  try {
    return readFileSync(path, "utf8").trim().split("\n");
  } catch {
    return [];
  }
}
