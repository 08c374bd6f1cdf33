import { CorralError, environmentId, type EnvironmentState, newId } from "@corral/protocol";
import { createHash, randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shortageIn } from "../../descriptors/index.ts";
import { findSystemExecutable } from "../../executables/index.ts";
import { engineFix } from "../drivers/engines.ts";
import {
  beginLine,
  keeperScript,
  keeperWords,
  reachOfNamespace,
  scriptsInside,
  type ShellCommand,
  spoolInside,
  workerScript,
  workspaceInside,
} from "../keeper/index.ts";
import { bridgeScript } from "../bridge/bridge.ts";
import { cgroupsOf, freeAt, keptLimits, measure, Warden } from "../limits/index.ts";
import { resultsIn } from "../shell/output.ts";
import { defaultLimits, planOf } from "../plan/plan.ts";
import type { Environment, EnvironmentDriver, EnvironmentPlan, KeptLimit, Sweep } from "../port.ts";
import { bootId } from "../system/process-identity.ts";
import {
  checkReadable,
  checkWorkspace,
  closeSiblings,
  containersFolder,
  findAlive,
  isWithin,
  jailOwner,
  jailUser,
  Lookouts,
  makeOwnFolder,
  openSiblings,
  ownersIn,
  Shield,
  siblingsInside,
  walledEnvironment,
  WalledFolder,
  type WorkspaceOwner,
} from "../walled/index.ts";
import type { EngineFacts } from "./engine.ts";
import type { FindEngine, FoundEngine } from "./find-engine.ts";
import { findImage } from "./image.ts";
import { writeRecord } from "./record.ts";
import { runtimeScript, wayOut } from "./runtime.ts";
import { type OpenMount, type Started, startContainer, unavailable } from "./start.ts";
import { endContainer, sweepContainers } from "./sweep.ts";
import { containerUser, specification } from "./walls.ts";

export interface ContainerOptions {
  /** The folder of all of Corral's state. */
  readonly home: string;
  readonly findEngine: FindEngine;
  /** How long an idle container waits for a daemon to come back before it ends itself. */
  readonly graceSeconds?: number;
  /** What runs POSIX sh in the container; without: /bin/sh. */
  readonly shell?: ShellCommand;
}

/** Environments in containers of Docker or Podman, each from an image that is there, with the walls of a jail as far as the engine has them. */
export function openContainerDriver(options: ContainerOptions): EnvironmentDriver {
  return new ContainerDriver(options);
}

class ContainerDriver implements EnvironmentDriver {
  readonly kind = "container";
  readonly newOwner;
  readonly #home: string;
  readonly #environments: string;
  readonly #findEngine: FindEngine;
  readonly #graceSeconds: number;
  readonly #shell: ShellCommand;
  readonly #lookouts = new Lookouts();
  readonly #warden = new Warden({ free: freeAt, measure: measureHeld });
  /** Images that a container was opened from already: what was tried once is not tried for every session. */
  readonly #tried = new Map<string, readonly KeptLimit[]>();

  constructor({ home, findEngine, graceSeconds = 600, shell = ["/bin/sh"] }: ContainerOptions) {
    this.newOwner = ownersIn(home);
    this.#home = home;
    this.#environments = join(home, "environments", containersFolder);
    this.#findEngine = findEngine;
    this.#graceSeconds = graceSeconds;
    this.#shell = shell;
  }

  async probe({ image }: { readonly image?: string | undefined } = {}): ReturnType<EnvironmentDriver["probe"]> {
    const id = newId("environment");
    const folder = this.#folder(id);
    try {
      const { engine, facts } = await this.#findEngine();
      const found = await findImage(engine, facts, image);
      const known = this.#tried.get(`${engine.socket} ${found}`);
      if (known !== undefined) return { ok: true, limits: known };
      const workspace = join(folder.path, "workspace");
      makeOwnFolder(workspace, jailOwner());
      const environment = await this.open(planOf({ id, workspace, image: found }));
      const limits = keptLimits(environment.state, defaultLimits, { isRoot: jailOwner() !== undefined });
      await environment.end();
      this.#tried.set(`${engine.socket} ${found}`, limits);
      return { ok: true, limits };
    } catch (error) {
      const plain = error instanceof CorralError ? error : unavailable(String(error), engineFix);
      const known = shortageIn(error) ?? plain;
      return { ok: false, reason: known.message, fix: known.hint ?? engineFix };
    } finally {
      await folder.remove().catch(() => undefined);
    }
  }

