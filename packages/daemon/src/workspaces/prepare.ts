import { CorralError } from "@corral/protocol";
import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { placesInside } from "../environments/index.ts";
import { fault } from "../faults/index.ts";
import { git } from "../git/index.ts";
import { alternatesOf } from "./alternates.ts";
import { borrow, checkOut, commitWorktree, detachFrom, give, type Owner } from "./copy.ts";
import { copyExtras } from "./extras.ts";
import { keepFor } from "./keep.ts";
import { pointHead } from "./layout.ts";
import { type Fork, unpackFork } from "./snapshots/fork.ts";
import { inspect, type Remote, type Source, type SourceNotes } from "./source.ts";
import { takeSpare } from "./spare.ts";
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
  /** Whom all of it is to belong to; without: whoever this process runs as. */
  readonly owner?: Owner | undefined;
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
  const source = await inspect(wish.repo, wish.signal);
  const beside = `${wish.destination}.preparing`;
  await setOut(beside);
  await mkdir(dirname(beside), { recursive: true, mode: 0o700 });
  const filled = await fill(source, beside, wish);
  const readable = await alternatesOf(join(beside, ".git/objects"));
  const { destination: path, branch } = wish;
  const { head, remotes, notes, variables } = source;
  const workspace = { path, branch, head, readable, variables, remotes, notes, ...filled };
  // As it is before anybody works there: by it the first snapshot knows what is unchanged.
  await copyFile(join(beside, ".git/index"), `${path}.index`, constants.COPYFILE_FICLONE).catch(noIndexYet);
  // The record first: a copy with its name has one.
  await writeFile(`${path}.json.new`, JSON.stringify(workspace), { mode: 0o600, flush: true });
  await rename(`${path}.json.new`, recordOf(path));
  fault("prepare.recorded");
  await rename(beside, path);
  fault("prepare.done");
  return workspace;
}

type Filled = Pick<Workspace, "base" | "way" | "extras" | "skipped">;

async function fill(source: Source, beside: string, wish: WorkspaceWish): Promise<Filled> {
  const { commonFolder, head } = source;
  // From now on nothing that is borrowed is collected.
  const kept = keepFor(wish.destination, { commonFolder, commits: [head, wish.start ?? ""] });
  const spare = await readySpare(source, beside, wish);
  const filling = fillWith(spare, source, beside, wish).catch(async (error: unknown) => {
    if (spare === undefined || wish.signal?.aborted === true) throw error;
    // A spare may lack what the user's repo has let go since.
    await setOut(beside);
    return fillWith(undefined, source, beside, wish);
  });
  const [filled] = await Promise.all([filling, kept]);
  return filled;
}

async function fillWith(
  spare: { readonly head: string } | undefined,
  source: Source,
  beside: string,
  wish: WorkspaceWish,
): Promise<Filled> {
  const { owner, branch, hidden = placesInside, signal } = wish;
  if (spare === undefined) await borrow(source, beside);
  fault("prepare.borrowed");
  const dirty = wish.from === "dirty" ? await commitWorktree(source, beside, { signal }) : undefined;
  const fork = dirty === undefined && wish.start === undefined ? wish.fork : undefined;
  if (fork !== undefined) await takeOver(fork, beside, { source, wish });
  const base = dirty?.commit ?? wish.start ?? fork?.commit ?? source.head;
  const held = spare?.head;
  if (base !== "" && base !== held) await checkOut(beside, { from: held, to: base, owner }, { signal });
  fault("prepare.checked-out");
  await pointHead(join(beside, ".git"), branch, base);
  if (spare === undefined) await detachFrom(beside, hidden, { signal });
  const extras = await copyExtras(source.worktree, beside, wish.extras ?? []);
  if (owner !== undefined) await give(ownedAnew(beside, { isWhole: base === "", extras }), owner);
  const way = spare === undefined ? ("shared objects" as const) : ("spare" as const);
  return { base, way, extras, skipped: dirty?.skipped ?? [] };
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
  { spares, owner }: WorkspaceWish,
): Promise<{ readonly head: string } | undefined> {
  if (spares === undefined || source.head === "") return undefined;
  return takeSpare(spares, { source, owner, to: beside });
}

/** Those that were checked out are the owner's already. */
function ownedAnew(beside: string, { isWhole, extras }: { isWhole: boolean; extras: readonly string[] }): string[] {
  if (isWhole) return [beside];
  const folders = extras.flatMap((path) =>
    path.split("/").map((_, depth, names) => names.slice(0, depth + 1).join("/")),
  );
  return [".git", ...new Set(folders)].map((name) => join(beside, name));
}

/** In a repository without a commit. */
function noIndexYet(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Beside the copy, where no agent can write. */
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
