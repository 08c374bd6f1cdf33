import * as z from "zod";
import { environmentId } from "./id.ts";

export const environmentKind = z.enum(["jail"]);
export type EnvironmentKind = z.infer<typeof environmentKind>;

export const network = z.enum(["off"]);
export type Network = z.infer<typeof network>;

/** What a session asks of its environment. */
export const environmentWish = z.object({
  kind: environmentKind.default("jail"),
  network: network.default("off"),
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
  version: z.literal(1),
  id: environmentId,
  kind: environmentKind,
  network,
  workspace: z.string(),
  supervisor: processIdentity,
});
export type EnvironmentState = z.infer<typeof environmentState>;

/** What a shell command ended with. Output is cut in the middle when long; `bytes` is its whole size. */
export const commandResult = z.object({
  exitCode: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  stdoutBytes: z.int(),
  stderrBytes: z.int(),
  timedOut: z.boolean(),
  /** The shell died with or during the command and a new one took its place: cwd and variables are lost. */
  shellRespawned: z.boolean(),
});
export type CommandResult = z.infer<typeof commandResult>;
