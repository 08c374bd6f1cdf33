import { existsSync, readFileSync } from "node:fs";

/** What an environment may have of what tells programs about changed files (inotify). */
export interface WatchShare {
  readonly instances: number;
  readonly watches: number;
}

/**
 * A quarter of what its user has, who has to go on as well: an editor, and the other environments. Undefined: the kernel does not keep it for each
 * user namespace.
 */
export function watchShare(): WatchShare | undefined {
  if (!existsSync("/proc/sys/user/max_inotify_watches")) return undefined;
  const [instances, watches] = [settingOf("max_user_instances"), settingOf("max_user_watches")];
  return { instances: quarter(instances), watches: quarter(watches) };
}

function quarter(most: number): number {
  return Math.max(1, Math.floor(most / 4));
}

function settingOf(name: string): number {
  return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, "latin1"));
}
