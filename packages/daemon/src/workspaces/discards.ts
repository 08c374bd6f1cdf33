import { CorralError, type DiscardAnswer, event, type SessionId } from "@corral/protocol";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fault } from "../faults/index.ts";
import type { By } from "../log/index.ts";
import { bringAgain, type BringingBack, checkedOut, refOf } from "./bring-back.ts";
import { partsOf } from "./folder.ts";
import { reclaimLocks } from "./left-locks.ts";
import type { OnRecord } from "./projection.ts";
import type { Prepared, Records } from "./records.ts";
import { inspect } from "./source.ts";
import { setOut } from "./trash.ts";
import { repoOf, type UserRepo } from "./user-repo.ts";

/**
 * Workspaces that were discarded: moved aside, not removed, and their branch dropped.
 *
 * 1. The record comes first: what is cut off afterwards is done at the next start, before the session goes on.
 * 2. A branch is dropped once: one that the user makes of it later is theirs, and so is a repository that they take away.
 * 3. An undo that is cut off before it is on record is undone at the next start, the branch included.
 */
export interface Discards {
  discard(session: SessionId, by: By): Promise<DiscardAnswer>;
  /** Does what is left to do of one that is on record. */
  finish(session: SessionId): Promise<void>;
  /** Throws `workspace.none`, and `workspace.busy` when the session has another by now. */
  undo(session: SessionId, by: By): Promise<DiscardAnswer>;
  /** Those that were kept for so long go. */
  expire(days: number): Promise<void>;
}

export interface DiscardsOptions {
  readonly home: string;
  readonly records: Records;
  /** What it takes to bring a session's work again. */
  readonly workOn: (session: SessionId, record: OnRecord, prepared: Prepared) => Promise<BringingBack>;
  readonly now: () => number;
}

export function openDiscards({ home, records, workOn, now }: DiscardsOptions): Discards {
  return { discard, finish, undo, expire };

  async function discard(session: SessionId, by: By): Promise<DiscardAnswer> {
    const { tip: commit, branch } = await records.known(session);
    const folder = join(home, "discarded", `${session}-${now().toString(36)}`);
    const kept = { ...(branch === undefined ? {} : { branch }), ...(commit === undefined ? {} : { commit }) };
    await records.append(session, by, event("workspace.discarded", { folder, ...kept }));
    fault("discard.begun");
    await finish(session).catch(unlessRepoIsGone);
    return { kind: "discarded", ...kept };
  }

  async function finish(session: SessionId): Promise<void> {
    const record = await records.known(session);
    const { folder, branch, commit } = record.discarded!;
    const parts = partsOf(home, session);
    if (await isThere(parts.workspace)) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const [name, from] of Object.entries(parts)) {
        await move(from, join(folder, name));
        fault("discard.moved");
      }
    }
    if (branch === undefined || commit === undefined || !(await isThere(folder)) || (await isThere(droppedIn(folder))))
      return;
    const user = await repoOf(await inspect(await records.repoPath(record)));
    await dropBranch(user, { folder, branch, commit });
    await writeFile(droppedIn(folder), "");
  }

  async function undo(session: SessionId, by: By): Promise<DiscardAnswer> {
    const record = await records.known(session);
    const { discarded } = record;
    if (discarded === undefined || !(await isThere(discarded.folder)))
      throw new CorralError("workspace.none", `Nothing of ${session} was discarded that could be brought back.`, {
        hint: "What is discarded is kept for workspace.discardedDays; `corral snapshots` lists what else there is",
      });
    if (record.prepared !== undefined)
      throw new CorralError("workspace.busy", `${session} works in another workspace by now.`, {
        hint: "Discard that one first",
      });
    const prepared = await records.everPrepared(session);
    if (prepared === undefined) throw new CorralError("workspace.none", `${session} never had a workspace.`);
    await rm(droppedIn(discarded.folder), { force: true });
    for (const [name, to] of Object.entries(partsOf(home, session))) {
      await move(join(discarded.folder, name), to);
      fault("undo.moved");
    }
    const { commit } = discarded;
    const work = await workOn(session, record, prepared);
    const branch = commit === undefined ? undefined : await bringAgain(work, commit);
    fault("undo.brought");
    const restored = { ...discarded, ...(branch === undefined ? {} : { branch }) };
    await records.append(session, by, event("workspace.restored", restored), event("workspace.prepared", prepared));
    fault("undo.recorded");
    await rm(discarded.folder, { recursive: true, force: true });
    const { folder: _, ...rest } = restored;
    return { kind: "restored", ...rest };
  }

  async function expire(days: number): Promise<void> {
    const folder = join(home, "discarded");
    for (const name of await readdir(folder).catch(() => [])) {
      if (name.startsWith(".")) continue;
      const { mtimeMs } = await stat(join(folder, name));
      if (now() - mtimeMs > days * dayMs) await setOut(join(folder, name));
    }
  }
}

const dayMs = 86_400_000;

/** Then there is no branch to drop. */
function unlessRepoIsGone(error: unknown): void {
  if (!(error instanceof CorralError && ["project.missing", "project.not-a-repo"].includes(error.code))) throw error;
}

interface Dropped {
  /** Where the files were moved to. */
  readonly folder: string;
  readonly branch: string;
  readonly commit: string;
}

/** The user's, if they went on with it or have it checked out, and then it stays. */
async function dropBranch(user: UserRepo, { folder, branch, commit }: Dropped): Promise<void> {
  const ref = refOf(branch);
  const at = await user.git(["rev-parse", "--verify", "--quiet", ref]);
  if (at.stdout.trim() !== commit || (await checkedOut(user)).has(ref)) return;
  const drop = () => user.git(["update-ref", "--no-deref", "-d", ref, commit]);
  const dropped = await drop();
  if (!dropped.ok && (await reclaimDropped(user, { folder, ref }))) await drop();
  fault("discard.dropped");
}

/** The last of the files is moved aside right before the branch is dropped. */
async function reclaimDropped(
  { source }: UserRepo,
  { folder, ref }: { folder: string; ref: string },
): Promise<boolean> {
  const since = (await stat(folder).catch(() => undefined))?.mtimeMs;
  if (since === undefined) return false;
  const { worktree, commonFolder } = source;
  const locks = [`${ref}.lock`, "packed-refs.lock", "packed-refs.new"].map((name) => join(commonFolder, name));
  return (await reclaimLocks({ folders: [worktree, commonFolder], locks, since })).length > 0;
}

/** Says that the branch of what lies in the folder was dropped. */
function droppedIn(folder: string): string {
  return join(folder, "dropped");
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** Harmless when it was moved before. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
