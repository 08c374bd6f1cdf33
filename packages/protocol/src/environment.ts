import * as z from "zod";
import { artifactNamed } from "./artifact.ts";
import { heldBackNote } from "./held-back.ts";
import { environmentId } from "./id.ts";
import { hostPattern } from "./network.ts";

/** `container`: of an engine on this machine, from an image. `local`: no walls at all, only where a person chose it. */
export const environmentKind = z.enum(["jail", "container", "local"]);
export type EnvironmentKind = z.infer<typeof environmentKind>;

/** `allow`: the hosts on the list, through Corral's proxy. `open`: the machine's own network. */
export const network = z.enum(["off", "allow", "open"]);
export type Network = z.infer<typeof network>;

/** Whether the workspace can be changed from inside. */
export const access = z.enum(["read", "write"]);
export type Access = z.infer<typeof access>;

/** An image by the name that engines have for it. */
export const imageName = z
  .string()
  .max(512)
  .regex(/^[a-z0-9][a-z0-9._:@/-]*$/i, "expected the name of an image");

/** Named volumes of the engine by the inside path where each one is; never a host path. */
export const containerVolumes = z.record(
  z.string().regex(/^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._-]+)+$/, "expected an absolute path"),
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/, "expected the name of a volume"),
);
export type ContainerVolumes = z.infer<typeof containerVolumes>;

/** What is asked of an environment. */
export const environmentAsked = z.object({
  kind: environmentKind.default("jail"),
  /** Without: allow for sessions, off for shells; `local` cannot keep anything from the network: open. */
  network: network.optional(),
  /** Without: write. */
  access: access.optional(),
  /** Hosts that it may reach besides those that the settings list, where the network is `allow`. */
  allow: z.array(hostPattern).max(100).optional(),
  /** For a container. Without: the one in the settings. */
  image: imageName.optional(),
});
export type EnvironmentAsked = z.infer<typeof environmentAsked>;

/** What a session's environment is to be like. */
export const environmentWish = z.object({
  kind: environmentKind.default("jail"),
  network: network.default("allow"),
  /** Without: write. */
  access: access.optional(),
  /** Hosts that it may reach besides those that the settings list, where the network is `allow`. */
  allow: z.array(hostPattern).max(100).optional(),
  /** Of a container: the name of an image, or the absolute path of a folder that one is built from. */
  image: z.string().optional(),
  volumes: containerVolumes.optional(),
});
export type EnvironmentWish = z.infer<typeof environmentWish>;

/** A process told apart from a later one with the same number. */
export const processIdentity = z.object({
  pid: z.int(),
  /** Start time in clock ticks since boot, from /proc/PID/stat. */
  startTime: z.string(),
  bootId: z.string(),
});
export type ProcessIdentity = z.infer<typeof processIdentity>;

/** All that is needed to reopen an environment after a restart or from another runner. */
export const environmentState = z.object({
  version: z.literal(2),
  id: environmentId,
  kind: environmentKind,
  network,
  access,
  workspace: z.string(),
  supervisor: processIdentity,
  /** Which words its keeper and its workers understand; none: those of the first. */
  words: z.int().positive().optional(),
  /** The cgroups that hold its processes, one for each hierarchy; none where there are no cgroups to be had. */
  cgroups: z.array(z.string()),
  /** Of a container: what the engine, by its socket, knows it as, and what it is made of. */
  container: z.object({ id: z.string(), engine: z.string(), image: z.string(), volumes: containerVolumes }).optional(),
});
export type EnvironmentState = z.infer<typeof environmentState>;

/** What an environment may use. Each is kept by the best means there is on the machine. */
export const environmentLimits = z.object({
  /** Processes and threads at once. */
  pids: z.int().positive(),
  memoryBytes: z.int().positive(),
  /** How many processors' worth of time. */
  cpus: z.number().positive(),
  /** What it may add to the disk: workspace and spool together. */
  diskBytes: z.int().positive(),
  /** What workspace and spool may take altogether, what was there before included. Without: any amount. */
  workspaceBytes: z.int().positive().optional(),
  /** What one command may write to its output before it is ended. */
  outputBytes: z.int().positive(),
});
export type EnvironmentLimits = z.infer<typeof environmentLimits>;

/** A limit that a command ran into. */
export const limitHit = z.enum(["time", "memory", "pids", "disk", "output"]);
export type LimitHit = z.infer<typeof limitHit>;

/** What a shell command ended with. Output is cut in the middle when long; `bytes` is its whole size. */
export const commandResult = z.object({
  exitCode: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  stdoutBytes: z.int(),
  stderrBytes: z.int(),
  timedOut: z.boolean(),
  /** The limit that it ran into, if any: the one that ended it, or kept it from getting something. */
  limit: limitHit.optional(),
  /** The shell died with or during the command, or with its environment before it, and a new one took its place: cwd and variables are lost. */
  shellRespawned: z.boolean(),
  /** The whole of an output that was cut. */
  artifacts: z.object({ stdout: artifactNamed.optional(), stderr: artifactNamed.optional() }).optional(),
  /** Names that others obey and that were found in the user's own folder after it, or while it ran. */
  heldBack: z.array(heldBackNote).optional(),
});
export type CommandResult = z.infer<typeof commandResult>;

/** Why something was refused, where the program itself could only say that it was; undefined when there is nothing to add. */
export function refusalIn({ stderr }: Pick<CommandResult, "stderr">): string | undefined {
  return busyConfig.test(stderr) ? protectedConfig : undefined;
}

/** What git says when it cannot put another file in the place of one that is bound read-only. */
const busyConfig = /could not write config file .*\.git\/config: Device or resource busy/;
const protectedConfig =
  ".git/config cannot be changed in a jail, since git takes programs to run from it; " +
  "`git -c NAME=VALUE …` sets something for one command, `git config --global` for this jail";
