import { CorralError, environmentId, type EnvironmentState, newId, type ProcessIdentity } from "@corral/protocol";
import { lstatSync, readlinkSync } from "node:fs";
import { isAbsolute, join, normalize, relative } from "node:path";
import { placesInside, scriptsInside, type ShellCommand } from "../keeper.ts";
import { keptEnvironment } from "../kept.ts";
import { planOf } from "../plan.ts";
import { resultsIn } from "../output.ts";
import type { Environment, EnvironmentDriver, EnvironmentPlan, Sweep } from "../port.ts";
import { bootId, endProcess, isAlive, signal } from "../process-identity.ts";
import { Spool, SpoolUnreadable } from "../spool.ts";
import { findSystemProgram, installFix, unavailable } from "./bubblewrap.ts";
import { JailFolder, makeOwnFolder } from "./folder.ts";
import { closeGuarded, openGuarded } from "./guarded.ts";
import { makeJailFiles } from "./made.ts";
import { firstPassedFd, startJail } from "./start.ts";
import { sweepJails } from "./sweep.ts";
import { type JailUser, type SystemFolder, walls } from "./walls.ts";

export interface JailOptions {
  /** The folder of all of Corral's state. */
  readonly home: string;
  /** How long an idle jail waits for a daemon to come back before it ends itself. */
  readonly graceSeconds?: number;
  /** Where bubblewrap is, when it is not to be looked for in the system's own places. */
  readonly bubblewrap?: string;
  /** What runs POSIX sh in the jail; without: /bin/sh. */
  readonly shell?: ShellCommand;
}

export function openJailDriver(options: JailOptions): EnvironmentDriver {
  return new JailDriver(options);
}

/** Whom workspaces and spools must belong to; undefined: whoever this process runs as. */
export function jailOwner(): { uid: number; gid: number } | undefined {
  const user = jailUser();
  return user.kind === "switched" ? { uid: user.uid, gid: user.gid } : undefined;
}

class JailDriver implements EnvironmentDriver {
  readonly kind = "jail";
  readonly #environments: string;
  readonly #graceSeconds: number;
  readonly #bubblewrap: string | undefined;
  readonly #shell: ShellCommand;

  constructor({ home, graceSeconds = 600, bubblewrap, shell = ["/bin/sh"] }: JailOptions) {
    this.#environments = join(home, "environments");
    this.#graceSeconds = graceSeconds;
    this.#bubblewrap = bubblewrap;
    this.#shell = shell;
  }

  async probe(): ReturnType<EnvironmentDriver["probe"]> {
    const id = newId("environment");
    const folder = this.#folder(id);
    try {
      const workspace = join(folder.path, "workspace");
      makeOwnFolder(workspace, jailOwner());
      const environment = await this.open(planOf({ id, workspace }));
      await environment.end();
      return { ok: true };
    } catch (error) {
      const known = error instanceof CorralError ? error : unavailable(String(error), fixFor(error));
      return { ok: false, reason: known.message, fix: known.hint ?? installFix };
    } finally {
      await folder.remove().catch(() => undefined);
    }
  }

  async open(plan: EnvironmentPlan): Promise<Environment> {
    const bubblewrap = this.#findBubblewrap();
    for (const path of plan.readable) this.#checkReadable(path);
    const folder = this.#folder(plan.id);
    folder.make(jailOwner());
    folder.recordLimits(plan.limits);
    try {
      const supervisor = await this.#start(bubblewrap, plan, folder);
      const { id, network, access, workspace } = plan;
      const cgroups: string[] = [];
      return environmentAt(folder, { version: 2, id, kind: "jail", network, access, workspace, supervisor, cgroups });
    } catch (error) {
      await endJail(folder).catch(() => undefined);
      throw error;
    }
  }

  async reopen(state: EnvironmentState): ReturnType<EnvironmentDriver["reopen"]> {
    const folder = this.#folder(state.id);
    if (isAlive(state.supervisor)) {
      try {
        return { kind: "open", environment: environmentAt(folder, state) };
      } catch (error) {
        if (error instanceof SpoolUnreadable && error.mayPass) throw error;
        // It runs and cannot be talked to, so it is of no use to anybody.
        await endProcess(state.supervisor);
      }
    }
    // After another start of the machine the files may lack what was written last.
    const trusted = state.supervisor.bootId === bootId();
    return { kind: "gone", results: resultsIn(new Spool(folder.spool), { trusted }) };
  }

