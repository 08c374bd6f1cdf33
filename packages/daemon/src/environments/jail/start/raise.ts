import { CorralError, type ProcessIdentity } from "@corral/protocol";
import { fstatSync, lstatSync, readlinkSync } from "node:fs";
import { homedir } from "node:os";
import type { WatchShare } from "../../limits/index.ts";
import type { EnvironmentPlan } from "../../port.ts";
import {
  type Bind,
  closeSiblings,
  Shield,
  type JailUser,
  mountPoints,
  openSiblings,
  type WalledFolder,
  type WorkspaceOwner,
} from "../../walled/index.ts";
import { type Builders, seccompFd, settingFds } from "./builders.ts";
import { concealedIn } from "../walls/concealed.ts";
import { mountedEtc } from "../walls/etc.ts";
import { type InsideMounts, mountInside } from "./inside-mounts.ts";
import { startJail } from "./start.ts";
import { type SystemFolder, walls } from "../walls/walls.ts";

/**
 * Opens what a jail is given, builds its walls and starts it. When this resolves, the walls stand, and the agent has not run anything
 * yet.
 *
 * Bubblewrap binds by path. A path may have been replaced since it was opened here, and so may a mount point. So after the start, what is
 * visible inside is compared with what was opened. In an exposed workspace root's bubblewrap mounts nothing; the shield is mounted from
 * inside when the walls stand.
 */
export async function raiseJail(builders: Builders, raising: Raising): Promise<ProcessIdentity> {
  const { folder, bubblewrap, command, doors, watches, limit, tighten } = raising;
  const settings = watches && ([watches.instances, watches.watches].map(String) as [string, string]);
  let opened: Opened | undefined;
  try {
    const supervisor = await startJail(builders, {
      orders: { doors, settings, bubblewrap, command },
      limit,
      tighten,
      walls: () => {
        const prepared = raising.prepare();
        opened = open(raising);
        const options = wallsAround(raising, prepared, opened);
        const covered = opened.missing.catch(() => undefined);
        return { options, seccomp: prepared.seccomp, spool: folder.spool, covered };
      },
      record: (first) => folder.recordSupervisor(first),
    });
    await opened?.missing;
    if (opened?.shield.isExposed === true) await mountInside(supervisor, folder.path, insideMounts(opened));
    if (opened !== undefined && isAsOpened(supervisor, opened)) {
      if (raising.whose === "user") folder.recordShielded(opened.shield.shielded);
      return supervisor;
    }
    throw new CorralError("environment.gone", "The workspace was changed while its jail was opened.", { retry: "now" });
  } finally {
    if (opened !== undefined) await close(opened);
  }
}

export interface Raising {
  /** The folder of all of Corral's state. */
  readonly home: string;
  readonly bubblewrap: string;
  readonly plan: EnvironmentPlan;
  readonly folder: WalledFolder;
  readonly whose: WorkspaceOwner;
  readonly user: JailUser;
  /** Makes the rest of what the walls stand on. */
  readonly prepare: () => Prepared;
  readonly command: readonly string[];
  readonly doors: readonly string[];
  /** Kept where the jail has a user namespace of its own. */
  readonly watches: WatchShare | undefined;
  /** Puts the jail on file and makes what is behind the doors, for the process that waits before them. */
  readonly limit: (builder: ProcessIdentity | undefined) => void;
  /** Sets the limits there. */
  readonly tighten: () => void;
}

export interface Prepared {
  /** Host folder with the files made for jails. */
  readonly made: string;
  /** Host folder with a passwd and a group of the jail's own; undefined: all share them. */
  readonly accounts: string | undefined;
  readonly seccomp: Buffer;
  readonly systemFolders: readonly SystemFolder[];
}

interface Opened {
  readonly shield: Shield;
  /** Settles when all that is covered is there. */
  readonly missing: Promise<void>;
  readonly siblings: readonly Bind[];
  /** The shield's and the siblings. */
  readonly binds: readonly Bind[];
}

function open({ plan, whose, folder, user }: Raising): Opened {
  const siblings = openSiblings(plan.siblings);
  try {
    const { access, workspace } = plan;
    const exposed = user.kind === "switched" ? "told" : "refused";
    const shield = new Shield(workspace, { access, whose, jailFolder: folder.path, missing: "later", exposed });
    const missing = shield.makeMissing();
    // Whoever needs them is told.
    missing.catch(() => undefined);
    return { shield, missing, siblings, binds: [...shield.binds, ...siblings] };
  } catch (error) {
    closeSiblings(siblings);
    throw error;
  }
}

async function close({ shield, missing, siblings }: Opened): Promise<void> {
  await missing.catch(() => undefined);
  closeSiblings(siblings);
  shield.close();
}

function wallsAround({ home, plan, folder, user, watches }: Raising, prepared: Prepared, opened: Opened): string[] {
  const { shield, siblings } = opened;
  const binds = shield.isExposed ? [shield.binds[0]!, ...siblings] : opened.binds;
  return walls(plan, {
    user,
    made: prepared.made,
    accounts: prepared.accounts,
    systemFolders: prepared.systemFolders,
    concealed: concealedIn(prepared.systemFolders, { home, people: [homedir(), plan.workspace] }),
    mountedEtc: mountedEtc(),
    spool: folder.spool,
    runtime: process.execPath,
    seccompFd,
    watchFds: watches === undefined ? undefined : settingFds,
    binds: binds.map(({ fd, ...bind }) => ({ ...bind, source: readlinkSync(`/proc/self/fd/${fd}`) })),
    covered: shield.isExposed ? [] : shield.covered,
  });
}

/** All of the shield's but the workspace itself. */
function insideMounts({ shield }: Opened): InsideMounts {
  return { binds: shield.binds.slice(1), covered: shield.covered };
}

function isAsOpened({ pid }: ProcessIdentity, { shield, binds }: Opened): boolean {
  // What is bound over itself looks the same when it is not.
  const mounted = mountPoints(pid);
  const isBound = binds.every(({ fd, inside, access }) => {
    const seen = lstatSync(`/proc/${pid}/root${inside}`, { throwIfNoEntry: false });
    const opened = fstatSync(fd);
    const isMounted = access === "read" ? mounted.get(inside)?.access === "read" : mounted.has(inside);
    return isMounted && seen?.ino === opened.ino && seen.dev === opened.dev;
  });
  // A cover is a file system of its own.
  const isCovered = shield.covered.every((inside) => mounted.get(inside)?.kind === "tmpfs");
  return isBound && isCovered && shield.isIntact();
}
