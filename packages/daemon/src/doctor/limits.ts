import type { Finding } from "@corral/protocol";
import { readFileSync } from "node:fs";
import type { KeptLimit } from "../environments/index.ts";

/** Each limit as it was seen on a jail that was really opened. A soft one that could be hard is warned of. */
export function limits(kept: readonly KeptLimit[]): Finding[] {
  return kept.map((each) => ({
    name: `${each.limit} limit`,
    state: each.fix === undefined || each.kept === "hard" ? "ok" : "warning",
    found: `${each.kept}, ${each.by}`,
    why: lost[each.limit],
    ...(each.kept === "soft" && each.fix !== undefined && { fix: each.fix }),
  }));
}

const lost: Record<KeptLimit["limit"], string> = {
  processes: "keeps a fork bomb in its jail; soft, it may slow down the machine for a while",
  memory:
    "keeps an agent's programs from taking the machine's memory; soft, they may between two looks, and whoever sets out to may have the kernel hold more for it",
  cpu: "leaves processor time for everybody else; soft, a machine under load is slower",
  watches:
    "keeps an agent from taking all that its user has to be told of changed files by (inotify); soft, one may leave none to the others, " +
    "nor to whoever owns its folder",
  disk: "keeps an agent from filling the disk; soft, it may write a little more than it should",
};

/** What there is, whoever may use it; whether it can be used is seen at the limits. */
export function cgroups(mounts = "/proc/self/mounts"): Finding {
  const about = { name: "cgroups", why: "make limits of processes, memory and processor hard" };
  const types = new Set(mountedTypes(mounts));
  const [isOld, isNew] = [types.has("cgroup"), types.has("cgroup2")];
  if (isOld && isNew) return { ...about, state: "ok", found: "version 1, with version 2 beside it" };
  if (isOld || isNew) return { ...about, state: "ok", found: isNew ? "version 2" : "version 1" };
  const fix = "sudo mount -t cgroup2 none /sys/fs/cgroup";
  return { ...about, state: "warning", found: "none mounted", fix };
}

function mountedTypes(mounts: string): string[] {
  try {
    return readFileSync(mounts, "utf8")
      .split("\n")
      .map((line) => line.split(" ")[2] ?? "");
  } catch {
    return [];
  }
}
