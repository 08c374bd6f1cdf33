import * as z from "zod";
import { environmentAsked, environmentWish } from "./environment.ts";
import { admitInput } from "./input.ts";
import { callId, continueId, projectId, sessionId, snapshotId } from "./id.ts";
import { flag } from "./query.ts";
import { sessionState } from "./state.ts";
import { todoItem } from "./todo.ts";
import { toolPatterns } from "./tool.ts";
import { workspaceBase, workspaceKind } from "./workspace.ts";

/**
 * `plan`: nothing is written. `ask`: what is not plainly reading is asked. `auto`: what stays in the workspace is done; without walls,
 * no more than in `ask`.
 */
export const mode = z.enum(["plan", "ask", "auto"]);
export type Mode = z.infer<typeof mode>;

/** Sessions of one name in a project are one agent's: what is allowed "always" to it, and the rules that name it, count in all of them. */
export const agentName = z.string().regex(/^[A-Za-z0-9][\w.-]{0,62}$/, "expected a name of letters, digits, . _ and -");

/** Who gets the turns of a session done: Corral's own loop, or an agent program. A runner knows the kinds by these names. */
export const agentKind = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, "expected a name of small letters, digits and -");

/** Of sessions that were begun without a kind. */
export const usualKind = "loop";

/** How much a model thinks before it answers. */
export const effort = z.enum(["low", "medium", "high"]);
export type Effort = z.infer<typeof effort>;

export const modelName = z.string().regex(/^[^/]+\/.+$/, "expected provider/model");

export const turnLimit = z.int().min(1).max(1000);

export const createSession = z.object({
  projectId,
  /** The folder of the project to start from; without: the project's own. */
  worktree: z.string().max(4096).optional(),
  /** Without: `main`. */
  agent: agentName.optional(),
  /** Without: `loop`. One that no runner knows fails the session's activities. */
  kind: agentKind.optional(),
  /** Without: what the project's settings say. */
  model: modelName.optional(),
  /** Without: what the settings say of the model, or what is usual with its provider. */
  effort: effort.optional(),
  mode: mode.default("auto"),
  environment: environmentAsked.prefault({}),
  workspace: workspaceKind.default("copy"),
  /** What a copy begins with: also the files of a snapshot of the same project. Without: HEAD. */
  base: z.union([workspaceBase, z.object({ snapshot: snapshotId })]).optional(),
  /** Turns an activity may take before it waits for a word from a person. Without: what the project's settings say. */
  turnLimit: turnLimit.optional(),
  /** Which of the tools it may have that the settings leave it. Without: all of these. */
  tools: toolPatterns.optional(),
});
export type CreateSession = z.infer<typeof createSession>;

/** A session and the first thing that is said to it, made together or not at all. Sent again with the same input, it is that session. */
export const beginSession = createSession.extend({ input: admitInput });
export type BeginSession = z.infer<typeof beginSession>;

export const sessionView = z.object({
  id: sessionId,
  projectId,
  /** The first words said to it, until somebody renames it; empty before. */
  title: z.string(),
  /** Whose session it is. */
  agent: z.string(),
  /** Who gets its turns done. */
  kind: z.string(),
  model: z.string(),
  mode,
  environment: environmentWish,
  workspace: workspaceKind,
  state: sessionState,
  /** Inputs that are not promoted yet, and whether those in the queue wait for a person. */
  inbox: z.object({ waiting: z.int().nonnegative(), isParked: z.boolean() }),
  isArchived: z.boolean(),
  /** The agent's list of what is to be done, if it keeps one. */
  todo: z.array(todoItem).optional(),
  /** The seq of the event this view is true for. */
  seq: z.int(),
});
export type SessionView = z.infer<typeof sessionView>;

/** `seq` is that of the input's admission; the session's creation is the event before it. */
export const sessionBegun = z.object({ session: sessionView, seq: z.int() });
export type SessionBegun = z.infer<typeof sessionBegun>;

/** A person's word on what nobody can tell. */
export const decideRecovery = z.object({ call: callId, decision: z.enum(["retry", "abandon"]) });
export type DecideRecovery = z.infer<typeof decideRecovery>;

export const sessionList = z.object({ sessions: z.array(sessionView) });
export type SessionList = z.infer<typeof sessionList>;

export const deleteAnswer = z.object({ kind: z.literal("deleted") });
export type DeleteAnswer = z.infer<typeof deleteAnswer>;

/** `boundary`: at the end of the turn under way. */
export const interruptAt = z.enum(["now", "boundary"]);
export type InterruptAt = z.infer<typeof interruptAt>;

export const interruptSession = z.object({ at: interruptAt.default("now") });
export type InterruptSession = z.infer<typeof interruptSession>;

/** `parked`: nothing of it had begun, for it was in line for a place; what waited is kept in the parked queue. */
export const interruptAnswer = z.object({ kind: z.enum(["requested", "parked", "nothing-running"]) });
export type InterruptAnswer = z.infer<typeof interruptAnswer>;

export const recoveryAnswer = z.object({ kind: z.literal("decided") });
export type RecoveryAnswer = z.infer<typeof recoveryAnswer>;

/** The id is the client's, so that sending it again is harmless. Without: each is another. */
export const continueSession = z.object({ id: continueId.optional() });
export type ContinueSession = z.infer<typeof continueSession>;

/**
 * `continued`: it goes on, and the model is asked at least once. `joined`: it was at work already. `waits`: a person has to answer a question or to
 * decide on a call first, and nothing was done.
 */
export const continueAnswer = z.discriminatedUnion("kind", [
  z.object({ kind: z.enum(["continued", "joined"]) }),
  z.object({ kind: z.literal("waits"), on: z.enum(["question", "recovery"]) }),
]);
export type ContinueAnswer = z.infer<typeof continueAnswer>;

export const renameSession = z.object({ title: z.string().trim().min(1).max(200) });
export type RenameSession = z.infer<typeof renameSession>;

export const renameAnswer = z.object({ kind: z.enum(["renamed", "unchanged"]) });
export type RenameAnswer = z.infer<typeof renameAnswer>;

export const archiveAnswer = z.object({ kind: z.enum(["archived", "unarchived", "unchanged"]) });
export type ArchiveAnswer = z.infer<typeof archiveAnswer>;

/** Where words were found in a session: the best place, in pieces of which some are what was looked for. */
export const foundSession = z.object({
  id: sessionId,
  projectId,
  title: z.string(),
  isArchived: z.boolean(),
  in: z.enum(["title", "input", "reply"]),
  /** Of the event that said it. */
  at: z.int(),
  pieces: z.array(z.object({ text: z.string(), isHit: z.boolean() })),
  /** How many places there are. */
  hits: z.int().positive(),
});
export type FoundSession = z.infer<typeof foundSession>;

/** The best first. */
export const searchAnswer = z.object({ found: z.array(foundSession), seq: z.int() });
export type SearchAnswer = z.infer<typeof searchAnswer>;

/** Which sessions are listed: archived ones only when asked for. */
export const listSessions = z.object({ archived: flag.default("0") });

/** Sessions that hold all the words in one place; the last word may be a beginning. */
export const searchSessions = z.object({
  words: z.string().min(1).max(500),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});
