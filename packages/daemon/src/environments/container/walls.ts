import type { EnvironmentId } from "@corral/protocol";
import { bridgeVariables } from "../bridge/bridge.ts";
import { scriptsInside, type ShellCommand, spoolInside } from "../keeper/index.ts";
import type { EnvironmentPlan } from "../port.ts";
import type { JailUser } from "../walled/index.ts";
import type { EngineFacts } from "./engine.ts";

/** A host path as it is seen inside. */
export interface Mount {
  readonly source: string;
  readonly inside: string;
  readonly access: "read" | "write";
}

/** Facts of the machine and of this environment that the walls are built from. */
export interface ContainerFacts {
  readonly engine: EngineFacts;
  readonly image: string;
  readonly user: ContainerUser;
  /** The workspace, what is shielded in it, siblings, what the plan makes readable, and its way out. */
  readonly mounts: readonly Mount[];
  readonly spool: string;
  readonly scripts: string;
  readonly shell: ShellCommand;
  readonly graceSeconds: number;
  /** Words for the keeper's shell. */
  readonly resourceLimits: string;
  /** By these the engine finds the container again. */
  readonly labels: Labels;
}

export interface Labels {
  readonly home: string;
  readonly environment: EnvironmentId;
  /** Drawn for this container alone and on file before it is made. */
  readonly token: string;
}

/** Whom programs run as, seen from inside, and how the engine maps that to the outside. */
export interface ContainerUser {
  readonly uid: number;
  readonly gid: number;
  readonly userns: "host" | "keep-id" | "";
}

export const tokenLabel = "corral.token";
const homeInside = "/home/agent";

/**
 * Whoever is inside is an ordinary user outside: a rootless engine maps root to its own user, or keeps that user's number;
 * with a rootful one programs run under the number of an ordinary user.
 */
export function containerUser({ name, isRootless }: EngineFacts, outside: JailUser): ContainerUser {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  if (isRootless) return name === "Podman" ? { ...own, userns: "keep-id" } : { uid: 0, gid: 0, userns: "" };
  return outside.kind === "switched"
    ? { uid: outside.uid, gid: outside.gid, userns: "host" }
    : { ...own, userns: "host" };
}

/** What a container is made of, as the engine is asked for it: a pure function, so that a wall is a line in one list. */
export function specification(plan: EnvironmentPlan, facts: ContainerFacts): object {
  const { user, labels } = facts;
  return {
    Image: facts.image,
    Entrypoint: keeper(facts),
    Cmd: [],
    User: `${user.uid}:${user.gid}`,
    WorkingDir: "/",
    Hostname: "corral",
    Env: Object.entries(variables(plan)).map(([name, value]) => `${name}=${value}`),
    Labels: { "corral.home": labels.home, "corral.environment": labels.environment, [tokenLabel]: labels.token },
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      UsernsMode: user.userns,
      NetworkMode: plan.network === "open" ? "default" : "none",
      IpcMode: "private",
      Init: false,
      Privileged: false,
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      // What is mounted has no label of containers, and must not get one.
      SecurityOpt: ["no-new-privileges", "label=disable"],
      LogConfig: { Type: "none" },
      RestartPolicy: { Name: "no" },
      ...limits(plan, facts.engine),
      ShmSize: shmBytes,
      Tmpfs: scratch,
      Mounts: mounts(plan, facts),
    },
  };
}

const shmBytes = 2 ** 28;

/** Without `exec` Docker lets nothing be run from there. */
const scratch = {
  "/tmp": "rw,exec,nosuid,nodev,size=1073741824,mode=1777",
  "/var/tmp": "rw,exec,nosuid,nodev,size=1073741824,mode=1777",
  [homeInside]: "rw,exec,nosuid,nodev,size=536870912,mode=777",
  "/run": "rw,nosuid,nodev,size=1048576,mode=755",
};

/**
 * The keeper may begin at once: by its token the container is on file before the engine hears of it. Its output goes to the spool, for an agent
 * could fill the engine's log by it.
 */
function keeper({ shell, graceSeconds, resourceLimits, labels }: ContainerFacts): string[] {
  const [program, ...flags] = shell;
  const launch = `exec "$@" <${scriptsInside}/begin >/dev/null 2>${spoolInside}/${readyFile}`;
  const argv = [program, ...flags, `${scriptsInside}/keeper.sh`, String(graceSeconds), resourceLimits, labels.token];
  return [program, ...flags, "-c", launch, "corral", ...argv];
}

/** Where the keeper says that it is ready, in the spool. */
export const readyFile = "ready";

function limits({ limits: { memoryBytes, pids, cpus } }: EnvironmentPlan, { limits: can }: EngineFacts): object {
  return {
    ...(can.memory ? { Memory: memoryBytes, MemorySwap: memoryBytes } : {}),
    ...(can.pids ? { PidsLimit: pids } : {}),
    ...(can.cpu ? { NanoCpus: Math.round(cpus * 1e9) } : {}),
  };
}

function mounts({ volumes }: EnvironmentPlan, facts: ContainerFacts): object[] {
  const own: Mount[] = [
    { source: facts.spool, inside: spoolInside, access: "write" },
    { source: facts.scripts, inside: scriptsInside, access: "read" },
  ];
  return [
    ...[...facts.mounts, ...own].map(({ source, inside, access }) => ({
      Type: "bind",
      Source: source,
      Target: inside,
      ReadOnly: access === "read",
      BindOptions: { Propagation: "rprivate" },
    })),
    ...Object.entries(volumes).map(([inside, name]) => ({ Type: "volume", Source: name, Target: inside })),
  ];
}

/** PATH is the image's own. */
function variables({ egress, variables: added }: EnvironmentPlan): Record<string, string> {
  return {
    HOME: homeInside,
    USER: "agent",
    LOGNAME: "agent",
    SHELL: "/bin/sh",
    LANG: "C.UTF-8",
    TERM: "dumb",
    TMPDIR: "/tmp",
    ...(egress === undefined ? {} : bridgeVariables),
    ...added,
  };
}
