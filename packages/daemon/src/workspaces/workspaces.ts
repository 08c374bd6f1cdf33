import {
  type BringBackAnswer,
  CorralError,
  type DiscardAnswer,
  event,
  type EventData,
  type MergeAnswer,
  type MergeWorkspace,
  type NewEvent,
  type SessionId,
  type StoredEvent,
  type WorkspaceDiff,
} from "@corral/protocol";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fault } from "../faults/index.ts";
import { endLeftJails } from "../git/index.ts";
import type { By, Log } from "../log/index.ts";
import { bringAgain, bringBack, type BringingBack, checkedOut, refOf, repoOf, type UserRepo } from "./bring-back.ts";
import { type AskGit, flaggedBetween } from "./changes.ts";
import type { Owner } from "./copy.ts";
import { difference } from "./difference.ts";
import { removeWorkspace, workspaceFolder } from "./folder.ts";
import { reclaimLocks } from "./left-locks.ts";
import { carryOut, planMerge } from "./merge.ts";
import { type OnRecord, onRecord } from "./projection.ts";
import { inspect } from "./source.ts";
import type { Spares } from "./spare.ts";
import type { Skipped } from "./staging.ts";
import { emptyTrash, setOut } from "./trash.ts";

/**
 * What becomes of the work in workspaces.
 *
 * 1. After each activity it is brought into the user's repo; what a stopped daemon did not get to is brought at the next start.
 * 2. For one session one thing is done at a time, in the order asked; into one folder of the user's one merge at a time.
 * 3. What changes the user's folder is on record before it begins, and finished or given up at the next start.
 * 4. Nothing is removed that was not brought back, and what is discarded is moved, not removed.
 */
