import * as z from "zod";
import { artifactAnnounced, artifactExpired, artifactKept } from "./artifact.ts";
import { callChange } from "./call.ts";
import { configProblem, configSource } from "./config.ts";
import { environmentState, environmentWish } from "./environment.ts";
import { heldBackName } from "./held-back.ts";
import {
  activityId,
  answerId,
  artifactId,
  callId,
  commandId,
  continueId,
  environmentId,
  inputId,
  partId,
  projectId,
  questionId,
  ruleId,
  snapshotId,
  tokenId,
  turnId,
} from "./id.ts";
import { attachment, delivery } from "./input.ts";
import { networkContact } from "./network.ts";
import { answerGiven, askedQuestion } from "./question.ts";
import { alwaysFor, ruleMatch } from "./rule.ts";
import { agentKind, agentName, effort, interruptAt, mode, modelName } from "./session.ts";
import { placeInLine } from "./place.ts";
import { waitingOn } from "./state.ts";
import { commandFacts, shellFacts, startedCommand } from "./shell.ts";
import { closedTerminal, openedTerminal } from "./terminal.ts";
import { snapshotTaken, snapshotUnchanged } from "./snapshot.ts";
import { credentialKind, providerName } from "./credential.ts";
import { registeredModel } from "./model.ts";
import { tokenFacts } from "./token.ts";
import { todoItem } from "./todo.ts";
import { toolChoice, toolOffer } from "./tool.ts";
import { usage } from "./usage.ts";
import { broughtBack, discarded, skippedFile, workspaceBase, workspaceKind, workspaceMerge } from "./workspace.ts";

/**
 * Every event type with the shape of its data. A stored event is forever: fields are added as optional ones, and a
 * meaning never changes. A shape that must change gets a lift (`lift.ts`); every shape ever written has a golden file.
 */
