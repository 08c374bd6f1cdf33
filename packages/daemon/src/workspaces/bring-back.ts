import { CorralError } from "@corral/protocol";
import { lstat, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fault } from "../faults/index.ts";
import { GitFailure } from "../git/index.ts";
import type { Owner } from "./copy.ts";
import { blamingEntries, type Commits } from "./crafted.ts";
import { type Depot, openDepot } from "./depot.ts";
import { reclaimLocks } from "./left-locks.ts";
import { inQuarantine, noteSuffix } from "./quarantine.ts";
import { inspect } from "./source.ts";
import { type Skipped, stage } from "./staging.ts";
import { repoOf, type UserRepo } from "./user-repo.ts";

/**
 * Brings what was done in a workspace into the user's repo, as a branch below `corral/`.
 *
 * 1. The branch only ever moves forward, by compare-and-swap, and only if it is where Corral left it and nobody has it
 *    checked out: otherwise a further branch takes its place. Nothing of the user's is overwritten, nothing brought before is lost.
 * 2. Objects come as a pack that git checks whole, in a quarantine. They are moved into the user's repo once all were accepted, and
 *    the branch moves when they are there. What is refused leaves nothing there; what is cut off is done again.
 * 3. What the agent left uncommitted becomes one commit by Corral under the user's name, unsigned. The workspace itself is
 *    only read.
 */
export interface BringingBack {
  readonly repo: string;
  readonly workspace: string;
  /** A folder of Corral's own beside the workspace. */
  readonly depot: string;
  readonly readable: readonly string[];
  readonly owner: Owner | undefined;
  /** Of the user's, at the time of the copy. */
  readonly head: string;
  /** Where the copy's branch started. */
  readonly base: string;
  /** The branch's name, and where Corral left it, if it was brought before. */
  readonly branch: string;
  readonly before: string | undefined;
  /** Author and committer of what was left uncommitted. */
  readonly variables: Readonly<Record<string, string>>;
  /** What the commit of the uncommitted says. */
  readonly message: string;
  readonly signal?: AbortSignal;
}

export interface Brought {
  readonly kind: "brought";
  readonly branch: string;
  readonly commit: string;
  readonly before: string | undefined;
  /** From where the copy started. */
  readonly commits: number;
  readonly files: number;
  readonly insertions: number;
  readonly deletions: number;
  /** Whether something had been left uncommitted. */
  readonly leftovers: boolean;
  readonly skipped: readonly Skipped[];
}

export interface NothingNew {
  readonly kind: "nothing-new";
  /** Without: nothing was left out. */
  readonly skipped?: readonly Skipped[];
}

