import * as z from "zod";
import { callId, commandId, sessionId, shellId, snapshotId, terminalId } from "./id.ts";
import { changedFile, flaggedChange, skippedFile } from "./workspace.ts";

/** All files of a workspace at one moment, tracked or not. `tree` is its content's address: equal trees, equal files. */
export const snapshotTaken = z.object({
  snapshotId,
  tree: z.string(),
  /** The one before it in this workspace. */
  previous: snapshotId.nullable(),
  /** `start`: before any work. `removal`: before the folder goes. `person`: somebody asked for it. */
  reason: z.enum(["start", "calls", "removal", "person"]),
  /** The calls, or commands of a person's shell, that ended since the one before: who made the difference. */
  calls: z.array(callId),
  commands: z.array(commandId),
  /** The terminals of a person's shell that closed since the one before. */
  terminals: z.array(terminalId).optional(),
  /** Counted from the one before. */
  files: z.int(),
  insertions: z.int(),
  deletions: z.int(),
  skipped: z.array(skippedFile),
  /** Its new objects as they are kept in storage: a pack, by the SHA-256 of it. */
  pack: z.string().optional(),
  /** What of the difference somebody should look at, as far as it fits; without: nothing. */
  flagged: z.array(flaggedChange).optional(),
});
export type SnapshotTaken = z.infer<typeof snapshotTaken>;

/** What these did changed no file that is kept: all is as in that snapshot. Told of a person's shell. */
export const snapshotUnchanged = z.object({
  snapshotId,
  commands: z.array(commandId),
  terminals: z.array(terminalId),
});

export const snapshotView = z.object({
  id: snapshotId,
  /** Whose files they are: a session's or a person's shell's, one of the two. */
  session: sessionId.optional(),
  shell: shellId.optional(),
  ...snapshotTaken.omit({ snapshotId: true, pack: true }).shape,
  /** The seq of the event that tells of it. */
  seq: z.int(),
  /** When it was taken, about. */
  at: z.string(),
});
export type SnapshotView = z.infer<typeof snapshotView>;

/** Oldest first. */
export const snapshotList = z.object({ snapshots: z.array(snapshotView) });
export type SnapshotList = z.infer<typeof snapshotList>;

/** `unchanged`: the last one holds the same files; it is that one. */
export const takeSnapshotAnswer = z.object({ kind: z.enum(["taken", "unchanged"]), snapshot: snapshotView });
export type TakeSnapshotAnswer = z.infer<typeof takeSnapshotAnswer>;

/** From one snapshot to another of the same session or shell, or to the files as they are now. */
export const snapshotDiff = z.object({
  session: sessionId.optional(),
  shell: shellId.optional(),
  from: snapshotId,
  to: snapshotId.optional(),
  files: z.array(changedFile),
  /** The difference as git prints it; cut when it is very long. */
  patch: z.string(),
  truncated: z.boolean(),
});
export type SnapshotDiff = z.infer<typeof snapshotDiff>;

/** Without paths: all files. A path is a file or a folder, from the top of the workspace; what was not there then goes. */
export const restoreSnapshot = z.object({
  paths: z.array(z.string().min(1).max(4096)).min(1).max(1000).optional(),
});
export type RestoreSnapshot = z.infer<typeof restoreSnapshot>;

/** `before`: what there was, to go back to; `after`: what there is now. */
export const restoreAnswer = z.object({
  kind: z.literal("restored"),
  snapshot: snapshotId,
  before: snapshotId,
  after: snapshotId,
});
export type RestoreAnswer = z.infer<typeof restoreAnswer>;

/** What a snapshot is compared with. */
export const compareSnapshot = z.object({
  to: snapshotId.optional().describe("another one of the same session or shell; without: now"),
});
