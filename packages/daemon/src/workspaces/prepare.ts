import { CorralError } from "@corral/protocol";
import { constants } from "node:fs";
import { copyFile, lchown, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { placesInside } from "../environments/index.ts";
import { fault } from "../faults/index.ts";
import { git } from "../git/index.ts";
import { readableAlternates } from "./alternates.ts";
import { borrow, checkOut, commitWorktree, detachFrom, give, type NewOwner, type Owner } from "./copy.ts";
import { copyExtras } from "./extras.ts";
import { keepFor } from "./keep.ts";
import { pointHead } from "./layout.ts";
import { type Fork, unpackFork } from "./snapshots/fork.ts";
import { inspect, notesOf, type Remote, type Source, type SourceNotes } from "./source.ts";
import { type Spare, takeSpare } from "./spare.ts";
import type { Skipped } from "./staging.ts";
import { setOut } from "./trash.ts";

export interface WorkspaceWish {
  /** The user's repo, a folder in it, or one of its worktrees. */
  readonly repo: string;
  /** Where the copy is to be; its parent is Corral's own. */
  readonly destination: string;
  /** The new branch. */
  readonly branch: string;
  /** `dirty`: what is not committed yet comes along, as a commit of its own. Without: HEAD. */
  readonly from?: "head" | "dirty" | undefined;
  /** A commit to begin from instead, which the repo has: where earlier work was left. */
  readonly start?: string | undefined;
  /** A snapshot to begin from instead. */
  readonly fork?: Fork | undefined;
  /** Patterns of files that git does not know and the work needs; copied from the user's folder. */
  readonly extras?: readonly string[] | undefined;
  /** The folder with copies that are kept ready. */
  readonly spares?: string | undefined;
  /** Gives the user that all of it is to belong to; a spare has its own. Without: it belongs to whoever this process runs as. */
  readonly newOwner?: NewOwner | undefined;
  /** Places that show something of the environment's own inside: nothing of the host can be read there. */
  readonly hidden?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface Workspace {
  readonly path: string;
  readonly branch: string;
  /** The commit that the branch starts from; empty when the repo has none yet. */
  readonly base: string;
  /** The commit of the user's that was checked out; another than `base` when uncommitted work came along. */
  readonly head: string;
  /** The folders of git objects that the copy borrows from, which have to be readable at the same place. */
  readonly readable: readonly string[];
  /** Author and committer for commits made in the copy. */
  readonly variables: Readonly<Record<string, string>>;
  readonly remotes: readonly Remote[];
  readonly notes: SourceNotes;
  /** `spare`: it had been kept ready. */
  readonly way: "shared objects" | "spare" | "in place";
  /** Whom all of it belongs to; undefined: whoever this process runs as, or, in place, the user. */
  readonly owner?: Owner | undefined;
  /** Files besides those that git knows. */
  readonly extras: readonly string[];
  /** Uncommitted files that did not come along. */
  readonly skipped: readonly Skipped[];
}

/**
 * Makes a private copy of a repo on a new branch. Objects are borrowed, never linked: nothing that
 * is written in the copy can reach the user's files, and nothing is written in theirs. Where they could not be read inside, they are
 * copied. The copy appears whole or not at all; what a killed call left is replaced, and a copy that is there already is
 * returned as it was prepared.
 */
export async function prepareWorkspace(wish: WorkspaceWish): Promise<Workspace> {
  const prepared = await readRecord(wish.destination);
  if (prepared !== undefined) return prepared;
  const beside = `${wish.destination}.preparing`;
  const [source] = await Promise.all([inspect(wish.repo, { signal: wish.signal }), clear(beside)]);
  const kept = keepBorrowed(source, wish);
  const filled = await fill(source, beside, wish);
  const readable = await readableAlternates(join(beside, ".git/objects"));
  const { destination: path, branch } = wish;
  const { head, remotes, variables } = source;
  const workspace = { path, branch, head, readable, variables, remotes, ...filled };
  await Promise.all([
    // As it is before anybody works there: by it the first snapshot knows what is unchanged.
    copyFile(join(beside, ".git/index"), `${path}.index`, constants.COPYFILE_FICLONE).catch(notThere),
    writeFile(`${path}.json.new`, JSON.stringify(workspace), { mode: 0o600, flush: true }),
    kept,
  ]);
  // The record first: a copy with its name has one.
  await rename(`${path}.json.new`, recordOf(path));
  fault("prepare.recorded");
  await rename(beside, path);
  fault("prepare.done");
  return workspace;
}

type Filled = Pick<Workspace, "base" | "way" | "notes" | "owner" | "extras" | "skipped">;

/** Makes room for what is prepared, of which a killed call may have left a beginning. */
async function clear(beside: string): Promise<void> {
  await setOut(beside);
  await mkdir(dirname(beside), { recursive: true, mode: 0o700 });
}

/** Nothing that is borrowed is collected any more when it resolves; whoever prepares awaits it before the copy counts. */
function keepBorrowed({ commonFolder, head }: Source, { destination, start = "" }: WorkspaceWish): Promise<void> {
  const kept = keepFor(destination, { commonFolder, commits: [head, start] });
  kept.catch(() => undefined);
  return kept;
}

async function fill(source: Source, beside: string, wish: WorkspaceWish): Promise<Filled> {
  const spare = await readySpare(source, beside, wish);
  return fillWith(spare, source, beside, wish).catch(async (error: unknown) => {
    if (spare === undefined || wish.signal?.aborted === true) throw error;
    // A spare may lack what the user's repo has let go since.
    await setOut(beside);
    return fillWith(undefined, source, beside, wish);
  });
}

async function fillWith(
  spare: Spare | undefined,
  source: Source,
  beside: string,
  wish: WorkspaceWish,
): Promise<Filled> {
  const { branch, hidden = placesInside, signal } = wish;
  const owner = spare === undefined ? await wish.newOwner?.() : spare.owner;
  const notes = spare?.head === source.head ? spare.notes : noting(source, signal);
  if (spare === undefined) borrow(source, beside);
  fault("prepare.borrowed");
  const dirty = wish.from === "dirty" ? await commitWorktree(source, beside, { signal }) : undefined;
  const fork = dirty === undefined && wish.start === undefined ? wish.fork : undefined;
  if (fork !== undefined) await takeOver(fork, beside, { source, wish });
  const base = dirty?.commit ?? wish.start ?? fork?.commit ?? source.head;
  const held = spare?.head;
  if (base !== "" && base !== held) await checkOut(beside, { from: held, to: base, owner }, { signal });
  fault("prepare.checked-out");
  pointHead(join(beside, ".git"), branch, base);
  if (spare === undefined) await detachFrom(beside, hidden, { signal });
  const extras = await copyExtras(source.worktree, beside, wish.extras ?? []);
  const isAsSpare = base === held && dirty === undefined && fork === undefined && extras.length === 0;
  if (owner !== undefined && isAsSpare) await giveBranch(beside, branch, owner);
  else if (owner !== undefined) await give(ownedAnew(beside, { isWhole: base === "", extras }), owner);
  const way = spare === undefined ? ("shared objects" as const) : ("spare" as const);
  return { base, way, notes: await notes, ...(owner && { owner }), extras, skipped: dirty?.skipped ?? [] };
}

function noting({ worktree, head }: Source, signal: AbortSignal | undefined): Promise<SourceNotes> {
  const noted = notesOf(worktree, head, { signal });
  noted.catch(() => undefined);
  return noted;
}

/** All that is new in a spare that was taken as it is; the rest is the owner's already. */
async function giveBranch(beside: string, branch: string, { uid, gid }: Owner): Promise<void> {
  const refs = branch.split("/").map((_, depth, names) => join("refs/heads", ...names.slice(0, depth + 1)));
  const paths = [...refs, "shallow"].map((name) => join(beside, ".git", name));
  await Promise.all(paths.map((path) => lchown(path, uid, gid).catch(notThere)));
}

/** What the snapshot was made on is borrowed, too. */
async function takeOver(
  fork: Fork,
  beside: string,
  { source, wish }: { source: Source; wish: WorkspaceWish },
): Promise<void> {
  await unpackFork(beside, fork);
  const parent = await git(beside, ["rev-parse", "--verify", "--quiet", `${fork.commit}^`]);
  await keepFor(wish.destination, { commonFolder: source.commonFolder, commits: [parent.stdout.trim()] });
}

/** A spare is for the HEAD of its time; the difference is small. Repos that cannot be borrowed from have none. */
async function readySpare(
  source: Source,
  beside: string,
  { spares, newOwner }: WorkspaceWish,
): Promise<Spare | undefined> {
  if (spares === undefined || source.head === "") return undefined;
  return takeSpare(spares, { source, isOwned: newOwner !== undefined, to: beside });
}

/** Those that were checked out are the owner's already. */
function ownedAnew(beside: string, { isWhole, extras }: { isWhole: boolean; extras: readonly string[] }): string[] {
  if (isWhole) return [beside];
  const folders = extras.flatMap((path) =>
    path.split("/").map((_, depth, names) => names.slice(0, depth + 1).join("/")),
  );
  return [".git", ...new Set(folders)].map((name) => join(beside, name));
}

/** As the index in a repository without a commit. */
function notThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Beside the copy, where no agent can write. */
/** Records that a killed daemon had not finished. Nobody may be preparing. */
export async function removeHalfRecorded(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names) if (name.endsWith(".json.new")) await rm(join(folder, name), { force: true });
}

function recordOf(destination: string): string {
  return `${destination}.json`;
}

async function readRecord(destination: string): Promise<Workspace | undefined> {
  if ((await lstat(destination).catch(() => undefined)) === undefined) {
    await rm(recordOf(destination), { force: true });
    return undefined;
  }
  try {
    return JSON.parse(await readFile(recordOf(destination), "utf8")) as Workspace;
  } catch (cause) {
    const hint = "Move the folder away and try again.";
    throw new CorralError("workspace.failed", `${destination} is there and is no workspace of Corral.`, {
      cause,
      hint,
    });
  }
}
