import {
  CorralError,
  environmentId,
  type EnvironmentLimits,
  type EnvironmentState,
  newId,
  type ProcessIdentity,
} from "@corral/protocol";
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { shortageIn } from "../../descriptors/index.ts";
import { findSystemExecutable } from "../../executables/index.ts";
import { keeperWords, scriptsInside, type ShellCommand } from "../keeper/index.ts";
import {
  cgroupDoors,
  cgroupFolders,
  findMeans,
  freeAt,
  giveWay,
  isFull,
  keptLimits,
  lacking,
  limitCgroups,
  makeCgroups,
  type Means,
  measure,
  removeCgroups,
  resourceLimits,
  Warden,
  watchShare,
} from "../limits/index.ts";
import { defaultLimits, planOf } from "../plan/plan.ts";
import { resultsIn } from "../shell/output.ts";
import type { Environment, EnvironmentDriver, EnvironmentPlan, KeptLimit, Sweep } from "../port.ts";
import { bootId } from "../system/process-identity.ts";
import {
  canOwn,
  checkReadable,
  checkWorkspace,
  findAlive,
  isWithin,
  jailOwner,
  type JailUser,
  jailUser,
  Lookouts,
  makeOwnFolder,
  ownersIn,
  walledEnvironment,
  WalledFolder,
  type WorkspaceOwner,
} from "../walled/index.ts";
import { findBubblewrap, installFix, unavailable } from "./start/bubblewrap.ts";
import { ownBuilders } from "./start/builders.ts";
import { type JailFiles, jailFiles, makeAccounts, makeJailFiles } from "./start/made.ts";
import { raiseJail } from "./start/raise.ts";
import { sweepJails } from "./sweep.ts";
import { scratchInside, type SystemFolder } from "./walls/walls.ts";

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

class JailDriver implements EnvironmentDriver {
  readonly kind = "jail";
  readonly newOwner;
  readonly #home: string;
  readonly #environments: string;
  readonly #graceSeconds: number;
  readonly #givenBubblewrap: string | undefined;
  readonly #shell: ShellCommand;
  readonly #warden: Warden;
  readonly #lookouts = new Lookouts();
  #means: Means | undefined;
  #files: JailFiles | undefined;

  constructor({ home, graceSeconds = 600, bubblewrap, shell = ["/bin/sh"] }: JailOptions) {
    this.newOwner = ownersIn(home);
    this.#home = home;
    this.#environments = join(home, "environments");
    this.#graceSeconds = graceSeconds;
    this.#givenBubblewrap = bubblewrap;
    this.#shell = shell;
    this.#warden = new Warden({ free: freeAt, measure: (folders) => measure(this.#findBubblewrap(), folders) });
  }

  async probe(): ReturnType<EnvironmentDriver["probe"]> {
    const id = newId("environment");
    const folder = this.#folder(id);
    try {
      const workspace = join(folder.path, "workspace");
      makeOwnFolder(workspace, jailOwner());
      const environment = await this.open(planOf({ id, workspace }));
      const limits = this.#keptLimits(environment);
      await environment.end();
      return { ok: true, limits };
    } catch (error) {
      const plain = error instanceof CorralError ? error : unavailable(String(error), fixFor(error));
      const known = shortageIn(error) ?? plain;
      return { ok: false, reason: known.message, fix: known.hint ?? installFix };
    } finally {
      await folder.remove().catch(() => undefined);
    }
  }

  warmUp(): void {
    try {
      this.#findMeans();
      this.#filesForAll();
    } catch {
      // Whoever opens a jail is told.
    }
    ownBuilders.prepare();
  }

