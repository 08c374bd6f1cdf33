import { CorralError, type MergeWorkspace, type ProcessIdentity, type WorkspaceMerge } from "@corral/protocol";
import { randomUUID } from "node:crypto";
import { copyFile, link, lstat, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { identify, isAlive } from "../environments/index.ts";
import { fault } from "../faults/index.ts";
import { GitFailure } from "../git/index.ts";
import { lookOver } from "./hazards.ts";
import { orphansEnded, reclaimLocks } from "./left-locks.ts";
import { inQuarantine, type Quarantine } from "./quarantine.ts";
import type { UserRepo } from "./user-repo.ts";

/**
 * Merges a branch into what the user has checked out.
 *
 * 1. `plan` touches nothing: it tells of conflicts, and of the user's own changes that would be in the way. What it writes are
 *    objects, into a quarantine, which are accepted when the plan is good.
 * 2. `carryOut` changes files, then the branch, then the index, holding the index's lock, on which its name stands. Done
 *    again after it was cut off anywhere, it finishes, unless a file in question was changed by somebody else.
 * 3. Hooks do not run, and filters are the user's own or none: nothing that came with the branch is obeyed.
 * 4. A merge is done once. One that is in the history of what is checked out is not done again, whichever way it was done; what came
 *    after it is merged alone.
 * 5. No repository comes with a branch: a gitlink becomes an empty folder, and objects with a `.git` in them were refused when they came.
 */
export type MergePlan =
  | { readonly kind: "plan"; readonly merge: WorkspaceMerge }
  /** `isHead`: nothing was committed on top of it. */
  | { readonly kind: "done"; readonly merge: WorkspaceMerge; readonly isHead: boolean }
  | { readonly kind: "nothing-to-merge" };

export async function planMerge(user: UserRepo, wish: MergeWish): Promise<MergePlan> {
  const from = text(await user.git(["rev-parse", "--verify", "HEAD^{commit}"]));
  const done = await newestIn(user, from, wish.earlier);
  if (done !== undefined && (await holds(user, done.commit, wish.tip)))
    return { kind: "done", merge: done, isHead: done.to === from };
  if (await holds(user, from, wish.tip)) return { kind: "nothing-to-merge" };
  await mustBeBetweenDeeds(user);
  await lookOver(user.source.worktree);
  return inQuarantine(user, wish.incoming, (quarantine) => planWith(quarantine, wish, { from, done }));
}

interface Found {
  /** What the user has checked out. */
  readonly from: string;
  /** What was merged into it before. */
  readonly done: WorkspaceMerge | undefined;
}

async function planWith(quarantine: Quarantine, wish: MergeWish, { from, done }: Found): Promise<MergePlan> {
  const { user } = quarantine;
  const { branch, tip, how } = wish;
  const since = done !== undefined && (await holds(user, tip, done.commit)) ? done.commit : undefined;
  const moves = how === undefined && (await holds(user, tip, from));
  const { tree, made } = moves ? { tree: "", made: [] } : await mergedTree(user, wish, { from, done });
  if (how === "squash" && tree === text(await user.git(["rev-parse", `${from}^{tree}`])))
    return { kind: "nothing-to-merge" };
  const to = moves ? tip : await commitMerge(user, { ...wish, from, tree, since });
  const deed = how === "squash" ? "squash" : moves ? "fast-forward" : "merge";
  await mustBeClear(user, { from, to });
  await quarantine.accept({ except: made });
  const { worktree } = user.source;
  const merge = { branch, commit: tip, worktree, from, to, how: deed, ...(since !== undefined && { since }) } as const;
  return { kind: "plan", merge };
}

/** The newest merge that is part of a commit's history: what the user took back is not. */
async function newestIn(
  user: UserRepo,
  commit: string,
  earlier: readonly WorkspaceMerge[],
): Promise<WorkspaceMerge | undefined> {
  for (const merge of earlier.toReversed()) if (await holds(user, commit, merge.to)) return merge;
  return undefined;
}

/** Also false for what is not there any more. */
async function holds(user: UserRepo, later: string, earlier: string): Promise<boolean> {
  return (await user.git(["merge-base", "--is-ancestor", earlier, later])).ok;
}

export interface MergeWish {
  readonly branch: string;
  readonly tip: string;
  readonly how: MergeWorkspace["how"];
  /** The note of what is on its way into the user's repo. */
  readonly incoming: string;
  /** Merges of this session that were begun before, the oldest first. */
  readonly earlier: readonly WorkspaceMerge[];
  /** Author and committer. */
  readonly variables: Readonly<Record<string, string>>;
}

interface MergedTree {
  readonly tree: string;
  /** Commits that were made to get there and are of no more use. */
  readonly made: readonly string[];
}

/** Throws `workspace.conflict`. */
async function mergedTree(user: UserRepo, wish: MergeWish, { from, done }: Found): Promise<MergedTree> {
  const { branch, tip } = wish;
  const base = done === undefined ? undefined : await baseSince(user, { from, tip, done });
  const made = base === undefined ? [] : [await standIn(user, wish, from, base), await standIn(user, wish, tip, base)];
  const [ours = from, theirs = tip] = made;
  const merged = await user.git(["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs]);
  const [tree = "", ...files] = merged.stdout.split("\0").filter(Boolean);
  if (!merged.ok) throw files.length > 0 ? conflict(branch, files) : new GitFailure(merged.stderr);
  return { tree, made };
}

/** What was merged before, where git does not know that it was: the branch is no parent of a squashed commit. */
async function baseSince(
  user: UserRepo,
  { from, tip, done }: { readonly from: string; readonly tip: string; readonly done: WorkspaceMerge },
): Promise<string | undefined> {
  const isKnown = (await holds(user, from, done.commit)) || (await holds(user, tip, done.to));
  return !isKnown && (await holds(user, tip, done.commit)) ? done.commit : undefined;
}

/** A commit with the files of another and the base as its parent: git takes no base by name before 2.40. */
async function standIn(user: UserRepo, { variables }: MergeWish, commit: string, base: string): Promise<string> {
  return text(await user.git(["commit-tree", `${commit}^{tree}`, "-p", base, "-m", "stands in"], { variables }));
}

/** The commit exists before anything is changed. */
async function commitMerge(
  user: UserRepo,
  wish: MergeWish & { readonly from: string; readonly tree: string; readonly since: string | undefined },
): Promise<string> {
  const { branch, tip, how, from, tree, since, variables } = wish;
  const parents = how === "squash" ? ["-p", from] : ["-p", from, "-p", tip];
  const squashed = since === undefined ? `Take over ${branch}` : `Take over what is new on ${branch}`;
  const subject = how === "squash" ? squashed : `Merge branch '${branch}'`;
  return text(await user.git(["commit-tree", tree, ...parents, "-m", subject], { variables }));
}

/** What git leaves in its folder while the user is in the middle of something. */
const deeds = {
  MERGE_HEAD: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
} as const;

/** What the user has resolved by then is nowhere but in files that a merge would replace. */
async function mustBeBetweenDeeds(user: UserRepo): Promise<void> {
  for (const [name, deed] of Object.entries(deeds))
    if (await isThere(join(user.source.gitFolder, name))) throw inTheMiddle(`of a ${deed} of your own`);
  const unmerged = await user.git(["ls-files", "--unmerged", "-z"]);
  if (unmerged.stdout !== "") throw inTheMiddle("of resolving conflicts");
}

/** Throws `workspace.overlap`: the user's changes are neither lost nor mixed in. */
async function mustBeClear(user: UserRepo, { from, to }: { from: string; to: string }): Promise<void> {
  const [status, changed, others] = await Promise.all([
    user.git(["diff-index", "--name-only", "-z", "--ignore-submodules=all", from]),
    user.git(["diff-tree", "-r", "--name-only", "--no-renames", "-z", from, to]),
    user.git(["ls-files", "--others", "-z"]),
  ]);
  const staged = await user.git(["diff-index", "--cached", "--name-only", "-z", from]);
  const own = await reallyChanged(user, from, names(status));
  const files = inTheWay([...own, ...names(staged), ...names(others)], names(changed));
  if (files.length > 0) throw overlap(files);
}

/** Those paths that cannot be written without something of these going: one at the place itself, below it, or on the way to it. */
function inTheWay(own: readonly string[], paths: readonly string[]): string[] {
  // A repository of the user's inside is told as a folder.
  const there = new Set(own.map((path) => path.replace(/\/$/, "")));
  const above = new Set<string>();
  for (const path of there) {
    for (const folder of foldersOf(path)) {
      if (above.has(folder)) break;
      above.add(folder);
    }
  }
  return paths.filter((path) => there.has(path) || above.has(path) || foldersOf(path).some((each) => there.has(each)));
}

/** The folders that a path is in, the nearest first. */
function foldersOf(path: string): string[] {
  const found: string[] = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) found.push(path.slice(0, at));
  return found;
}

/** What git only suspects because of its times is compared. Its index is not brought up to date for that. */
async function reallyChanged(user: UserRepo, from: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const compared = await user.git([
    "diff",
    "--name-only",
    "-z",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
    from,
  ]);
  return compared.ok ? names(compared) : [...paths];
}

/**
 * Throws `workspace.busy` while another program holds the index, and `workspace.overlap` when files in question
 * were changed by somebody else since.
 */
export async function carryOut(user: UserRepo, { from, to, branch }: WorkspaceMerge): Promise<void> {
  const { gitFolder, worktree } = user.source;
  await lookOver(worktree);
  const [index, lock] = [join(gitFolder, "index"), join(gitFolder, "index.lock")];
  await takeLock(user, lock);
  fault("merge.locked");
  const next = join(gitFolder, "index.corral");
  try {
    const head = text(await user.git(["rev-parse", "--verify", "HEAD^{commit}"]));
    if (head !== from && head !== to) throw moved();
    await rm(`${next}.lock`, { force: true });
    await mustBeOneOf(user, { from, to, index, next });
    await copyFile(index, next).catch(() => undefined);
    const variables = { GIT_INDEX_FILE: next };
    const settings = { "core.checkStat": "minimal", "core.trustctime": "false" };
    // Files were held to be the one or the other, so none is lost by being replaced.
    const args = ["read-tree", "--reset", "-u", ...(head === to ? [to] : [from, to])];
    text(await user.git(args, { variables, settings }));
    fault("merge.filled");
    const words = ["-m", `corral: merge ${branch}`];
    if (head !== to) text(await user.git(["update-ref", ...words, "HEAD", to, from]));
    fault("merge.moved");
    await user.git(["update-index", "-q", "--refresh"], { variables });
    await rename(next, index);
    fault("merge.indexed");
  } finally {
    await rm(next, { force: true });
    await rm(lock, { force: true });
  }
}

/** Whose it is stands in the lock from the beginning: one that a killed daemon left is known by it. */
async function takeLock(user: UserRepo, lock: string): Promise<void> {
  const before = await lstat(lock).catch(() => undefined);
  if (before !== undefined && (await isLeft(lock))) {
    await endLeft(user, before.mtimeMs);
    await rm(lock, { force: true });
  }
  await removeLeftBeside(lock);
  const made = `${lock}.${randomUUID()}`;
  try {
    await writeFile(made, `${mark}${JSON.stringify(identify(process.pid))}\n`);
    await link(made, lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new CorralError("workspace.busy", "Another git program is at work in your repository.", {
      retry: "later",
      hint: `Try again when it has ended; if none runs, remove ${lock}`,
    });
  } finally {
    await rm(made, { force: true });
  }
}

const mark = "corral ";

/** It is Corral's, of a daemon that is no more. */
async function isLeft(lock: string): Promise<boolean> {
  const text = await readFile(lock, "utf8").catch(() => "");
  if (!text.startsWith(mark)) return false;
  try {
    return !isAlive(JSON.parse(text.slice(mark.length)) as ProcessIdentity);
  } catch {
    return true;
  }
}

/** What daemons left that were killed while they took the lock. An empty file may be about to be written. */
async function removeLeftBeside(lock: string): Promise<void> {
  const names = await readdir(dirname(lock));
  for (const path of names.filter(isBesideLock).map((name) => join(dirname(lock), name))) {
    const found = await lstat(path).catch(() => undefined);
    const isAbandoned = found?.size === 0 && Date.now() - found.mtimeMs > 60_000;
    if (isAbandoned || (await isLeft(path))) await rm(path, { force: true });
  }
}

function isBesideLock(name: string): boolean {
  return /^index\.lock\.[0-9a-f-]{36}$/.test(name);
}

/** What that daemon's git still does, and the locks of the branch that one left. */
async function endLeft(user: UserRepo, since: number): Promise<void> {
  const { worktree, gitFolder, commonFolder } = user.source;
  const folders = [worktree, gitFolder, commonFolder];
  await orphansEnded(folders);
  const branch = (await user.git(["symbolic-ref", "--quiet", "HEAD"])).stdout.trim();
  const locks = [join(gitFolder, "HEAD.lock"), ...(branch === "" ? [] : [join(commonFolder, `${branch}.lock`)])];
  await reclaimLocks({ folders, locks, since });
}

interface Judged {
  readonly from: string;
  readonly to: string;
  readonly index: string;
  /** A place for an index. */
  readonly next: string;
}

/** Each file in question is as it was before or as it is to be, also those that the user's index does not know yet. */
async function mustBeOneOf(user: UserRepo, { from, to, index, next }: Judged): Promise<void> {
  const diff = ["diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];
  const variables = { GIT_INDEX_FILE: next };
  await copyFile(index, next).catch(() => undefined);
  text(await user.git(["read-tree", "--reset", to], { variables }));
  const [changed, fromOld, fromNew, others] = await Promise.all([
    user.git(["diff-tree", "-r", "--name-only", "--no-renames", "-z", from, to]),
    user.git([...diff, from]),
    user.git(diff, { variables }),
    user.git(["ls-files", "--others", "-z"]),
  ]);
  const [old, late] = [new Set(names(fromOld)), new Set(names(fromNew))];
  const unlike = names(changed).filter((path) => late.has(path));
  const files = new Set([...unlike.filter((path) => old.has(path)), ...inTheWay(names(others), unlike)]);
  if (files.size > 0) throw overlap([...files]);
}

function names({ stdout }: { readonly stdout: string }): string[] {
  return stdout.split("\0").filter(Boolean);
}

function text({ ok, stdout, stderr }: { ok: boolean; stdout: string; stderr: string }): string {
  if (!ok) throw new GitFailure(stderr.trim() || stdout);
  return stdout.trim();
}

function listed(files: readonly string[]): string {
  const shown = files.slice(0, 10).join(", ");
  return files.length > 10 ? `${shown} and ${files.length - 10} more` : shown;
}

function conflict(branch: string, files: readonly string[]): CorralError {
  return new CorralError(
    "workspace.conflict",
    `${branch} and your branch disagree in ${listed([...new Set(files)])}.`,
    {
      hint: `Nothing was changed. Merge by hand (git merge ${branch}), or ask the session to build on your branch`,
    },
  );
}

function overlap(files: readonly string[]): CorralError {
  return new CorralError("workspace.overlap", `Uncommitted changes of yours are in the way: ${listed(files)}.`, {
    hint: "Nothing was changed. Commit or stash them (git stash), then merge again",
  });
}

function inTheMiddle(what: string): CorralError {
  return new CorralError("workspace.busy", `You are in the middle ${what}.`, {
    retry: "later",
    hint: "Nothing was changed. Finish or abort that (git status says how), then merge again",
  });
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

function moved(): CorralError {
  return new CorralError("workspace.busy", "Your branch moved while it was merged into.", { retry: "now" });
}