export const eventData = {
  "project.registered": z.object({
    id: projectId,
    path: z.string(),
    name: z.string(),
    /** Where git keeps the repository; all its worktrees share it. */
    gitFolder: z.string().optional(),
  }),
  /** The same repository was found elsewhere, and is gone from where it was. */
  "project.moved": z.object({
    id: projectId,
    from: z.string(),
    path: z.string(),
    name: z.string(),
    gitFolder: z.string(),
  }),
  /** Another folder of the same repository. */
  "project.worktree-found": z.object({ id: projectId, path: z.string() }),
  /** The owner trusts what these files said, by its hash; for all of the project's files, in place of what was trusted before. */
  "project.trusted": z.object({ id: projectId, files: z.record(z.string(), z.string()) }),
  /** Off the list and no longer trusted; its sessions stay. */
  "project.forgotten": z.object({ id: projectId }),

  /** A file says something else than before (or says it for the first time, or no longer). */
  "config.changed": z.object({ keys: z.array(z.string()), origin: configSource }),
  /** A file cannot be taken; what was good before stays. */
  "config.rejected": z.object({ ...configSource.shape, ...configProblem.shape }),

  "session.created": z.object({
    projectId,
    worktree: z.string().optional(),
    title: z.string(),
    /** Without: `main`. */
    agent: agentName.optional(),
    /** Without: `loop`. */
    kind: agentKind.optional(),
    model: z.string(),
    effort: effort.optional(),
    mode,
    environment: environmentWish,
    workspace: workspaceKind,
    turnLimit: z.int().positive(),
    /** What a copy begins with; without: HEAD. */
    base: workspaceBase.optional(),
    /** It begins with what a snapshot holds, as this commit. */
    fork: z.object({ snapshotId, commit: z.string() }).optional(),
    /** Patterns of files besides those in git that come along. */
    copyList: z.array(z.string()).optional(),
    /** What is run in a new copy before any work, and what becomes of the work when it fails. */
    setup: z.object({ command: z.string(), onFailure: z.enum(["stop", "go-on"]) }).optional(),
    /** Without: all that there are. */
    tools: toolChoice.optional(),
    /** Calls of one reply that are carried out. */
    callLimit: z.int().positive().optional(),
  }),
  "session.renamed": z.object({ title: z.string() }),
  /** Out of the list; nothing of it runs until somebody unarchives it or says something to it. */
  "session.archived": z.object({}),
  "session.unarchived": z.object({}),
  /** It ended long ago and was let go for its age: it is no more, nor are its inputs and artifacts; its events go as time allows. */
  "session.expired": z.object({ inputs: z.array(inputId), artifacts: z.array(artifactId).optional() }),
  "workspace.prepared": z.object({
    path: z.string(),
    branch: z.string(),
    base: z.string(),
    /** Host folders the workspace reads from, visible in the environment at the same place. */
    readable: z.array(z.string()),
    /** Variables the environment gets for its sake (author and committer). */
    variables: z.record(z.string(), z.string()),
    /** The user's commit of that time, when the branch starts from another. */
    head: z.string().optional(),
    /** How it was made. */
    way: z.enum(["shared objects", "spare", "in place"]).optional(),
    remotes: z.array(z.object({ name: z.string(), url: z.string() })).optional(),
    /** What the copy lacks: submodules are not fetched, files of Git LFS are pointers. */
    lacks: z.object({ submodules: z.array(z.string()), lfs: z.boolean() }).optional(),
    /** The user whose it is, and whom programs in it run as; without: the daemon's own, or, in place, the folder's owner. */
    uid: z.int().optional(),
    /** Files from the copy list. */
    extras: z.array(z.string()).optional(),
    /** Uncommitted files that did not come along. */
    skipped: z.array(skippedFile).optional(),
  }),
  /** What was done in the workspace is a branch of the user's repository now. */
  "workspace.brought-back": broughtBack,
  /** There was nothing in it that had not been brought before. */
  "workspace.unchanged": z.object({}),
  /** It is all still in the workspace, and is tried again after the next activity. */
  "workspace.bring-back-failed": z.object({ message: z.string() }),
  /** The user's folder is about to be changed. What is cut off here is finished, or given up, at the next start. */
  "workspace.merge-begun": workspaceMerge,
  "workspace.merged": workspaceMerge,
  "workspace.merge-given-up": z.object({ reason: z.string() }),
  /** Moved aside with all that is in it; its branch is gone from the user's repository. */
  "workspace.discarded": discarded,
  /** As it was before it was discarded. */
  "workspace.restored": discarded,
  /** Names that others obey were taken out of the user's own folder. The question of that id is asked about them. */
  "workspace.held-back": z.object({ id: questionId, names: z.array(heldBackName) }),
  /** What came of the answer. `left`: it stays aside, in the folder named. */
  "workspace.held-back-settled": z.object({
    id: questionId,
    names: z.array(
      z.object({ path: z.string(), outcome: z.enum(["put-back", "left"]), reason: z.string().optional() }),
    ),
    folder: z.string().optional(),
  }),
  /** It rested for so long that its folder was removed. Its branch stays; the next work begins from there. */
  "workspace.cleared": z.object({ commit: z.string() }),

  /** A snapshot is kept. */
  "snapshot.taken": snapshotTaken,
  /** None was needed. */
  "snapshot.unchanged": snapshotUnchanged,
  /** The workspace's files, or those of the paths named, are again what they were then. */
  "snapshot.restored": z.object({ snapshotId, paths: z.array(z.string()).optional() }),
  /**
   * Too old, too many, or its shell was closed: its files can no longer be had. `packs`: those in storage that hold all that is left,
   * from now on. `last`: none is left.
   */
  "snapshot.expired": z.object({
    snapshotId,
    packs: z.array(z.string()).optional(),
    last: z.literal(true).optional(),
  }),
  /** None could be taken; the next one covers what these calls, or commands of a person's shell, did. */
  "snapshot.failed": z.object({
    message: z.string(),
    calls: z.array(callId),
    commands: z.array(commandId).optional(),
  }),

  /** A file comes out of the work. */
  "artifact.announced": artifactAnnounced,
  "artifact.kept": artifactKept,
  "artifact.expired": artifactExpired,

  /** The command that makes a new copy ready for work runs. */
  "setup.started": z.object({ attempt: z.int().positive(), command: z.string() }),
  "setup.ended": z.object({
    attempt: z.int().positive(),
    outcome: z.enum(["done", "failed", "cancelled"]),
    exitCode: z.int().optional(),
    /** What it printed, cut in the middle when long. */
    output: z.string(),
  }),
  /** A person's word on it. */
  "setup.decided": z.object({ decision: z.enum(["cancel", "again", "skip"]) }),
  "environment.opened": z.object({ state: environmentState }),
  /** The environment was found ended (or was ended); a later command opens another. */
  "environment.closed": z.object({
    id: environmentId,
    reason: z.string(),
    /** Something that is protected in the user's own folder was replaced or made there: the reason says what, for people to know. */
    breach: z.boolean().optional(),
  }),

  /** Somebody in the session's environment reached a host, or tried to. In place of what was recorded of the same before. */
  "network.reached": networkContact,

  /**
   * A person said "always": what is named is allowed to the session, the agent or the project by that id or name. Of an agent it is
   * in the stream of the project in which it holds.
   */
  "rule.kept": z.object({ for: alwaysFor, of: z.string(), match: ruleMatch }),
  /** A person took it back; in the stream that it was kept in. */
  "rule.forgotten": z.object({ id: ruleId }),

  "input.admitted": z.object({
    id: inputId,
    text: z.string(),
    attachments: z.array(attachment),
    delivery,
    /** What the session is called from now on: it had no title, and this is the first that was said to it. */
    title: z.string().optional(),
  }),
  /** As those below, of one that is not promoted yet. Its id may be admitted anew. */
  "input.cancelled": z.object({ id: inputId }),
  "input.edited": z.object({ id: inputId, text: z.string() }),
  "input.flipped": z.object({ id: inputId, delivery }),
  /** It is the first of the queue now. */
  "input.advanced": z.object({ id: inputId }),
  "input.promoted": z.object({ id: inputId, activityId }),

  /** No queued input opens an activity until a person says so; steers do. */
  "queue.parked": z.object({}),
  /** Also of a queue that an interrupt had parked. */
  "queue.resumed": z.object({}),

  /** It has something to do and may not yet: so many others are at work. Told once, with where it stood then. */
  "place.awaited": placeInLine,
  /** Its turn has come. */
  "place.given": z.object({}),
  /** It went out of the line: there is nothing left to do, or a person wants it not done now. */
  "place.left": z.object({}),

  /**
   * A person asks the session to go on, whatever it waits for or not. `activityId`: the one that was open; it waited and goes on, or `joined`: it was
   * at work already, and nothing more is done. Without: one is opened, unless the word is withdrawn before.
   */
  "continue.asked": z.object({ id: continueId, activityId: activityId.optional(), joined: z.literal(true).optional() }),
  /** A person stopped the session before anything came of it. */
  "continue.withdrawn": z.object({ id: continueId }),

  /** `continued`: nothing new was said; a person asked the session to go on. */
  "activity.opened": z.object({ id: activityId, continued: continueId.optional() }),
  /** `boundary`: when the turn under way has ended; else at once. */
  "activity.interrupt-requested": z.object({ id: activityId, at: interruptAt.optional() }),
  /** Whoever was at it is gone, and another goes on where its record ends. */
  "activity.recovering": z.object({ id: activityId, reason: z.string() }),
  /** The activity does nothing more until a person decides. */
  "activity.waiting": z.object({ id: activityId, on: waitingOn }),
  /** A person has decided; the activity goes on. */
  "activity.resumed": z.object({ id: activityId }),
  "activity.settled": z.object({
    id: activityId,
    outcome: z.enum(["done", "failed", "interrupted"]),
    error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }).optional(),
  }),

  /** What the model is told before all else, from the next turn on. `topics`: which version of what is in it. */
  "context.set": z.object({ system: z.string(), topics: z.record(z.string(), z.string()) }),
  /** A topic of it is another now, and is told here, behind what was said: what stands before stays as it was. */
  "context.told": z.object({ topic: z.string(), version: z.string(), text: z.string() }),
  /** The tools that the model may call from the next turn on. */
  "tools.offered": z.object({ tools: z.array(toolOffer) }),

  /** The agent's list of what is to be done, in place of the one before. */
  "todo.changed": z.object({ items: z.array(todoItem) }),

  /** What will be asked is fixed; the hash tells whether a later attempt asks the same. */
  "turn.prepared": z.object({ id: turnId, activityId, model: z.string(), requestHash: z.string() }),
  /** Durable before the request leaves. Attempts after the first follow a crash or a failed request. */
  "turn.dispatched": z.object({
    id: turnId,
    attempt: z.int().positive(),
    /** How much the model is to think; without: as is usual with its provider, or it does not think. */
    effort: effort.optional(),
  }),
  /** One attempt failed without any effect; another follows unless the turn settles. */
  "turn.attempt-failed": z.object({
    id: turnId,
    attempt: z.int().positive(),
    error: z.object({ code: z.string(), message: z.string() }),
    /** The pause before the next attempt, where one follows. */
    againInMs: z.int().nonnegative().optional(),
  }),
  /** A whole text or reasoning part of the reply; its deltas came before on the live lane. `cut`: it ended early. */
  "turn.said": z.object({
    id: turnId,
    part: partId,
    kind: z.enum(["text", "reasoning"]),
    text: z.string(),
    cut: z.boolean().optional(),
    /** What the provider wants back with this part in later requests (signatures), as it gave it. */
    providerMetadata: z.record(z.string(), z.unknown()).optional(),
  }),
  /** The reply is whole; its calls may still run. */
  "turn.replied": z.object({
    id: turnId,
    finish: z.string(),
    usage,
    /** Which model was asked, as provider/model. */
    model: z.string().optional(),
    /** What the request cost, by the prices of that time; without: nobody knows them. */
    costUsd: z.number().nonnegative().optional(),
  }),
  /** All its calls have ended. `cut`: the reply ended early and what came is kept; `failed`: no attempt got a reply. */
  "turn.settled": z.object({ id: turnId, outcome: z.enum(["replied", "cut", "failed"]) }),

  /** Recorded when its arguments are complete. `malformed`: they were not what the tool takes; it will fail. */
  "call.requested": z.object({
    id: callId,
    turnId,
    providerCallId: z.string(),
    tool: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    malformed: z.string().optional(),
    /** What the provider wants back with this call in later requests, as it gave it. */
    providerMetadata: z.record(z.string(), z.unknown()).optional(),
  }),
  /**
   * `reads`: as far as can be told before, it changes no file. `changes`: all that it is about to change. `beside`: it runs beside another
   * call, in a further shell, and in this folder, unless that is the one where shells begin.
   */
  "call.started": z.object({
    id: callId,
    attempt: z.int().positive(),
    reads: z.literal(true).optional(),
    changes: z.array(callChange).optional(),
    beside: z.object({ shell: z.string(), folder: z.string().optional() }).optional(),
  }),
  "call.settled": z.object({ id: callId, result: z.unknown(), recovered: z.boolean().optional() }),
  "call.failed": z.object({ id: callId, error: z.object({ code: z.string(), message: z.string() }) }),
  "call.interrupted": z.object({ id: callId, result: z.unknown().optional() }),
  /** It had started and nobody can tell how it ended; a person decides. */
  "call.unknown": z.object({ id: callId, reason: z.string() }),
  /** It never ran: the rules forbid it, or the operator did. */
  "call.declined": z.object({ id: callId, by: z.enum(["rules", "operator"]), reason: z.string() }),
  "call.decided": z.object({ id: callId, decision: z.enum(["retry", "abandon"]) }),

  /** Something for the operator to answer; of these four ends it has one. */
  "question.asked": askedQuestion,
  "question.answered": z.object({ id: questionId, answerId: answerId.optional(), answer: answerGiven }),
  /** Its time was over, and this was to be taken for the answer. */
  "question.defaulted": z.object({ id: questionId, answer: answerGiven }),
  "question.expired": z.object({ id: questionId }),
  "question.cancelled": z.object({ id: questionId, reason: z.string() }),

  /** A person's shell; its environment is told of as a session's is. */
  "shell.opened": shellFacts,
  /** `kept`: its files stay, for something was changed in them. */
  "shell.closed": z.object({ reason: z.string(), kept: z.string().optional() }),
  /** Durable before it runs. */
  "shell.command-started": startedCommand,
  /** How it ended; its output is not stored. `recovered`: whoever started it had gone in the meantime. */
  "shell.command-ended": z.object({
    id: commandId,
    ...commandFacts.shape,
    durationMs: z.number().optional(),
    interruptedBy: z.string().optional(),
    recovered: z.boolean().optional(),
  }),
  "shell.command-unknown": z.object({ id: commandId, reason: z.string() }),

  /** Of a shell. Durable before anything of it runs. */
  "terminal.opened": openedTerminal,
  /** Its program ended, was ended, or could not begin. */
  "terminal.closed": closedTerminal,

  /** A model that is not built in is known from now on, or one that is built in is other than that. */
  "model.added": registeredModel,
  "model.changed": registeredModel,
  "model.removed": z.object({ name: modelName }),

  /** A provider's key is kept, itself or by a command that prints it; what it is, no event tells. */
  "credential.stored": z.object({ provider: providerName, kind: credentialKind }),
  "credential.removed": z.object({ provider: providerName }),

  "token.created": tokenFacts,
  "token.revoked": z.object({ id: tokenId }),
  /** Somebody at this address tried wrong tokens; told once for many of them. */
  "auth.guessed": z.object({ address: z.string(), attempts: z.int().positive() }),

  /**
   * A request with an idempotency key is under way. `key` and `body` are hashes; what the request makes gets an id that
   * ends with `tail`, so that doing it again after a crash makes it once.
   */
  "request.begun": z.object({ key: z.string(), body: z.string(), tail: z.string(), forgets: z.array(z.string()) }),
  /** Its answer, for whoever sends it again; null when it held a secret. */
  "request.answered": z.object({ key: z.string(), status: z.int(), answer: z.string().nullable() }),

  /** What stands in the place of an event whose stream was erased: its seq is kept, its facts are gone. */
  erased: z.object({}),
  /** The last of an erased stream, so that whoever follows forgets what it has of it. */
  "stream.erased": z.object({}),
} as const;