  async open(plan: EnvironmentPlan): Promise<Environment> {
    for (const path of [...plan.readable, ...Object.values(plan.siblings)])
      checkReadable(path, join(this.#environments, ".."));
    checkWorkspace(plan.workspace, join(this.#environments, ".."));
    checkVolumes(plan);
    const user = jailUser(plan.workspace);
    const { engine, facts } = await this.#findEngine();
    const image = await findImage(engine, facts, plan.image);
    const folder = this.#folder(plan.id);
    folder.make({ limits: plan.limits, cgroups: [] });
    folder.makeSpool(user.kind === "switched" ? user : undefined);
    try {
      const { id: container, supervisor } = await this.#start({ engine, facts }, { plan, folder, image });
      folder.recordSupervisor(supervisor);
      const { id, network, access, workspace, volumes } = plan;
      const state = { version: 2, id, kind: "container", network, access, workspace, supervisor } as const;
      const made = { words: keeperWords, cgroups: cgroupsOf(supervisor.pid) };
      return this.#at(
        folder,
        { ...state, ...made, container: { id: container, engine: engine.socket, image, volumes } },
        plan.heldBackFor,
      );
    } catch (error) {
      await endContainer(folder).then(
        () => folder.remove(),
        () => folder.disown(),
      );
      throw error;
    }
  }

  async reopen(state: EnvironmentState): ReturnType<EnvironmentDriver["reopen"]> {
    const folder = this.#folder(state.id);
    const { environment, reason } = await findAlive(folder, state, () => this.#at(folder, state));
    if (environment !== undefined) return { kind: "open", environment };
    const trusted = state.supervisor.bootId === bootId();
    // Without its engine, and after another start of the machine, what is left of the container is for a sweep.
    if (trusted) await endContainer(folder).catch(() => undefined);
    return { kind: "gone", results: resultsIn(folder.spool, { trusted }), reason };
  }

  async sweep(sweep: Sweep): Promise<void> {
    await sweepContainers(this.#environments, sweep);
  }

  #at(folder: WalledFolder, state: EnvironmentState, heldBackFor: string = state.id): Environment {
    const limits = folder.limits() ?? defaultLimits;
    const isMemoryKept = keptLimits(state, limits, { isRoot: false }).some(
      (each) => each.limit === "memory" && each.kept === "hard",
    );
    const memory = isMemoryKept ? undefined : { scratch: [] };
    const remove = () => removeContainer(folder);
    const heldBack = join(this.#home, "held-back", heldBackFor);
    const [warden, lookouts, whose] = [this.#warden, this.#lookouts, this.#whose(state)];
    return walledEnvironment(folder, state, { warden, lookouts, whose, limits, memory, remove, heldBack });
  }

  #whose({ workspace }: Pick<EnvironmentPlan, "workspace">): WorkspaceOwner {
    return isWithin(workspace, this.#home) ? "corral" : "user";
  }

  async #start({ engine, facts }: FoundEngine, { plan, folder, image }: ContainerBase): Promise<Started> {
    const token = randomUUID();
    const scripts = this.#makeScripts(folder, plan);
    writeRecord(folder.path, { socket: engine.socket, token });
    const whose = this.#whose(plan);
    const shield = new Shield(plan.workspace, { access: plan.access, whose, jailFolder: folder.path });
    try {
      const siblings = openSiblings(plan.siblings);
      try {
        const mounted = mountsOf({ shield, siblings, plan, scripts });
        const started = await startContainer(engine, {
          name: `corral-${plan.id}`,
          token,
          spool: folder.spool,
          mounted,
          record: (id) => writeRecord(folder.path, { socket: engine.socket, token, id }),
          specification: specification(plan, {
            engine: facts,
            image,
            user: containerUser(facts, jailUser(plan.workspace)),
            mounts: mounted,
            spool: folder.spool,
            scripts,
            shell: this.#shell,
            graceSeconds: this.#graceSeconds,
            resourceLimits: resourceLimits(plan, facts),
            labels: { home: nameOf(this.#home), environment: plan.id, token },
          }),
        });
        if (shield.isIntact()) {
          if (whose === "user") folder.recordShielded(shield.shielded);
          return started;
        }
        throw new CorralError("environment.gone", "The workspace was changed while its container was opened.", {
          retry: "now",
        });
      } finally {
        closeSiblings(siblings);
      }
    } finally {
      shield.close();
    }
  }

  /** Read-only inside, and open to whoever is there. */
  #makeScripts(folder: WalledFolder, { egress }: EnvironmentPlan): string {
    const scripts = join(folder.path, "scripts");
    const site = { spool: spoolInside, workspace: workspaceInside, scripts: scriptsInside, reach: reachOfNamespace };
    const files = {
      "keeper.sh": keeperScript({ ...site, shell: this.#shell, env: undefined }),
      "worker.sh": workerScript,
      begin: `${beginLine}\n`,
      ...(egress === undefined ? {} : { "bridge.cjs": bridgeScript, runtime: runtimeScript() }),
    };
    for (const path of [scripts, join(scripts, "empty")]) {
      mkdirSync(path);
      chmodSync(path, path === scripts ? 0o755 : 0o555);
    }
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(scripts, name), text);
      chmodSync(join(scripts, name), name === "runtime" ? 0o755 : 0o644);
    }
    return scripts;
  }

  #folder(id: string): WalledFolder {
    return new WalledFolder(join(this.#environments, environmentId.parse(id)));
  }
}

/** What a container is built on. */
interface ContainerBase {
  readonly plan: EnvironmentPlan;
  readonly folder: WalledFolder;
  readonly image: string;
}

/** When its engine does not answer, what is left of it runs nothing and is for a sweep. */
async function removeContainer(folder: WalledFolder): Promise<void> {
  await endContainer(folder).then(
    () => folder.remove(),
    () => folder.disown(),
  );
}

/** The plan's paths, each with what it was when it was opened. */
function mountsOf({
  shield,
  siblings,
  plan,
  scripts,
}: {
  shield: Shield;
  siblings: readonly { fd: number; inside: string; access: "read" | "write" }[];
  plan: EnvironmentPlan;
  scripts: string;
}): OpenMount[] {
  const empty = join(scripts, "empty");
  const mounts: OpenMount[] = [
    ...plan.readable.map((path) => ({ source: path, inside: path, access: "read" as const, fd: undefined })),
    ...[...shield.binds, ...siblings].map((bind) => ({ ...bind, source: readlinkSync(`/proc/self/fd/${bind.fd}`) })),
    ...shield.covered.map((inside) => ({ source: empty, inside, access: "read" as const, fd: undefined })),
    ...wayOut(plan.egress, join(scripts, "runtime")).map((mount) => ({ ...mount, fd: undefined })),
  ];
  for (const { source } of mounts) mustBeSayable(source);
  return mounts;
}

/** Nothing of an engine's lies over the walls, or over what is shielded. */
function checkVolumes({ volumes }: EnvironmentPlan): void {
  const own = [workspaceInside, siblingsInside, "/run", "/proc", "/sys", "/dev"];
  const over = Object.keys(volumes).find((path) => own.some((place) => isWithin(path, place) || isWithin(place, path)));
  if (over !== undefined) throw unavailable(`no volume can be at ${over}`, "See the setting container.volumes.");
}

/** Podman takes mounts apart at commas again. */
function mustBeSayable(path: string): void {
  if (!/[,"\n\\]/.test(path)) return;
  throw unavailable(
    `${JSON.stringify(path)} cannot be shown in a container`,
    "Use a path without commas, quotes and backslashes.",
  );
}

function resourceLimits(
  { limits: { diskBytes, memoryBytes, pids } }: EnvironmentPlan,
  { limits: can }: EngineFacts,
): string {
  return [
    `ulimit -f ${Math.ceil(diskBytes / 512)}`,
    ...(can.memory ? [] : [`ulimit -d ${Math.ceil(memoryBytes / 1024)}`]),
    ...(can.pids ? [] : [`ulimit -p ${pids} || ulimit -u ${pids}`]),
  ].join("; ");
}

/** Tells homes apart without telling where they are. */
function nameOf(home: string): string {
  return createHash("sha256").update(home).digest("hex").slice(0, 16);
}

function measureHeld(folders: readonly string[]): Promise<number | undefined> {
  const bubblewrap = findSystemExecutable("bwrap");
  return bubblewrap === undefined ? Promise.resolve(undefined) : measure(bubblewrap, folders);
}