  async sweep(sweep: Sweep): Promise<void> {
    await sweepJails(this.#environments, sweep);
  }

  async #start(bubblewrap: string, plan: EnvironmentPlan, folder: JailFolder): Promise<ProcessIdentity> {
    const user = jailUser();
    const made = makeJailFiles(this.#environments, join(folder.path, "making"), { user, shell: this.#shell });
    const opened = openGuarded(plan.workspace);
    try {
      const guarded = opened.map((entry, index) => ({ ...entry, fd: firstPassedFd + index }));
      const options = walls(plan, {
        user,
        made,
        spool: folder.spool,
        runtime: process.execPath,
        guarded,
        systemFolders: systemFolders(),
      });
      const command = keeperCommand(user, [...this.#shell, `${scriptsInside}/keeper.sh`, String(this.#graceSeconds)]);
      const passed = opened.map(({ fd }) => fd);
      const record = (supervisor: ProcessIdentity) => folder.recordSupervisor(supervisor);
      return await startJail({ bubblewrap, options, command, passed, record });
    } finally {
      closeGuarded(opened);
    }
  }

  #findBubblewrap(): string {
    const found = this.#bubblewrap ?? findSystemProgram("bwrap");
    if (found === undefined || lstatSync(found, { throwIfNoEntry: false }) === undefined) {
      throw unavailable("bubblewrap is not installed.", installFix);
    }
    return found;
  }

  /** A readable path must show neither Corral's own state nor more than it says, and must not be hidden itself. */
  #checkReadable(path: string): void {
    const over = placesInside.find((place) => path === place || path.startsWith(`${place}/`));
    if (over !== undefined) {
      throw new CorralError("internal", `A jail cannot read ${path}: its own ${over} is at that place.`);
    }
    const toState = relative(path, this.#environments);
    const showsState = !toState.startsWith("..");
    if (isAbsolute(path) && normalize(path) === path && path !== "/" && !showsState) return;
    throw new CorralError("internal", `A jail must not be able to read ${path}.`);
  }

  #folder(id: string): JailFolder {
    return new JailFolder(join(this.#environments, environmentId.parse(id)));
  }
}

function environmentAt(folder: JailFolder, state: EnvironmentState): Environment {
  const { supervisor } = state;
  const kept = keptEnvironment({
    spool: folder.spool,
    outputBytes: folder.limits().outputBytes,
    keeper: {
      signal: (name) => void signal(supervisor, name),
      kill: () => void signal(supervisor, "SIGKILL"),
    },
  });
  return {
    ...kept,
    state,
    get isOpen() {
      return kept.isOpen;
    },
    kill: () => endProcess(supervisor),
    end: async () => {
      await endProcess(supervisor).finally(() => kept.detach());
      await folder.remove();
    },
  };
}

/** One that was not opened all the way: what there is of it is on file. */
async function endJail(folder: JailFolder): Promise<void> {
  await folder.endProcesses();
  await folder.remove();
}

/** A uid that belongs to no account: files it owns are nobody else's. */
const switchedId = 65533;
const mappedId = 1000;

function jailUser(): JailUser {
  return process.getuid?.() === 0
    ? { kind: "switched", uid: switchedId, gid: switchedId }
    : { kind: "mapped", uid: mappedId, gid: mappedId };
}

function keeperCommand(user: JailUser, keeper: string[]): string[] {
  if (user.kind === "mapped") return keeper;
  const setpriv = findSystemProgram("setpriv");
  if (setpriv === undefined)
    throw unavailable("setpriv is not installed.", "Install util-linux, or run Corral as an ordinary user.");
  const become = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  return [setpriv, ...become, "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", ...keeper];
}

function systemFolders(): SystemFolder[] {
  return ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return [{ path, linkTo: found.isSymbolicLink() ? readlinkSync(path) : undefined }];
  });
}

function fixFor(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT" ? "Make room on the disk that holds CORRAL_HOME" : installFix;
}
