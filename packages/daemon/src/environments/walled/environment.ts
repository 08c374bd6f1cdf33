import { CorralError, type EnvironmentLimits, type EnvironmentState, type ProcessIdentity } from "@corral/protocol";
import { readFileSync, type Stats, statSync } from "node:fs";
import { posix } from "node:path";
import { type KeeperEnvironment, openKeeperEnvironment } from "../keeper-environment.ts";
import { workspaceInside } from "../keeper/index.ts";
import { type Gauge, openGauge, Ward, type Warden, type WatchedMemory } from "../limits/index.ts";
import type { Environment, Shell } from "../port.ts";
import { endProcess, isAlive, isEnding, signal } from "../system/process-identity.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";
import { toBytes } from "./byte-paths.ts";
import type { WalledFolder } from "./folder.ts";
import { HoldBack } from "./held-back/hold-back.ts";
import type { Lookout, Lookouts } from "./shield/lookout.ts";
import { versionOf } from "./held-back/obeyed-records.ts";
import type { WorkspaceOwner } from "./shield/shield.ts";
import { WatchedShell } from "./watched-shell.ts";

/** An environment whose first process stands behind walls, as long as this process holds it. Throws when it cannot be talked to or has a breach. */
export function walledEnvironment(folder: WalledFolder, state: EnvironmentState, options: WalledOptions): Environment {
  const lookout = lookoutFor(folder, state, options);
  const planted = lookout === undefined ? undefined : holdBackFor(folder, state, options);
  const { gauge, letGo } = watchLimits(folder, state, { ...options, lookout, planted });
  const kept = keptBehindWalls(folder, state, { ...options, lookout, planted, gauge, letGo });
  const { hasGone, isBusy: _, ...abilities } = kept;
  return {
    ...abilities,
    ...(planted === undefined ? {} : lookedAfter(kept, planted)),
    state,
    get isOpen() {
      // What can be taken aside is no breach.
      if (kept.isOpen && !kept.isBusy) planted?.holdBack.lookNear();
      if (kept.isOpen) lookout?.look(kept.isBusy ? "replaced" : "all");
      return kept.isOpen && lookout?.breach === undefined;
    },
    get endedBecause() {
      // Another process may have found it.
      return lookout?.breach ?? (kept.isOpen ? undefined : folder.breach());
    },
    detach: () => {
      letGo();
      kept.detach();
    },
    kill: async () => {
      await folder.endProcesses();
      hasGone();
    },
    end: async () => {
      letGo();
      await folder.endProcesses().finally(() => {
        // Whoever waits for something in it is told why.
        if (lookout?.breach !== undefined) hasGone();
        kept.detach();
      });
      await options.remove();
    },
  };
}

/**
 * None, when it does not live; one that lives and cannot be talked to, or whose walls are not as they were, is ended, for it is of no use to anybody.
 */
export async function findAlive(
  folder: WalledFolder,
  { supervisor }: EnvironmentState,
  open: () => Environment,
): Promise<Alive> {
  if (isEnding(supervisor)) await endProcess(supervisor);
  if (!isAlive(supervisor)) return gone(folder);
  try {
    return { environment: open() };
  } catch (error) {
    if (error instanceof SpoolUnreadable && error.mayPass) throw error;
    await endProcess(supervisor);
    return gone(folder);
  }
}

async function gone(folder: WalledFolder): Promise<Alive> {
  await folder.lookLast();
  return { reason: folder.breach() };
}

interface Alive {
  readonly environment?: Environment;
  /** Why it was ended, where that is for people to know. */
  readonly reason?: string | undefined;
}

export interface WalledOptions {
  readonly warden: Warden;
  readonly limits: EnvironmentLimits;
  /** Where no cgroup keeps its memory. */
  readonly memory: WatchedMemory | undefined;
  readonly whose: WorkspaceOwner;
  readonly lookouts: Lookouts;
  /** What is left of it when its processes have ended. */
  readonly remove: () => Promise<void>;
  /** Where what is taken out of the user's own folder goes, of one that was just opened. */
  readonly heldBack: string;
}

interface Watched {
  readonly gauge: Gauge;
  readonly letGo: () => void;
}

/** On a copy of Corral's own there is none: nobody saves files there. */
function lookoutFor(
  folder: WalledFolder,
  { supervisor, access }: EnvironmentState,
  { whose, lookouts }: WalledOptions,
): Lookout | undefined {
  if (whose === "corral" || access === "read") return undefined;
  const shielded = folder.shielded();
  if (shielded === undefined) throw new SpoolUnreadable("Nobody knows what is protected in it.", { mayPass: false });
  const lookout = lookouts.over(folder.path, { supervisor, shielded, record: (breach) => folder.recordBreach(breach) });
  const breach = lookout.look("replaced");
  if (breach === undefined) return lookout;
  throw new CorralError("environment.gone", `The environment was ended: ${breach}.`, { retry: "now" });
}