export type EventType = keyof typeof eventData;
export type EventData<T extends EventType> = z.infer<(typeof eventData)[T]>;

/** An event before the log gives it its place. */
export type NewEvent = { [T in EventType]: { type: T; data: EventData<T> } }[EventType];

/** Builds a new event with its type and data kept together. */
export function event<T extends EventType>(type: T, data: EventData<T>): NewEvent {
  return { type, data } as NewEvent;
}

/** What the log adds to every event. Order is `seq` and nothing else. */
export const eventEnvelope = z.object({
  seq: z.int().positive(),
  stream: z.string(),
  version: z.int().positive(),
  typeVersion: z.int().positive(),
  actor: z.string(),
  traceId: z.string().optional(),
  approximateCreationTime: z.string(),
});
export type EventEnvelope = z.infer<typeof eventEnvelope>;

export type StoredEvent = EventEnvelope & NewEvent;
export type StoredEventOf<T extends EventType> = EventEnvelope & { type: T; data: EventData<T> };

/** The shape on the wire, where a newer daemon may send types this program does not know. */
export const wireEvent = eventEnvelope.extend({ type: z.string(), data: z.unknown() });
export type WireEvent = z.infer<typeof wireEvent>;

/** Stands in the place of events that were removed for their age: of those asked for, none from `from` to `to` is left. */
export const gap = z.object({ kind: z.literal("gap"), from: z.int().positive(), to: z.int().positive() });
export type Gap = z.infer<typeof gap>;

/** Events in seq order, or the gap in their place; `next` is the cursor to ask with for what comes after. */
export const eventPage = z.object({
  events: z.array(wireEvent),
  next: z.int().nonnegative(),
  gap: gap.optional(),
});
export type EventPage = z.infer<typeof eventPage>;
