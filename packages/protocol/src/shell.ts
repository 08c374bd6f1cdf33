import * as z from "zod";
import { commandResult, environmentAsked, environmentWish, limitHit } from "./environment.ts";
import { flag } from "./query.ts";
import { commandId, environmentId, projectId, shellId } from "./id.ts";

/**
 * What files a shell works on: a private copy of the project, the project's own folder, or, without a project, an empty
 * folder of its own.
 */
export const shellWorkspace = z.enum(["copy", "in-place", "scratch"]);
export type ShellWorkspace = z.infer<typeof shellWorkspace>;

export const openShellWish = z.object({
  /** Needed by all but `scratch`. */
  projectId: projectId.optional(),
  /** The folder of the project to work on; without: the project's own. */
  worktree: z.string().max(4096).optional(),
  environment: environmentAsked.prefault({}),
  /** Without: `copy` of the project, or `scratch` when none is named. */
  workspace: shellWorkspace.optional(),
});
export type OpenShellWish = z.infer<typeof openShellWish>;

export const shellView = z.object({
  id: shellId,
  projectId: projectId.optional(),
  environment: environmentWish,
  workspace: shellWorkspace,
  /** Host path of its files. */
  path: z.string(),
  /** Who opened it. */
  actor: z.string(),
  /** `resting`: nothing of it runs; the next command starts it afresh, on the same files. */
  state: z.enum(["open", "resting", "closed"]),
  /** The seq of the event this view is true for. */
  seq: z.int(),
});
export type ShellView = z.infer<typeof shellView>;

export const shellList = z.object({ shells: z.array(shellView) });
export type ShellList = z.infer<typeof shellList>;

export const longestCommandMs = 24 * 3_600_000;

/** In UTF-16 code units. */
export const longestCommandText = 200_000;

export const startCommand = z.object({
  /** From whoever asks: sent again, it is the same command and runs once. */
  id: commandId,
  text: z.string().min(1).max(longestCommandText),
  /** When it is ended, with all that it started. */
  timeoutMs: z.int().min(1).max(longestCommandMs).default(3_600_000),
  /** A command that was there before. This one runs only where that one did, and counts on the folder and the variables there. */
  after: commandId.optional(),
});
export type StartCommand = z.infer<typeof startCommand>;

/** What is recorded of a command's end: all but its output. */
export const commandFacts = z.object({
  exitCode: z.int(),
  timedOut: z.boolean(),
  limit: limitHit.optional(),
  shellRespawned: z.boolean(),
  stdoutBytes: z.int(),
  stderrBytes: z.int(),
  /** The whole of an output that is too long for a result. */
  artifacts: commandResult.shape.artifacts,
  heldBack: commandResult.shape.heldBack,
});
export type CommandFacts = z.infer<typeof commandFacts>;

/** `unknown`: it began, and nobody can tell how it ended, or its environment ended before it began; the reason tells which. */
export const commandView = z.discriminatedUnion("state", [
  z.object({ id: commandId, shell: shellId, state: z.literal("running") }),
  z.object({ id: commandId, shell: shellId, state: z.literal("ended"), result: commandResult }),
  /** Its output is no longer kept. */
  z.object({ id: commandId, shell: shellId, state: z.literal("past"), facts: commandFacts }),
  z.object({ id: commandId, shell: shellId, state: z.literal("unknown"), reason: z.string() }),
]);
export type CommandView = z.infer<typeof commandView>;

/** What whoever follows a command is told: output as it comes, from its beginning, and then how it stands. */
export const commandNews = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("output"),
    stream: z.enum(["stdout", "stderr"]),
    text: z.string(),
    /** The same in base64, where it is no UTF-8 and the text cannot say what was written. */
    bytes: z.string().optional(),
  }),
  z.object({ kind: z.literal("command"), command: commandView }),
]);
export type CommandNews = z.infer<typeof commandNews>;

/** Without a command: all that runs or waits in it. */
export const interruptShell = z.object({ command: commandId.optional() });

export const shellInterruptAnswer = z.object({ kind: z.enum(["interrupted", "nothing-running"]) });
export type ShellInterruptAnswer = z.infer<typeof shellInterruptAnswer>;

/** What git ignores and nobody had committed: some of the paths, as git shows them, and how many there are. */
const ignoredFiles = z.object({ paths: z.array(z.string()), count: z.int() });
export type IgnoredFiles = z.infer<typeof ignoredFiles>;

/** `kept`: where its files are, when something was changed in them that would be lost otherwise. `ignored`: what went with them. */
export const closedShell = z.object({ id: shellId, kept: z.string().optional(), ignored: ignoredFiles.optional() });
export type ClosedShell = z.infer<typeof closedShell>;

/** Facts of a shell that are stored. */
export const shellFacts = z.object({
  projectId: projectId.optional(),
  environment: environmentWish,
  workspace: shellWorkspace,
  path: z.string(),
  /** Host folders the workspace reads from, visible in the environment at the same place. */
  readable: z.array(z.string()),
  variables: z.record(z.string(), z.string()),
  /** The commit that a copy starts from. */
  base: z.string().optional(),
  /** The user whose files they are, and whom commands run as; without: the daemon's own, or, in place, the folder's owner. */
  uid: z.int().optional(),
});

export const startedCommand = z.object({
  id: commandId,
  text: z.string(),
  timeoutMs: z.int(),
  environment: environmentId,
  /** By its words it changes no file, so no snapshot is taken after it. */
  reads: z.literal(true).optional(),
});

/** How long to wait for a command's end, or whether to follow it. */
export const lookAtCommand = z.object({
  wait: z.coerce.number().pipe(z.int().min(0).max(60)).default(0).describe("seconds to wait for its end"),
  follow: flag
    .default("0")
    .describe(
      "1: the answer is text/event-stream, with `output` messages from the command's beginning on and, last, a `command` message with how it ended; " +
        "a stream that breaks off before can be asked for again",
    ),
});