interface LookedAfter {
  readonly lookout: Lookout | undefined;
  readonly planted: Planted | undefined;
}

interface Planted {
  readonly holdBack: HoldBack;
  /** Before that nothing of the agent's may run. */
  readonly ready: Promise<void>;
}

function holdBackFor(
  folder: WalledFolder,
  { workspace, supervisor }: EnvironmentState,
  { heldBack: place }: WalledOptions,
): Planted {
  const inside = `${workspaceInside}/`;
  const mounted = folder.shielded()!.mounted.filter((path) => path.startsWith(inside));
  const { dev, ino } = workspaceOf(supervisor) ?? statSync(workspace);
  const site = {
    workspace,
    folder: { dev, ino },
    place,
    mounted: mounted.map((path) => toBytes(path.slice(inside.length))),
  };
  const planted = HoldBack.open(folder.obeyedFile, site);
  // Whoever waits for it is told.
  planted.ready.catch(() => undefined);
  return planted;
}

/** What is in there is what was opened, whatever has the name by now. Undefined: another user's processes cannot be looked into. */
function workspaceOf({ pid }: ProcessIdentity): Stats | undefined {
  try {
    return statSync(`/proc/${pid}/root${workspaceInside}`);
  } catch {
    return undefined;
  }
}

/** What a tool writes was allowed by its content, so it stays. */
function lookedAfter(kept: KeeperEnvironment, { holdBack, ready }: Planted): Partial<Environment> {
  const { files } = kept;
  const shells = (shell: Shell) => new WatchedShell(shell, holdBack, ready);
  const allowed = async (path: string, version: string | undefined) => {
    await ready;
    if (version !== undefined) holdBack.accept(workspacePath(path), version);
  };
  return {
    shell: shells(kept.shell),
    openShell: (name) => shells(kept.openShell(name)),
    spawn: (program) => ready.then(() => kept.spawn(program)),
    openTerminal: (name, size) => ready.then(() => kept.openTerminal(name, size)),
    files: {
      ...files,
      write: (path, content, options) =>
        allowed(path, versionOf(content)).then(() => files.write(path, content, options)),
      edit: (path, change, options) =>
        ready.then(() =>
          files.edit(
            path,
            (text) => {
              const changed = change(text);
              if (changed !== undefined) holdBack.accept(workspacePath(path), versionOf(changed));
              return changed;
            },
            options,
          ),
        ),
      move: (path, to, options) => allowed(to, options?.expected).then(() => files.move(path, to, options)),
    },
    look: () => ready.then(() => holdBack.look()),
    onHeldBack: (listener) => holdBack.onHeld(listener),
  };
}

/** Relative to the workspace. */
function workspacePath(path: string): string {
  return posix.relative(workspaceInside, posix.resolve(workspaceInside, path));
}

function watchLimits({ spool }: WalledFolder, state: EnvironmentState, options: WalledOptions & LookedAfter): Watched {
  const { supervisor, cgroups, workspace } = state;
  const { warden, limits, memory, lookout, planted } = options;
  const look = () => {
    lookout?.look("replaced");
    planted?.holdBack.lookNear();
  };
  const onLook = lookout === undefined ? undefined : look;
  const ward = new Ward({ supervisor, limits, folders: [workspace, spool], memory, onLook });
  const gauge = openGauge({ supervisor, cgroups, limits, warden, ward });
  const unwatch = warden.watch(ward, "environment", () => void signal(supervisor, "SIGKILL"));
  return {
    gauge,
    letGo: () => {
      planted?.holdBack.close();
      unwatch();
      gauge.close();
    },
  };
}

function keptBehindWalls(
  { spool }: WalledFolder,
  { words, supervisor }: EnvironmentState,
  { limits, gauge, letGo, lookout }: WalledOptions & LookedAfter & Watched,
): ReturnType<typeof openKeeperEnvironment> {
  try {
    return openKeeperEnvironment({
      words,
      spool,
      outputBytes: limits.outputBytes,
      gauge,
      keeper: {
        signal: (name) => void signal(supervisor, name),
        kill: () => void signal(supervisor, "SIGKILL"),
        uptime: () => uptimeInside(supervisor),
        breach: () => lookout?.look("replaced"),
      },
    });
  } catch (error) {
    letGo();
    throw error;
  }
}

/** Where the machine is itself somebody's container, what it shows of its clock may be that one's, and inside it is the kernel's own. */
function uptimeInside({ pid }: ProcessIdentity): number | undefined {
  try {
    return Number.parseFloat(readFileSync(`/proc/${pid}/root/proc/uptime`, "latin1"));
  } catch {
    return undefined;
  }
}