  async open(plan: EnvironmentPlan): Promise<Environment> {
    const bubblewrap = this.#findBubblewrap();
    for (const path of [...plan.readable, ...Object.values(plan.siblings)]) checkReadable(path, this.#environments);
    checkWorkspace(plan.workspace, this.#environments);
    checkRoom(this.#environments);
    const user = jailUser(plan.workspace);
    const folder = this.#folder(plan.id);
    const cgroups = cgroupFolders(this.#findMeans().parents, plan.id);
    try {
      const supervisor = await this.#start(bubblewrap, plan, { user, folder, cgroups });
      const { id, network, access, workspace, limits } = plan;
      const made = { version: 2, kind: "jail", words: keeperWords } as const;
      const state = { ...made, id, network, access, workspace, supervisor, cgroups };
      return this.#at(folder, state, limits, plan.heldBackFor);
    } catch (error) {
      await endJail(folder).catch(() => undefined);
      throw error;
    }
  }

  async reopen(state: EnvironmentState): ReturnType<EnvironmentDriver["reopen"]> {
    const folder = this.#folder(state.id);
    const { environment, reason } = await findAlive(folder, state, () => this.#at(folder, state));
    if (environment !== undefined) return { kind: "open", environment };
    folder.clearWorkspace();
    // After another start of the machine the files may lack what was written last, and its cgroups are gone.
    const trusted = state.supervisor.bootId === bootId();
    if (trusted) await removeCgroups(state.cgroups).catch(() => undefined);
    return { kind: "gone", results: resultsIn(folder.spool, { trusted }), reason };
  }

  async sweep(sweep: Sweep): Promise<void> {
    await sweepJails(this.#environments, sweep);
  }

  #at(
    folder: WalledFolder,
    state: EnvironmentState,
    limits: EnvironmentLimits = folder.limits() ?? defaultLimits,
    heldBackFor: string = state.id,
  ): Environment {
    const memory = this.#isMemoryWatched() ? { scratch: scratchInside } : undefined;
    const remove = () => folder.remove();
    const heldBack = join(this.#home, "held-back", heldBackFor);
    const [warden, lookouts, whose] = [this.#warden, this.#lookouts, this.#whose(state)];
    return walledEnvironment(folder, state, { warden, lookouts, whose, limits, memory, remove, heldBack });
  }

  #whose({ workspace }: Pick<EnvironmentPlan, "workspace">): WorkspaceOwner {
    return isWithin(workspace, this.#home) ? "corral" : "user";
  }

  #start(bubblewrap: string, plan: EnvironmentPlan, { user, folder, cgroups }: JailBase): Promise<ProcessIdentity> {
    const means = this.#findMeans();
    return raiseJail(ownBuilders, {
      home: this.#home,
      bubblewrap,
      plan,
      folder,
      whose: this.#whose(plan),
      user,
      prepare: () => {
        folder.makeSpool(user.kind === "switched" ? user : undefined);
        const files = this.#filesForAll();
        const made = makeJailFiles(this.#environments, join(folder.path, "making"), files);
        const accounts = makeAccounts(folder.path, user);
        return { made, accounts, seccomp: files.seccomp[plan.network], systemFolders: systemFolders() };
      },
      command: keeperCommand(user, [
        ...this.#shell,
        `${scriptsInside}/keeper.sh`,
        String(this.#graceSeconds),
        [language, resourceLimits(means, plan.limits)].join("; "),
        // By which half a bubblewrap is known to be this jail's.
        plan.id,
      ]),
      doors: cgroupDoors(means.parents, plan.id),
      watches: user.kind === "mapped" ? watchShare() : undefined,
      limit: (builder) => {
        folder.make({ limits: plan.limits, cgroups, builder });
        if (builder !== undefined) giveWay(means, builder.pid);
        makeCgroups(means.parents, plan.id);
      },
      tighten: () => limitCgroups(means.parents, plan.id, plan.limits),
    });
  }

  #keptLimits({ state }: Environment): KeptLimit[] {
    const isRoot = jailOwner() !== undefined;
    const watches = isRoot ? undefined : watchShare();
    const hasOwnUsers = isRoot && canOwn();
    return keptLimits(state, defaultLimits, { isRoot, hasOwnUsers, trees: this.#findMeans().trees, watches });
  }

  #filesForAll(): JailFiles {
    const sharedSegments = this.#isMemoryWatched() ? "small" : "any";
    const setGroupId = jailOwner() === undefined ? "own" : "refused";
    return (this.#files ??= jailFiles({ shell: this.#shell, sharedSegments, setGroupId }));
  }

  #isMemoryWatched(): boolean {
    return lacking(this.#findMeans()).includes("memory");
  }

  #findMeans(): Means {
    return (this.#means ??= findMeans(this.#home));
  }

  #findBubblewrap(): string {
    const path = this.#givenBubblewrap ?? findBubblewrap();
    if (!existsSync(path)) throw unavailable("bubblewrap is not installed.", installFix);
    return path;
  }

  #folder(id: string): WalledFolder {
    return new WalledFolder(join(this.#environments, environmentId.parse(id)));
  }
}

/** Set by the keeper and not by bubblewrap: what runs in between would look for the language's files. */
const language = `: "\${LANG:=C.UTF-8}"; export LANG`;

/** What a jail is built on. */
interface JailBase {
  readonly user: JailUser;
  readonly folder: WalledFolder;
  readonly cgroups: readonly string[];
}

/** One that was not opened all the way: what there is of it is on file. */
async function endJail(folder: WalledFolder): Promise<void> {
  await folder.endProcesses();
  await folder.remove();
}

/** Where no command could write its output there is no use for a shell. Root may still find room there, and a jail's user does not. */
function checkRoom(environments: string): void {
  if (existsSync(environments) && isFull(freeAt(environments))) throw unavailable("the disk is full.", roomFix);
}

function keeperCommand(user: JailUser, keeper: string[]): string[] {
  if (user.kind === "mapped") return keeper;
  const setpriv = findSystemExecutable("setpriv");
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
  return code === "ENOSPC" || code === "EDQUOT" ? roomFix : installFix;
}

const roomFix = "Make room on the disk that holds CORRAL_HOME";