/** Throws `workspace.refused` and `workspace.failed` with what is wrong; then the user's repo has the branch as it was. */
export async function bringBack(work: BringingBack): Promise<Brought | NothingNew> {
  try {
    return await bring(work);
  } catch (cause) {
    if (work.signal?.aborted === true || cause instanceof CorralError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CorralError("workspace.failed", `The work could not be brought into the repository: ${why}`, {
      cause,
      retry: "later",
      hint: `The workspace is as it was: ${work.workspace}`,
    });
  }
}

async function bring(wish: BringingBack): Promise<Brought | NothingNew> {
  const source = await inspect(wish.repo, { signal: wish.signal });
  await mustBeFolder(wish.workspace);
  const user = await repoOf(source);
  const work = { ...wish, before: (await lastMoved(user, wish)) ?? wish.before };
  const depot = await openDepot(source, { ...work, folder: work.depot });
  const { tip, leftovers, skipped } = await gather(depot, work);
  fault("bring.gathered");
  const isTold = work.before === wish.before;
  if (tip === "" || (isTold && tip === (work.before ?? work.base)))
    return { kind: "nothing-new", ...(skipped.length === 0 ? {} : { skipped }) };
  await carry(depot, user, work, { tip, known: knownOf(work) });
  fault("bring.carried");
  await writeFile(intentOf(work), tip, { flush: true });
  fault("bring.intended");
  const branch = await moveBranch(user, { name: work.branch, before: work.before, tip });
  fault("bring.moved");
  return {
    kind: "brought",
    branch,
    commit: tip,
    before: wish.before,
    leftovers,
    skipped,
    ...(await sum(depot, work, tip)),
  };
}

/** Makes the branch of something that was brought before and is gone from the user's repo. Tells its name. */
export async function bringAgain(work: BringingBack, commit: string): Promise<string> {
  const source = await inspect(work.repo, { signal: work.signal });
  const depot = await openDepot(source, { ...work, folder: work.depot });
  const user = await repoOf(source);
  await carry(depot, user, work, { tip: commit, known: [work.head].filter(Boolean) });
  return moveBranch(user, { name: work.branch, before: undefined, tip: commit });
}

/** Where a call that was cut off before it could tell has moved the branch to. */
async function lastMoved(user: UserRepo, work: BringingBack): Promise<string | undefined> {
  const intended = await readFile(intentOf(work), "utf8").catch(() => "");
  if (!/^[0-9a-f]{40,64}$/.test(intended)) return undefined;
  const { stdout } = await user.git([
    "for-each-ref",
    "--format=%(refname)",
    `--points-at=${intended}`,
    "refs/heads/corral/",
  ]);
  const ours = new RegExp(`^${refOf(work.branch)}(-\\d+)?$`, "m");
  if (work.before !== intended) await reclaimLeft(user, work);
  return ours.test(stdout) ? intended : undefined;
}

/** Those of its branches: it was about to move one when it was cut off. */
async function reclaimLeft({ source }: UserRepo, work: BringingBack): Promise<void> {
  const { worktree, commonFolder } = source;
  const folder = join(commonFolder, dirname(refOf(work.branch)));
  const ours = new RegExp(`^${basename(work.branch)}(-\\d+)?\\.lock$`);
  const locks = (await readdir(folder).catch(() => [])).filter((name) => ours.test(name));
  const { mtimeMs: since } = await stat(intentOf(work));
  await reclaimLocks({ folders: [worktree, commonFolder], locks: locks.map((name) => join(folder, name)), since });
}

/** The note of what is on its way into the user's repo. */
export function incomingOf({ depot }: Pick<BringingBack, "depot">): string {
  return `${depot}${noteSuffix}`;
}

/** Beside the depot, where no agent's doing reaches. */
function intentOf({ depot }: BringingBack): string {
  return `${depot}.tip`;
}

async function mustBeFolder(workspace: string): Promise<void> {
  if ((await lstat(workspace).catch(() => undefined))?.isDirectory() === true) return;
  throw new CorralError("workspace.failed", `There is no workspace at ${workspace}.`);
}

/** What the user's repo has. */
function knownOf({ head, before = "" }: BringingBack): readonly string[] {
  return [head, before].filter(Boolean);
}

interface Gathered {
  readonly tip: string;
  readonly leftovers: boolean;
  readonly skipped: readonly Skipped[];
}

/** What the workspace holds, as a tree of the depot. Nothing of the user's is written, and nothing but the depot. */
export async function lookAt(work: BringingBack): Promise<Staged & { readonly depot: Depot }> {
  const source = await inspect(work.repo, { signal: work.signal });
  await mustBeFolder(work.workspace);
  const depot = await openDepot(source, { ...work, folder: work.depot });
  return { depot, ...(await stageAll(depot, work)) };
}

interface Staged {
  /** The agent's commit. */
  readonly agents: string;
  readonly tree: string;
  readonly skipped: readonly Skipped[];
}

async function stageAll(depot: Depot, work: BringingBack): Promise<Staged> {
  // An agent that broke its repository has broken that alone.
  const agents = (await depot.head()) ?? work.before ?? work.base;
  await blamingEntries(depot, { tip: agents, known: knownOf(work) }, () =>
    depot.git(agents === "" ? ["read-tree", "--empty"] : ["read-tree", "--reset", agents]),
  );
  const skipped = [...depot.odd.skipped, ...(await stage(depot.worktree, depot.odd))];
  return { agents, tree: await depot.git(["write-tree"]), skipped };
}

/** The commit that holds everything: the agent's own, or one on top of it for what it left. */
async function gather(depot: Depot, work: BringingBack): Promise<Gathered> {
  const { before, variables, message } = work;
  const { agents, tree, skipped } = await stageAll(depot, work);
  const parents = await parentsOf(depot, { agents, before });
  const [first] = parents;
  const isHeld = parents.length === 1 && first !== undefined && (await treeOf(depot, first)) === tree;
  if (isHeld || (first === undefined && tree === (await emptyTree(depot))))
    return { tip: first ?? "", leftovers: false, skipped };
  const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent])];
  return { tip: await depot.git(args, { input: message, variables }), leftovers: true, skipped };
}

/** Of the next tip: the agent's commit, and what was brought before unless one holds the other. */
async function parentsOf(
  depot: Depot,
  { agents, before }: { agents: string; before: string | undefined },
): Promise<string[]> {
  if (before === undefined || before === agents) return [agents].filter(Boolean);
  if (agents === "" || (await holds(depot, before, agents))) return [before];
  return (await holds(depot, agents, before)) ? [agents] : [agents, before];
}

async function holds(depot: Depot, later: string, earlier: string): Promise<boolean> {
  return (await depot.ask(["merge-base", "--is-ancestor", earlier, later])).ok;
}