export interface Workspaces {
  /** Puts right what a killed daemon left in the middle; before any session goes on. Never rejects. */
  mend(): Promise<void>;
  /** Takes up what waits to be brought back. Never rejects. */
  begin(): Promise<void>;
  /** What the session changed, what is not committed yet included. Throws `workspace.none`. */
  diff(session: SessionId): Promise<WorkspaceDiff>;
  /** Brings what there is now; `edited`: a person changed it. */
  bring(session: SessionId, by: By, how?: { readonly edited?: boolean }): Promise<BringBackAnswer>;
  /** Throws `workspace.conflict` and `workspace.overlap`, with nothing changed; `session.busy` in an activity. */
  merge(session: SessionId, wish: MergeWorkspace, by: By): Promise<MergeAnswer>;
  /** Ends its processes, moves it aside, and takes its branch out of the user's repo. */
  discard(session: SessionId, by: By): Promise<DiscardAnswer>;
  /** Undoes the last discard. Throws `workspace.none`, and `workspace.busy` when the session has another by now. */
  restore(session: SessionId, by: By): Promise<DiscardAnswer>;
  /** Takes everything of a session that is no more, after what is still done with it. Can be repeated. */
  remove(session: SessionId): Promise<void>;
  /** Removes what was kept long enough. Never rejects. */
  cleanUp(): Promise<void>;
  /** Does something else with the session's workspace, after what was asked before. */
  inTurn<T>(session: SessionId, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface WorkspacesOptions {
  readonly log: Log;
  readonly home: string;
  readonly owner: Owner | undefined;
  readonly spares: Spares;
  /** Ends what runs in a session's workspace. */
  readonly endEnvironments: (session: SessionId) => Promise<void>;
  /** Called before a workspace's folder is removed for its age: the place to keep what is in it elsewhere. False: it stays. */
  readonly beforeRemoval?: (session: SessionId, folder: string) => Promise<boolean>;
  readonly terms: () => { readonly idleDays: number | null; readonly discardedDays: number };
  readonly onDefect: (what: string, error: unknown) => void;
  readonly now?: () => number;
}

export function openWorkspaces(options: WorkspacesOptions): Workspaces {
  const { log, home, owner, spares, onDefect, terms, now = Date.now } = options;
  const enough = new AbortController();
  const lines = new Map<string, Promise<unknown>>();
  /** Sessions in an activity that has made no call that could write. One that an earlier daemon began may have. */
  const idle = new Set<SessionId>();
  const unlisten = log.onCommit((events) => events.forEach(notice));

  return {
    async mend() {
      try {
        await endLeftJails(home);
        for (const row of await log.rows("workspaces")) {
          const session = row["key"] as SessionId;
          if (row["merging"] !== null) void inLine(session, () => finishMerge(session));
          if (row["discarded"] === null || row["prepared"] !== null) continue;
          await finishDiscard(session).catch((error: unknown) =>
            onDefect(`what was discarded of ${session} is left in the middle`, error),
          );
        }
      } catch (error) {
        onDefect("workspaces that were discarded or merged are left in the middle", error);
      }
    },

    async begin() {
      try {
        for (const row of await log.rows("workspaces", { where: { pending: 1 } }))
          bringSoon(row["key"] as SessionId, { actor: "corral" });
      } catch (error) {
        onDefect("workspaces that wait to be brought back stay so", error);
      }
    },

    diff: (session) =>
      inLine(session, async () => {
        const record = await known(session);
        const prepared = preparedOf(record, session);
        const { skipped = [] } = await bringNow(session, record, { actor: "corral" });
        const { tip, branch } = await known(session);
        const { path, base } = prepared;
        const user = await repoOf(await inspect(await repoPath(record)));
        const place = {
          path,
          base,
          ...(branch === undefined ? {} : { branch, commit: tip }),
          ...(skipped.length === 0 ? {} : { skipped }),
        };
        if (tip === undefined) return { ...place, files: [], patch: "", truncated: false };
        const bytes: AskGit = (args, options) => user.git(args, { ...options, encoding: "latin1" });
        const [changes, flagged] = await Promise.all([
          difference(user, { base, tip }),
          flaggedBetween(bytes, { base, tip }),
        ]);
        return { ...place, ...changes, ...(flagged.length === 0 ? {} : { flagged }) };
      }),

    bring: (session, by, how) => inLine(session, async () => bringNow(session, await known(session), by, how)),

    merge: (session, wish, by) =>
      inLine(session, async () => {
        await mustRest(session);
        const record = await known(session);
        const { variables } = preparedOf(record, session);
        if (record.kind === "in-place") throw inPlaceAlready();
        await bringNow(session, record, by);
        const { tip, branch } = await known(session);
        if (tip === undefined || branch === undefined) return { kind: "nothing-to-merge" };
        const source = await inspect(await repoPath(record));
        // What is planned holds until it is done: nobody else of Corral's merges into that folder meanwhile.
        return inLine(source.worktree, async () => {
          const user = await repoOf(await inspect(source.worktree));
          const plan = await planMerge(user, { branch, tip, how: wish.how, variables });
          if (plan.kind === "nothing-to-merge") return plan;
          const { kind: _, ...merge } = plan;
          await append(session, by, event("workspace.merge-begun", merge));
          fault("merge.begun");
          await carryOutOrGiveUp(session, merge, by);
          return { kind: "merged", ...merge };
        });
      }),

    discard: (session, by) =>
      inLine(session, async () => {
        await mustRest(session);
        const record = await known(session);
        preparedOf(record, session);
        if (record.kind === "in-place") throw inPlaceAlready();
        await options.endEnvironments(session);
        await bringNow(session, record, by);
        return discardNow(session, by);
      }),

    restore: (session, by) =>
      inLine(session, async () => {
        await mustRest(session);
        return restoreNow(session, by);
      }),

    remove: (session) => inLine(session, () => removeWorkspace(home, session)),

    async cleanUp() {
      const { signal } = enough;
      try {
        await clearIdle();
        await expireDiscarded();
        for (const folder of ["workspaces", "discarded"])
          await emptyTrash(join(home, folder), { signal, onFailure: onDefect });
      } catch (error) {
        if (!signal.aborted) onDefect("old workspaces stay", error);
      }
    },

    inTurn: (session, work) => inLine(session, work),

    async close() {
      unlisten();
      enough.abort();
      await Promise.allSettled(lines.values());
    },
  };

  function notice({ type, stream, data, traceId }: StoredEvent): void {
    const session = stream as SessionId;
    if (type === "activity.opened") idle.add(session);
    else if (type === "call.started" && data.reads !== true) idle.delete(session);
    else if (type === "activity.settled" && !idle.delete(session))
      bringSoon(session, { actor: "corral", ...(traceId !== undefined && { traceId }) });
    else if (type === "workspace.prepared" && data.way !== "in place") void refill(session);
  }

  async function refill(session: SessionId): Promise<void> {
    try {
      await spares.fill(await repoPath(await known(session)));
    } catch (error) {
      onDefect(`no spare copy is made after ${session}`, error);
    }
  }

  /** What comes of an activity is of its trace. */
  function bringSoon(session: SessionId, by: By): void {
    void inLine(session, async () => {
      if (enough.signal.aborted) return;
      const record = await known(session);
      if (record.prepared === undefined) return;
      try {
        const brought = await bringNow(session, record, by);
        if (brought.kind === "nothing-new") await append(session, by, event("workspace.unchanged", {}));
      } catch (error) {
        if (enough.signal.aborted || isOfNoSession(error)) return;
        const message = error instanceof Error ? error.message : String(error);
        await append(session, by, event("workspace.bring-back-failed", { message }));
      }
    }).catch((error: unknown) => {
      if (!isOfNoSession(error)) onDefect(`the work of ${session} was not brought back`, error);
    });
  }

  async function bringNow(
    session: SessionId,
    record: OnRecord,
    by: By,
    { edited = false }: { readonly edited?: boolean } = {},
  ): Promise<BringBackAnswer> {
    const prepared = preparedOf(record, session);
    const brought = await bringBack(await workOn(session, record, prepared, edited));
    if (brought.kind === "nothing-new")
      return { kind: "nothing-new", ...(brought.skipped && { skipped: told(brought.skipped) }) };
    const { kind: _, before, skipped, ...rest } = brought;
    const data: EventData<"workspace.brought-back"> = {
      ...rest,
      ...(before === undefined ? {} : { before }),
      skipped: told(skipped),
      ...(edited ? { edited: true as const } : {}),
    };
    await append(session, by, event("workspace.brought-back", data));
    return { kind: "brought", ...data };
  }

  async function workOn(
    session: SessionId,
    record: OnRecord,
    { path, base, head = base, readable, variables }: EventData<"workspace.prepared">,
    edited = false,
  ): Promise<BringingBack> {
    return {
      repo: await repoPath(record),
      workspace: path,
      depot: `${workspaceFolder(home, session)}.depot`,
      readable,
      // The user's own folder is read as the user.
      owner: record.kind === "in-place" ? undefined : owner,
      head,
      base,
      branch: `corral/${session}`,
      before: record.tip,
      variables,
      message: leftoversMessage(session, edited),
      signal: enough.signal,
    };
  }

  /** In the line of the folder that is merged into. */
  async function carryOutOrGiveUp(session: SessionId, merge: EventData<"workspace.merged">, by: By): Promise<void> {
    try {
      const user = await repoOf(await inspect(merge.worktree));
      await carryOut(user, merge);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      await append(session, by, event("workspace.merge-given-up", { reason }));
      throw error instanceof CorralError ? error : new CorralError("workspace.failed", reason, { cause: error });
    }
    fault("merge.done");
    await append(session, by, event("workspace.merged", merge));
  }

  async function finishMerge(session: SessionId): Promise<void> {
    const { merging } = await known(session);
    if (merging === undefined) return;
    await inLine(merging.worktree, () => carryOutOrGiveUp(session, merging, { actor: "corral" })).catch(
      (error: unknown) => onDefect(`the merge of ${session} was given up`, error),
    );
  }

  /** The record first: what is cut off afterwards is done at the next start, before the session goes on. */
  async function discardNow(session: SessionId, by: By): Promise<DiscardAnswer> {
    const { tip: commit, branch } = await known(session);
    const folder = join(home, "discarded", `${session}-${now().toString(36)}`);
    const kept = { ...(branch === undefined ? {} : { branch }), ...(commit === undefined ? {} : { commit }) };
    await append(session, by, event("workspace.discarded", { folder, ...kept }));
    fault("discard.begun");
    await finishDiscard(session);
    return { kind: "discarded", ...kept };
  }

  async function finishDiscard(session: SessionId): Promise<void> {
    const record = await known(session);
    const { folder, branch, commit } = record.discarded!;
    if (await isThere(workspaceFolder(home, session))) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const [name, from] of Object.entries(partsOf(session))) {
        await move(from, join(folder, name));
        fault("discard.moved");
      }
    }
    // Once is enough: a branch that the user makes of it later is theirs, and so is a repository that they take away.
    if (branch === undefined || commit === undefined || !(await isThere(folder)) || (await isThere(droppedIn(folder))))
      return;
    await dropBranch(record, { folder, branch, commit });
    await writeFile(droppedIn(folder), "");
  }

