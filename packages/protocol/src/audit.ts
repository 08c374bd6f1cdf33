import * as z from "zod";
import { environmentKind, limitHit, network } from "./environment.ts";
import { activityId, callId, commandId, projectId, sessionId, setupId, shellId, snapshotId } from "./id.ts";
import { flag } from "./query.ts";
import { shellWorkspace } from "./shell.ts";
import { flaggedChange } from "./workspace.ts";

/** The newest link of the chain with its seq (0 and zeros while nothing is linked), in one word: whoever keeps it elsewhere can tell later what was rewritten. */
export const chainHead = z.string().regex(/^\d{1,15}:[\w-]{43}$/, "expected a head as `corral audit head` prints it");

/**
 * `changed`: the event is not what was linked. `link-changed`: the event before the next is, but its link is not.
 * `missing`: it was linked and is gone. `inserted`: it was never linked. `erased`: nobody recorded that it was erased.
 * `begin`: the chain does not begin as chains do.
 */
export const chainBreak = z.object({
  kind: z.enum(["changed", "link-changed", "missing", "inserted", "erased", "begin"]),
  from: z.int(),
  to: z.int(),
  /** Of what is still there. */
  stream: z.string().optional(),
  type: z.string().optional(),
});
export type ChainBreak = z.infer<typeof chainBreak>;

/**
 * What became of a head that was kept. `ahead`: the log ends before it. `passed-over`: another log had that place, as before
 * a backup was restored. `older`: it lies before the chain.
 */
export const keptHead = z.object({
  head: chainHead,
  found: z.enum(["on-chain", "other-link", "ahead", "passed-over", "older"]),
});
export type KeptHead = z.infer<typeof keptHead>;

export const chainReport = z.object({
  verdict: z.enum(["intact", "broken"]),
  /** Null while nothing is linked. */
  head: chainHead.nullable(),
  /** How many places were gone over. */
  events: z.int(),
  /** Events up to this seq are older than the chain and not covered by it; 0: none. */
  olderUpTo: z.int(),
  /** Events whose facts were erased, and those removed for their age; their hashes are still there. */
  erased: z.int(),
  trimmed: z.int(),
  /** The newest of those removed for their age; 0: none. */
  trimmedUpTo: z.int(),
  /** Seqs that were passed over, where a backup was restored or a damaged database made room. */
  gaps: z.array(z.object({ from: z.int(), to: z.int() })),
  /** The first of them. */
  breaks: z.array(chainBreak),
  breakCount: z.int(),
  kept: keptHead.optional(),
});
export type ChainReport = z.infer<typeof chainReport>;

export const headView = z.object({ head: chainHead });
export type HeadView = z.infer<typeof headView>;

/** The difference that a command made, as far as it can be told. */
export const auditDiff = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("snapshot"),
    snapshot: snapshotId,
    /** Null: it is the first. */
    previous: snapshotId.nullable(),
    tree: z.string(),
    files: z.int(),
    insertions: z.int(),
    deletions: z.int(),
    /** Others that ended before the same snapshot: the figures are for all of them together. */
    sharedWith: z.array(z.union([callId, commandId])),
    /** One of the two can no longer be had. */
    expired: z.boolean(),
  }),
  /**
   * `never-ran`: it did not begin. `running`: it has not ended. `read-only`: nothing could be written. `scratch`: there is no
   * repository. `not-named`: later snapshots were taken, not for it: it only read. `not-yet`: none was taken since. `unchanged`: no
   * file changed. `closed`: its shell was closed first, and held no change then.
   */
  z.object({
    kind: z.literal("none"),
    why: z.enum(["never-ran", "running", "read-only", "scratch", "not-named", "not-yet", "unchanged", "closed"]),
  }),
]);
export type AuditDiff = z.infer<typeof auditDiff>;

export const auditWhere = z.object({
  session: sessionId.optional(),
  shell: shellId.optional(),
  project: projectId.optional(),
  environment: environmentKind.optional(),
  network: network.optional(),
  workspace: shellWorkspace.optional(),
  /** Host path of its files. */
  path: z.string().optional(),
});
export type AuditWhere = z.infer<typeof auditWhere>;

export const auditEntryId = z.union([callId, commandId, setupId]);

/** One command that an agent or a person ran, or wanted to, or that made a copy ready for work. */
export const auditEntry = z.object({
  id: auditEntryId,
  kind: z.enum(["call", "command", "setup"]),
  /** Of the event that it was asked for with, and of the newest that tells of it. */
  seq: z.int(),
  lastSeq: z.int(),
  /** Who ran it: an agent, or a person. */
  actor: z.string(),
  /** Whose words the agent acted on, the newest last. */
  onWordOf: z.array(z.string()),
  activity: activityId.optional(),
  where: auditWhere,
  tool: z.string(),
  /** As it was run; for tools other than the shell their arguments. */
  command: z.string(),
  /** In lists: the command is longer than what is told of it. */
  isCut: z.literal(true).optional(),
  askedAt: z.string(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  attempts: z.int(),
  outcome: z.enum(["waiting", "running", "ended", "failed", "declined", "interrupted", "unknown"]),
  /** Why it failed, or why nobody can tell. */
  reason: z.string().optional(),
  exitCode: z.int().optional(),
  timedOut: z.boolean().optional(),
  limit: limitHit.optional(),
  /** Measured where that is recorded, else from its start to its end by the clock. */
  durationMs: z.number().optional(),
  interruptedBy: z.string().optional(),
  /** Its end was found out later: the daemon was away. */
  recovered: z.boolean().optional(),
  diff: auditDiff,
  /** What of the difference somebody should look at. Of all together, where the difference is shared. */
  flagged: z.array(flaggedChange).optional(),
});
export type AuditEntry = z.infer<typeof auditEntry>;

export const auditQuery = z.object({
  session: sessionId.optional(),
  shell: shellId.optional(),
  project: projectId.optional(),
  /** Only what was asked for behind this seq. Without: the newest. */
  after: z.coerce.number().pipe(z.int().nonnegative()).optional(),
  /** Only what was asked for since then, by the clocks of that time. */
  since: z.iso.datetime().optional(),
  failed: flag.default("0").describe("1: only what went wrong"),
  flagged: flag.default("0").describe("1: only what changed something that somebody should look at"),
  limit: z.coerce.number().pipe(z.int().min(1).max(500)).default(100),
});
export type AuditQuery = z.infer<typeof auditQuery>;

/**
 * In the order they were asked for. `next`: the cursor for those behind it; null: there are none. `hasEarlier`: the newest
 * were asked for, and there may be others before them.
 */
export const auditPage = z.object({
  entries: z.array(auditEntry),
  next: z.int().nullable(),
  hasEarlier: z.boolean(),
  head: chainHead,
});
export type AuditPage = z.infer<typeof auditPage>;

/** `head`: one that was kept elsewhere, to be looked for on the chain. */
export const verifyChain = z.object({ head: chainHead.optional() });
