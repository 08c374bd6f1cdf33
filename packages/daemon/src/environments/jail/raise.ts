import { CorralError, type ProcessIdentity } from "@corral/protocol";
import { closeSync, fstatSync, lstatSync, openSync } from "node:fs";
import { join } from "node:path";
import type { EnvironmentPlan } from "../port.ts";
import {
  type Bind,
  closeSiblings,
  Guard,
  type JailUser,
  openSiblings,
  type WalledFolder,
  type WorkspaceOwner,
} from "../walled/index.ts";
import { mountedEtc } from "./etc.ts";
import { seccompFile } from "./made.ts";
import { firstPassedFd, startJail } from "./start.ts";
import { type SystemFolder, walls } from "./walls.ts";

/**
 * Opens what a jail is given, builds its walls and starts it. When this resolves, the walls stand, and nothing of the
 * agent has run yet.
 */
export async function raiseJail(raising: Raising): Promise<ProcessIdentity> {
  const { plan, whose, folder } = raising;
  const guard = new Guard(plan.workspace, { access: plan.access, whose, jailFolder: folder.path, missing: "later" });
  const missing = guard.makeMissing();
  // Whoever needs them is told.
  missing.catch(() => undefined);
  try {
    const siblings = openSiblings(plan.siblings);
    try {
      const binds = [...guard.binds, ...siblings];
      const cover = async () => {
        await missing;
        return guard.covered;
      };
      const supervisor = await startEitherWay(raising, { binds, cover });
      if (guard.isIntact() && (raising.bubblewrap.bindsBy === "descriptor" || isBound(supervisor, binds)))
        return supervisor;
      throw new CorralError("environment.gone", "The workspace was changed while its jail was opened.", {
        retry: "now",
      });
    } finally {
      closeSiblings(siblings);
    }
  } finally {
    await missing.catch(() => undefined);
    guard.close();
  }
}

export interface Raising {
  readonly bubblewrap: Bubblewrap;
  readonly plan: EnvironmentPlan;
  readonly folder: WalledFolder;
  readonly whose: WorkspaceOwner;
  readonly user: JailUser;
  readonly made: string;
  readonly systemFolders: readonly SystemFolder[];
  readonly command: readonly string[];
  readonly doors: readonly string[];
  /** Makes what is behind the doors, for the process that waits before them. */
  readonly limit: (pid: number) => void;
}

export interface Bubblewrap {
  readonly path: string;
  /** Learned from what it says: binding by descriptor came with 0.10, and to older ones with security updates. */
  bindsBy: "descriptor" | "path";
}

interface Opened {
  readonly binds: readonly Bind[];
  /** What is to be covered, as soon as it is there. */
  readonly cover: () => Promise<readonly string[]>;
}

async function startEitherWay(raising: Raising, opened: Opened): Promise<ProcessIdentity> {
  try {
    return await start(raising, opened);
  } catch (error) {
    if (raising.bubblewrap.bindsBy === "path" || !/unknown option --(ro-)?bind-fd/i.test(String(error))) throw error;
    raising.bubblewrap.bindsBy = "path";
    return start(raising, opened);
  }
}

async function start(raising: Raising, { binds, cover }: Opened): Promise<ProcessIdentity> {
  const { bubblewrap, plan, folder, user, made, systemFolders, command, doors, limit } = raising;
  const seccomp = openSync(join(made, seccompFile(plan.network)), "r");
  try {
    const options = async () =>
      walls(plan, {
        user,
        made,
        systemFolders,
        mountedEtc: mountedEtc(),
        spool: folder.spool,
        runtime: process.execPath,
        seccompFd: firstPassedFd,
        binds: binds.map((each, index) => ({ ...each, fd: firstPassedFd + 1 + index })),
        bindsBy: bubblewrap.bindsBy,
        covered: await cover(),
      });
    const passed = [seccomp, ...binds.map(({ fd }) => fd)];
    const record = (supervisor: ProcessIdentity) => folder.recordSupervisor(supervisor);
    return await startJail({
      bubblewrap: bubblewrap.path,
      options,
      command,
      spool: folder.spool,
      doors,
      limit,
      passed,
      record,
    });
  } finally {
    closeSync(seccomp);
  }
}

/** Bound by path, something else may have been at the path by then. */
function isBound({ pid }: ProcessIdentity, binds: readonly Bind[]): boolean {
  return binds.every(({ fd, inside }) => {
    const [seen, opened] = [lstatSync(`/proc/${pid}/root${inside}`, { throwIfNoEntry: false }), fstatSync(fd)];
    return seen?.ino === opened.ino && seen.dev === opened.dev;
  });
}
