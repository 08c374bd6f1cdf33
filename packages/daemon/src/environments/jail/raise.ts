import { CorralError, type ProcessIdentity } from "@corral/protocol";
import { closeSync, fstatSync, lstatSync, openSync } from "node:fs";
import { join } from "node:path";
import type { EnvironmentPlan } from "../port.ts";
import { mountedEtc } from "./etc.ts";
import type { JailFolder } from "./folder.ts";
import { type Bind, Guard, type WorkspaceOwner } from "./guarded.ts";
import { seccompFile } from "./made.ts";
import { closeSiblings, openSiblings } from "./siblings.ts";
import { firstPassedFd, startJail } from "./start.ts";
import { type JailUser, type SystemFolder, walls } from "./walls.ts";

/**
 * Opens what a jail is given, builds its walls and starts it. When this resolves, the walls stand, and nothing of the
 * agent has run yet.
 */
export async function raiseJail(raising: Raising): Promise<ProcessIdentity> {
  const { plan, whose, folder } = raising;
  const guard = new Guard(plan.workspace, { access: plan.access, whose, jailFolder: folder.path });
  try {
    const siblings = openSiblings(plan.siblings);
    try {
      const binds = [...guard.binds, ...siblings];
      const supervisor = await startEitherWay(raising, { binds, covered: guard.covered });
      if (guard.isIntact() && (raising.bubblewrap.bindsBy === "descriptor" || isBound(supervisor, binds)))
        return supervisor;
      throw new CorralError("environment.gone", "The workspace was changed while its jail was opened.", {
        retry: "now",
      });
    } finally {
      closeSiblings(siblings);
    }
  } finally {
    guard.close();
  }
}

export interface Raising {
  readonly bubblewrap: Bubblewrap;
  readonly plan: EnvironmentPlan;
  readonly folder: JailFolder;
  readonly whose: WorkspaceOwner;
  readonly user: JailUser;
  readonly made: string;
  readonly systemFolders: readonly SystemFolder[];
  readonly command: readonly string[];
  /** Puts bubblewrap under the limits, before it begins. */
  readonly enter: (pid: number) => void;
}

export interface Bubblewrap {
  readonly path: string;
  /** Learned from what it says: binding by descriptor came with 0.10, and to older ones with security updates. */
  bindsBy: "descriptor" | "path";
}

type Opened = { readonly binds: readonly Bind[]; readonly covered: readonly string[] };

async function startEitherWay(raising: Raising, opened: Opened): Promise<ProcessIdentity> {
  try {
    return await start(raising, opened);
  } catch (error) {
    if (raising.bubblewrap.bindsBy === "path" || !/unknown option --(ro-)?bind-fd/i.test(String(error))) throw error;
    raising.bubblewrap.bindsBy = "path";
    return start(raising, opened);
  }
}

async function start(raising: Raising, { binds, covered }: Opened): Promise<ProcessIdentity> {
  const { bubblewrap, plan, folder, user, made, systemFolders, command, enter } = raising;
  const seccomp = openSync(join(made, seccompFile(plan.network)), "r");
  try {
    const options = walls(plan, {
      user,
      made,
      systemFolders,
      mountedEtc: mountedEtc(),
      spool: folder.spool,
      runtime: process.execPath,
      seccompFd: firstPassedFd,
      binds: binds.map((each, index) => ({ ...each, fd: firstPassedFd + 1 + index })),
      bindsBy: bubblewrap.bindsBy,
      covered,
    });
    const passed = [seccomp, ...binds.map(({ fd }) => fd)];
    const record = (supervisor: ProcessIdentity) => folder.recordSupervisor(supervisor);
    return await startJail({ bubblewrap: bubblewrap.path, options, command, passed, record, enter });
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