function treeOf(depot: Depot, commit: string): Promise<string> {
  return depot.git(["rev-parse", `${commit}^{tree}`]);
}

function emptyTree(depot: Depot): Promise<string> {
  return depot.git(["hash-object", "-t", "tree", "--stdin"], { input: "" });
}

/** What is said of the whole branch: from where the copy started to the tip. */
async function sum(depot: Depot, { base }: BringingBack, tip: string) {
  const from = base === "" ? await emptyTree(depot) : base;
  const [commits, numbers] = await Promise.all([
    depot.git(["rev-list", "--count", tip, ...(base === "" ? [] : [`^${base}`])]),
    depot.git(["diff-tree", "-r", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", "-z", from, tip]),
  ]);
  const lines = numbers.split("\0").filter((line) => /^(\d+|-)\t/.test(line));
  const total = (column: number) => lines.reduce((all, line) => all + (Number(line.split("\t")[column]) || 0), 0);
  return { commits: Number(commits), files: lines.length, insertions: total(0), deletions: total(1) };
}

/** More than this is no patch any more. */
const mostBytes = 2 * 2 ** 30;

/** Packs what the user's repo does not have and takes it in there, once it was checked object by object. */
async function carry(depot: Depot, user: UserRepo, work: BringingBack, commits: Commits): Promise<void> {
  await blamingEntries(depot, commits, () => carryChecked(depot, user, work, commits));
}

async function carryChecked(depot: Depot, user: UserRepo, work: BringingBack, { tip, known }: Commits): Promise<void> {
  const revisions = [tip, ...known.map((commit) => `^${commit}`)];
  const count = Number(await depot.git(["rev-list", "--count", "--objects", ...revisions]));
  // Many stay packed. `--strict` refuses what is broken and what refers to something that is not there.
  const unpack =
    count < 500 ? ["unpack-objects", "-q", "--strict"] : ["index-pack", "--stdin", "--strict", "--fsck-objects"];
  await inQuarantine(user, incomingOf(work), async (quarantine) => {
    const pack = depot.pack(revisions);
    const [packed, unpacked] = await Promise.all([
      pack.ended,
      quarantine.receive([...unpack, `--max-input-size=${mostBytes}`], pack),
    ]);
    if (packed.code !== 0) throw new GitFailure(`the objects could not be packed: ${packed.stderr}`);
    if (!unpacked.ok) throw new GitFailure(`the objects were refused: ${unpacked.stderr}`);
    await quarantine.accept();
  });
}

interface Move {
  readonly name: string;
  readonly before: string | undefined;
  readonly tip: string;
}

const mostBranches = 100;

/** Tells the branch that has the tip now. */
async function moveBranch(user: UserRepo, { name, before, tip }: Move): Promise<string> {
  const taken = await checkedOut(user);
  for (let nth = 1; nth <= mostBranches; nth++) {
    const branch = nth === 1 ? name : `${name}-${nth}`;
    const ref = refOf(branch);
    if (taken.has(ref) || !(await isPlainRef(user, ref))) continue;
    const at = await user.git(["rev-parse", "--verify", "--quiet", ref]);
    const there = at.ok ? at.stdout.trim() : undefined;
    if (there === tip) return branch;
    if (there !== undefined && there !== before) continue;
    const reason = ["--create-reflog", "-m", "corral: work brought back"];
    const moved = await user.git(["update-ref", "--no-deref", ...reason, ref, tip, there ?? "0".repeat(tip.length)]);
    if (moved.ok) return branch;
    if (!/reference already exists|but expected|cannot lock ref/.test(moved.stderr)) throw new GitFailure(moved.stderr);
  }
  throw new Error(`no branch ${name} can be made`);
}

/** Only names of Corral's own making become refs. */
export function refOf(branch: string): string {
  if (!/^corral\/[a-z0-9][a-z0-9_-]{0,120}$/i.test(branch))
    throw new Error(`${JSON.stringify(branch)} is no branch of Corral's`);
  return `refs/heads/${branch}`;
}

export async function checkedOut(user: UserRepo): Promise<ReadonlySet<string>> {
  const { stdout } = await user.git(["worktree", "list", "--porcelain"]);
  return new Set([...stdout.matchAll(/^branch (.+)$/gm)].map(([, ref = ""]) => ref));
}

/** Neither git's own kind of link nor the file system's, on no part of the way. */
async function isPlainRef(user: UserRepo, ref: string): Promise<boolean> {
  if ((await user.git(["symbolic-ref", "--quiet", ref])).ok) return false;
  const names = ref.split("/");
  for (const [index] of names.entries()) {
    const found = await lstat(join(user.source.commonFolder, ...names.slice(0, index + 1))).catch(() => undefined);
    if (found?.isSymbolicLink() === true) return false;
  }
  return true;
}
