import * as z from "zod";

/** `in-place`: the project's own folder, one session at a time. */
export const workspaceKind = z.enum(["copy", "in-place"]);

/** What a copy begins with: the last commit, or what is in the user's folder and not committed yet, too. */
export const workspaceBase = z.enum(["head", "dirty"]);

/** A file that was left out, and why. */
export const skippedFile = z.object({ path: z.string(), why: z.string() });

/**
 * A change that somebody should look at: what was written there runs by itself, or is obeyed, when a person, an editor, an agent or CI
 * uses the repository.
 */
export const flaggedChange = z.object({ path: z.string(), why: z.string() });
export type FlaggedChange = z.infer<typeof flaggedChange>;

/** What was brought into the user's repository. Figures count from where the workspace began. */
export const broughtBack = z.object({
  branch: z.string(),
  commit: z.string(),
  /** Where the branch was, when it was brought before. */
  before: z.string().optional(),
  commits: z.int(),
  files: z.int(),
  insertions: z.int(),
  deletions: z.int(),
  /** Something had been left uncommitted and was committed by Corral. */
  leftovers: z.boolean(),
  skipped: z.array(skippedFile),
  /** A person changed the files, with `corral edit`. */
  edited: z.literal(true).optional(),
});
export type BroughtBack = z.infer<typeof broughtBack>;

/** `merge`: a commit with two parents even where the branch could just be moved to. */
const mergeHow = z.enum(["fast-forward", "merge", "squash"]);

export const workspaceMerge = z.object({
  branch: z.string(),
  commit: z.string(),
  /** The user's folder, and where it was and is to be. */
  worktree: z.string(),
  from: z.string(),
  to: z.string(),
  how: mergeHow,
  /** The commit of the branch that was merged before: this merge takes what came after it. */
  since: z.string().optional(),
});
export type WorkspaceMerge = z.infer<typeof workspaceMerge>;

/** Where a discarded workspace is kept. */
export const discarded = z.object({
  folder: z.string(),
  branch: z.string().optional(),
  commit: z.string().optional(),
});
export type Discarded = z.infer<typeof discarded>;

export const changedFile = z.object({
  path: z.string(),
  /** Null for what is no text. */
  insertions: z.int().nullable(),
  deletions: z.int().nullable(),
});

/** What a session changed. Everything it did is on the branch. */
export const workspaceDiff = z.object({
  /** The folder itself, for whoever may open it. */
  path: z.string(),
  base: z.string(),
  /** Without: nothing was brought yet. */
  branch: z.string().optional(),
  commit: z.string().optional(),
  files: z.array(changedFile),
  /** The difference as git prints it; cut when it is very long. */
  patch: z.string(),
  truncated: z.boolean(),
  /** To be looked at before it is merged; without: nothing. */
  flagged: z.array(flaggedChange).optional(),
  /** What is in the folder and not on the branch, since no commit can hold it. */
  skipped: z.array(skippedFile).optional(),
});
export type WorkspaceDiff = z.infer<typeof workspaceDiff>;

export const mergeWorkspace = z.object({
  /** Without: the branch is moved to when that is possible, else a commit with two parents is made. */
  how: z.enum(["squash", "no-ff"]).optional(),
});
export type MergeWorkspace = z.infer<typeof mergeWorkspace>;

export const mergeAnswer = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("merged"),
    ...workspaceMerge.shape,
    /** It was done before, and nothing was done now. */
    already: z.literal(true).optional(),
  }),
  /** The user's branch holds all of it already. */
  z.object({ kind: z.literal("nothing-to-merge") }),
]);
export type MergeAnswer = z.infer<typeof mergeAnswer>;

/** `undo`: what was discarded last is brought back. */
export const discardWorkspace = z.object({ undo: z.boolean().optional() });
export type DiscardWorkspace = z.infer<typeof discardWorkspace>;

export const discardAnswer = z.object({
  kind: z.enum(["discarded", "restored"]),
  branch: z.string().optional(),
  commit: z.string().optional(),
});
export type DiscardAnswer = z.infer<typeof discardAnswer>;

export const bringBackAnswer = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("brought"), ...broughtBack.shape }),
  z.object({ kind: z.literal("nothing-new"), skipped: z.array(skippedFile).optional() }),
]);
export type BringBackAnswer = z.infer<typeof bringBackAnswer>;

/** `edited`: a person changed the files. */
export const bringBackWorkspace = z.object({ edited: z.boolean().optional() });
export type BringBackWorkspace = z.infer<typeof bringBackWorkspace>;

/** `cancel`: ends it; `again`: runs it once more; `skip`: goes on without it. */
export const decideSetup = z.object({ decision: z.enum(["cancel", "again", "skip"]) });
export type DecideSetup = z.infer<typeof decideSetup>;

export const setupAnswer = z.object({ kind: z.enum(["requested", "nothing-to-decide"]) });
export type SetupAnswer = z.infer<typeof setupAnswer>;