  /** The user's, if they went on with it or have it checked out, and then it stays. */
  async function dropBranch(record: OnRecord, { folder, branch, commit }: Dropped): Promise<void> {
    const user = await repoOf(await inspect(await repoPath(record)));
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

  async function restoreNow(session: SessionId, by: By): Promise<DiscardAnswer> {
    const record = await known(session);
    const { discarded } = record;
    if (discarded === undefined || !(await isThere(discarded.folder)))
      throw new CorralError("workspace.none", `Nothing of ${session} was discarded that could be brought back.`, {
        hint: "What is discarded is kept for workspace.discardedDays; `corral snapshots` lists what else there is",
      });
    if (record.prepared !== undefined)
      throw new CorralError("workspace.busy", `${session} works in another workspace by now.`, {
        hint: "Discard that one first",
      });
    const prepared = await lastPrepared(session);
    if (prepared === undefined) throw new CorralError("workspace.none", `${session} never had a workspace.`);
    // Cut off before it is on record, all of it is moved away again at the next start, the branch included.
    await rm(droppedIn(discarded.folder), { force: true });
    for (const [name, to] of Object.entries(partsOf(session))) {
      await move(join(discarded.folder, name), to);
      fault("undo.moved");
    }
    const { commit } = discarded;
    const work = await workOn(session, record, prepared);
    const branch = commit === undefined ? undefined : await bringAgain(work, commit);
    fault("undo.brought");
    const restored = { ...discarded, ...(branch === undefined ? {} : { branch }) };
    await append(session, by, event("workspace.restored", restored), event("workspace.prepared", prepared));
    fault("undo.recorded");
    await rm(discarded.folder, { recursive: true, force: true });
    const { folder: _, ...rest } = restored;
    return { kind: "restored", ...rest };
  }

  async function lastPrepared(session: SessionId): Promise<EventData<"workspace.prepared"> | undefined> {
    let found: EventData<"workspace.prepared"> | undefined;
    for (let after = 0; ;) {
      const page = await log.read({ after, stream: session });
      if ("kind" in page) {
        after = page.to;
        continue;
      }
      for (const each of page) if (each.type === "workspace.prepared") found = each.data;
      if (page.length === 0) return found;
      after = page.at(-1)!.seq;
    }
  }

  function partsOf(session: SessionId): Record<string, string> {
    const folder = workspaceFolder(home, session);
    // The workspace last: while it is there the others may be missing, not the other way round.
    return {
      "record.json": `${folder}.json`,
      depot: `${folder}.depot`,
      "depot.tip": `${folder}.depot.tip`,
      index: `${folder}.index`,
      workspace: folder,
    };
  }

  async function clearIdle(): Promise<void> {
    const { idleDays } = terms();
    if (idleDays === null) return;
    for (const row of await log.rows("workspaces")) {
      const session = row["key"] as SessionId;
      const { rested } = onRecord(row);
      if (rested === undefined || now() - Date.parse(rested) < idleDays * dayMs) continue;
      if (enough.signal.aborted) return;
      await inLine(session, () => clear(session)).catch((error: unknown) =>
        onDefect(`the workspace of ${session} stays`, error),
      );
    }
  }

  async function clear(session: SessionId): Promise<void> {
    const before = await known(session);
    if (before.prepared === undefined || before.kind === "in-place" || (await isBusy(session))) return;
    await options.endEnvironments(session);
    await bringNow(session, before, { actor: "corral" });
    const { tip, prepared } = await known(session);
    if ((await options.beforeRemoval?.(session, workspaceFolder(home, session))) === false) return;
    const commit = tip ?? prepared?.base ?? "";
    await append(session, { actor: "corral" }, event("workspace.cleared", { commit }));
    for (const part of Object.values(partsOf(session))) await setOut(part);
  }

  async function expireDiscarded(): Promise<void> {
    const folder = join(home, "discarded");
    for (const name of await readdir(folder).catch(() => [])) {
      if (name.startsWith(".")) continue;
      const { mtimeMs } = await stat(join(folder, name));
      if (now() - mtimeMs > terms().discardedDays * dayMs) await setOut(join(folder, name));
    }
  }

  function inLine<T>(what: string, work: () => Promise<T>): Promise<T> {
    const before = lines.get(what) ?? Promise.resolve();
    const done = before.then(work, work);
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    lines.set(what, settled);
    void settled.then(() => {
      if (lines.get(what) === settled) lines.delete(what);
    });
    return done;
  }

  async function known(session: SessionId): Promise<OnRecord> {
    const row = await log.row("workspaces", session);
    if (row === undefined) throw new CorralError("not-found", `There is no session ${session}.`);
    return onRecord(row);
  }

  async function repoPath({ worktree, project }: OnRecord): Promise<string> {
    return worktree ?? ((await log.row("projects", project))?.["path"] as string | undefined) ?? "";
  }

  async function isBusy(session: SessionId): Promise<boolean> {
    return (await log.row("sessions", session))?.["open"] === 1;
  }

  async function mustRest(session: SessionId): Promise<void> {
    if (await isBusy(session))
      throw new CorralError("session.busy", `${session} is in the middle of an activity.`, {
        retry: "later",
        hint: "Let it finish, or interrupt it first.",
      });
  }

  async function append(session: SessionId, by: By, ...events: readonly NewEvent[]): Promise<void> {
    // Nothing is said of a session that is gone by now.
    const guards = [{ table: "workspaces", key: session, is: {} }];
    await log.append({ stream: session, ...by, events, guards });
  }
}

interface Dropped {
  /** Where the files were moved to. */
  readonly folder: string;
  readonly branch: string;
  readonly commit: string;
}

const dayMs = 86_400_000;

/** Says that the branch of what lies in the folder was dropped. */
function droppedIn(folder: string): string {
  return join(folder, "dropped");
}

function preparedOf({ prepared }: OnRecord, session: SessionId): EventData<"workspace.prepared"> {
  if (prepared !== undefined) return prepared;
  throw new CorralError("workspace.none", `${session} has no workspace.`, {
    hint: "It gets one with its first prompt; one that was discarded comes back with `corral discard --undo`",
  });
}

/** Of very many the first. */
function told(skipped: readonly Skipped[]): Skipped[] {
  return skipped.slice(0, 100).map((each) => ({ ...each }));
}

function leftoversMessage(session: SessionId, edited: boolean): string {
  const what = edited ? "Changes made by hand" : "Work that was not committed";
  return `${what} in ${session}\n\nCommitted by Corral on behalf of the user, unsigned.\n`;
}

function inPlaceAlready(): CorralError {
  return new CorralError("workspace.unsuitable", "This session works in your own folder: what it did is there.", {
    hint: "Use git there, as with work of your own",
  });
}

/** It was removed meanwhile. */
function isOfNoSession(error: unknown): boolean {
  return error instanceof CorralError && (error.code === "not-found" || error.code === "append.conflict");
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
