import type { EnvironmentLimits, EnvironmentState } from "@corral/protocol";
import { existsSync, readFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import type { KeptLimit } from "../port.ts";
import type { Hierarchy } from "./hierarchy.ts";
import { controllers } from "./cgroup-parent.ts";
import type { WatchShare } from "./watches.ts";

/** How the limits of an open environment are kept: what the kernel says of its first process, not what was asked for. */
export function keptLimits(
  { supervisor, cgroups }: Pick<EnvironmentState, "supervisor" | "cgroups">,
  limits: EnvironmentLimits,
  facts: LimitFacts,
): KeptLimit[] {
  const joined = look(`/proc/${supervisor.pid}/cgroup`).split("\n");
  // Where a tree's root is depends on who looks; the end of the path does not.
  const held = cgroups.filter((folder) => joined.some((line) => line.endsWith(folder.split("/").slice(-2).join("/"))));
  const fix = facts.trees === undefined ? {} : cgroupFix(facts.trees);
  const byCgroup = (file: string, otherFile = file) => {
    const folder = held.find((each) => existsSync(join(each, file)) || existsSync(join(each, otherFile)));
    return folder === undefined ? undefined : `cgroup v${existsSync(join(folder, "cgroup.events")) ? 2 : 1}`;
  };
  const kept = (by: string | undefined, otherwise: Omit<KeptLimit, "limit">) =>
    by === undefined ? otherwise : ({ kept: "hard", by } as const);
  const resources = look(`/proc/${supervisor.pid}/limits`);
  return [
    { limit: "processes", ...kept(byCgroup("pids.max"), { ...processes(resources, limits, facts), ...fix }) },
    { limit: "memory", ...kept(byCgroup("memory.max", "memory.limit_in_bytes"), { ...memory, ...fix }) },
    { limit: "cpu", ...kept(byCgroup("cpu.max", "cpu.cfs_quota_us"), { ...cpu, ...fix }) },
    { limit: "disk", kept: "soft", by: disk },
    { limit: "watches", ...watches(facts) },
  ];
}

export interface LimitFacts {
  readonly isRoot: boolean;
  /** Whether root has another user for each workspace. */
  readonly hasOwnUsers?: boolean;
  readonly trees?: readonly Hierarchy[];
  /** Of inotify; undefined: it has no share of its own. */
  readonly watches?: WatchShare | undefined;
}

const memory = {
  kept: "soft",
  by: "RLIMIT_DATA for each program, and a look at all of them and at files in memory five times a second; not counted is what the kernel holds for them, such as socket buffers",
} as const;
const cpu = { kept: "soft", by: "a lower priority (nice)" } as const;
const disk =
  "each file by RLIMIT_FSIZE (hard), the rest by a look five times a second; a reserve of 1 GiB or 5 % stays free";

function processes(resources: string, { pids }: EnvironmentLimits, facts: LimitFacts): Omit<KeptLimit, "limit"> {
  const { isRoot, hasOwnUsers = false } = facts;
  const set = /^Max processes\s+(\d+)/m.exec(resources)?.[1] === String(pids);
  if (!set) return { kept: "soft", by: "nothing but the time limit of each command" };
  if (isRoot && hasOwnUsers)
    return { kept: "hard", by: "RLIMIT_NPROC of the workspace's own user; in place, of the folder's owner" };
  // Root's jails have no user namespace of their own, and older kernels count a user's processes everywhere.
  if (isRoot || !countsByNamespace(release())) return { kept: "soft", by: "RLIMIT_NPROC, shared by all jails" };
  return { kept: "hard", by: "RLIMIT_NPROC in the jail's own user namespace" };
}

function watches({ watches: share, isRoot, hasOwnUsers = false }: LimitFacts): Omit<KeptLimit, "limit"> {
  if (share === undefined && isRoot && hasOwnUsers)
    return {
      kept: "hard",
      by: "fs.inotify.max_user_instances of the workspace's own user; in place it shares those of the folder's owner",
    };
  if (share === undefined)
    return { kept: "soft", by: "fs.inotify.max_user_instances, shared by all that run as one user" };
  const { instances } = share;
  return {
    kept: "hard",
    by: `a quarter of its user's in the jail's own user namespace, ${instances} instances of inotify`,
  };
}

function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map((each) => Number.parseInt(each, 10));
  return major > 5 || (major === 5 && minor >= 14);
}

/** What gives an ordinary user cgroups of their own. */
function cgroupFix(trees: readonly Hierarchy[]): { fix?: string } {
  const legacy = trees.filter((tree) => controllers.some((each) => tree.controllers.includes(each)));
  if (legacy.length > 0) return { fix: handOver(legacy.map(({ own }) => own)) };
  const unified = trees.find(({ version }) => version === 2);
  if (unified === undefined) return {};
  if (!existsSync("/run/systemd/system")) {
    const enable = `echo '+pids +memory +cpu' | sudo tee ${unified.mount}/cgroup.subtree_control`;
    return { fix: `${enable}; ${handOver([unified.mount])}` };
  }
  const dropIn = "/etc/systemd/system/user@.service.d";
  return {
    fix:
      `sudo mkdir -p ${dropIn} && printf '[Service]\\nDelegate=cpu memory pids\\n' | sudo tee ${dropIn}/corral.conf && ` +
      "sudo systemctl daemon-reload, log in again, then start the daemon by: " +
      "systemd-run --user --scope --property=Delegate=yes corral serve",
  };
}

/** By hand, until the machine starts again. */
function handOver(folders: readonly string[]): string {
  return (
    `for t in ${folders.join(" ")}; do d=$t/corral-$USER; sudo mkdir -p $d && ` +
    "sudo chown $USER $d $d/cgroup.* && echo $$ | sudo tee $d/cgroup.procs; done, then start the daemon from the same shell"
  );
}

function look(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
