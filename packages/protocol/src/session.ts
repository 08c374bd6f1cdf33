import * as z from "zod";
import { environmentAsked, environmentWish } from "./environment.ts";
import { activityId, callId, projectId, sessionId, snapshotId } from "./id.ts";
import { workspaceBase, workspaceKind } from "./workspace.ts";

export const mode = z.enum(["auto"]);
export type Mode = z.infer<typeof mode>;

export const modelName = z.string().regex(/^[^/]+\/.+$/, "expected provider/model");

export const turnLimit = z.int().min(1).max(1000);

export const createSession = z.object({
  projectId,
  /** The folder of the project to start from; without: the project's own. */
  worktree: z.string().max(4096).optional(),
  /** Without: what the project's settings say. */
  model: modelName.optional(),
  mode: mode.default("auto"),
  environment: environmentAsked.prefault({}),
  workspace: workspaceKind.default("copy"),
  /** What a copy begins with: also the files of a snapshot of the same project. Without: HEAD. */
  base: z.union([workspaceBase, z.object({ snapshot: snapshotId })]).optional(),
  /** Turns an activity may take before it waits for a word from a person. Without: what the project's settings say. */
  turnLimit: turnLimit.optional(),
});
export type CreateSession = z.infer<typeof createSession>;

/** What a session is doing, in one word and what it is doing it on. */
export const sessionState = z.discriminatedUnion("state", [
  z.object({ state: z.literal("idle") }),
  z.object({ state: z.literal("thinking"), activityId }),
  z.object({ state: z.literal("waiting"), activityId, on: z.enum(["recovery", "continue"]) }),
  z.object({ state: z.literal("failed"), activityId, message: z.string() }),
]);
export type SessionState = z.infer<typeof sessionState>;

export const sessionView = z.object({
  id: sessionId,
  projectId,
  title: z.string(),
  model: z.string(),
  mode,
  environment: environmentWish,
  workspace: workspaceKind,
  state: sessionState,
  /** The seq of the event this view is true for. */
  seq: z.int(),
});
export type SessionView = z.infer<typeof sessionView>;

/** A person's word on what nobody can tell. */
export const decideRecovery = z.object({ call: callId, decision: z.enum(["retry", "abandon"]) });
export type DecideRecovery = z.infer<typeof decideRecovery>;

export const sessionList = z.object({ sessions: z.array(sessionView) });
export type SessionList = z.infer<typeof sessionList>;

export const deleteAnswer = z.object({ kind: z.literal("deleted") });
export type DeleteAnswer = z.infer<typeof deleteAnswer>;

export const interruptAnswer = z.object({ kind: z.enum(["requested", "nothing-running"]) });
export type InterruptAnswer = z.infer<typeof interruptAnswer>;

export const recoveryAnswer = z.object({ kind: z.literal("decided") });
export type RecoveryAnswer = z.infer<typeof recoveryAnswer>;
