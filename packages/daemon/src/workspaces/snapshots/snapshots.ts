import {
  type CallId,
  CorralError,
  event,
  type ProjectId,
  type RestoreAnswer,
  type RestoreSnapshot,
  type SessionId,
  type SnapshotDiff,
  type SnapshotId,
  type SnapshotView,
  type TakeSnapshotAnswer,
} from "@corral/protocol";
import { rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { removeFolder } from "../../environments/index.ts";
import { fault } from "../../faults/index.ts";
import { type By, historyOf, type Log } from "../../log/index.ts";
import type { Store } from "../../storage/index.ts";
import { difference } from "../difference.ts";
import { orSay } from "../failing.ts";
import { Lines } from "../lines.ts";
import type { OnRecord } from "../projection.ts";
import { hasNewlySkipped, readNotes, writeNotes } from "./notes.ts";
import { beginFrom, forgetFiles } from "./beginning.ts";
import { Ends } from "./ends.ts";
import { expireOf, sweepStore } from "./expiry.ts";
import { type Fork, packFork } from "./fork.ts";
import { packsNoted } from "./packs.ts";
import { forkPack, indexBeside } from "./places.ts";
import { snapshotView } from "./projection.ts";
import { gitIn, type Repository } from "./repository.ts";
import { checkOutTree, mustBeInside, planRestore } from "./restore.ts";
import type { Prepared } from "../records.ts";
import { openShelf, type Shelf, shelfFolder, type Why } from "./shelf.ts";
import { takeTree, type TakenTree } from "./take.ts";

/**
 * What workspaces held, moment by moment.
 *
 * 1. After calls that could write have ended, and none runs any more, one is taken at once; whoever is about to write waits for it
 *    (`settled`), nobody else does. Calls that could only read cause none, and start nothing.
 * 2. For one session one thing is done at a time, in the order asked.
 * 3. Its objects are safe before it is on record. Cut off anywhere, nothing is on record, and the next one covers it and names
 *    the calls that had ended.
 * 4. One that fails fails nothing else: it is told, and covered by the next.
 * 5. To restore one ends the session's environment first, for its walls are mounts on files.
 */
export interface Snapshots {
  /** Takes those that a stopped daemon did not get to; before any session goes on. Never rejects. */
  begin(): Promise<void>;
  /** Resolves when what had ended by now is kept, or could not be. Never rejects. */
  settled(session: SessionId): Promise<void>;
  /** On a person's word. Throws `workspace.none`. */
  take(session: SessionId, by: By): Promise<TakeSnapshotAnswer>;
  list(session: SessionId): Promise<readonly SnapshotView[]>;
  /** Throws `not-found`. */
  get(id: SnapshotId): Promise<SnapshotView>;
  /** Of one session. Without `to`: the files as they are now. */
  diff(from: SnapshotId, to: SnapshotId | undefined): Promise<SnapshotDiff>;
  /** Ends what runs in the workspace. What there was is a snapshot of its own. Throws `session.busy`, `not-found`, `workspace.none`. */
  restore(id: SnapshotId, wish: RestoreSnapshot, by: By): Promise<RestoreAnswer>;
  /** Makes ready what a new session's workspace begins with. Throws `not-found` for one of another project. */
  fork(id: SnapshotId, to: { readonly project: ProjectId; readonly session: SessionId }): Promise<Fork>;
  /** Before its workspace goes. False: it must stay, for what it holds could not be kept, which is told. Never rejects. */
  beforeRemoval(session: SessionId): Promise<boolean>;
  /** Takes all of a session that is no more. Can be repeated. */
  remove(session: SessionId): Promise<void>;
  /** Lets go of what is too old or too much, and of objects that nobody needs. Never rejects. */
  expire(): Promise<void>;
  close(): Promise<void>;
}

export interface SnapshotTerms {
  /** Days that one is kept; null: always. */
  readonly days: number | null;
  /** How many a session has at most. */
  readonly most: number;
  /** Patterns of ignored files that are kept all the same. */
  readonly ignored: readonly string[];
  /** Bytes of the largest file that is kept. */
  readonly largestFile: number;
}

export interface SnapshotsOptions {
  readonly log: Log;
  readonly home: string;
  readonly store: Store;
  readonly terms: (project: ProjectId) => Promise<SnapshotTerms> | SnapshotTerms;
  /** Ends what runs in a session's workspace. */
  readonly endEnvironments: (session: SessionId) => Promise<void>;
  /** Does something while nothing else is done with the session's workspace. */
  readonly inTurn: <T>(session: SessionId, work: () => Promise<T>) => Promise<T>;
  readonly onDefect: (what: string, error: unknown) => void;
  readonly now?: () => number;
  /** How long one may take. */
  readonly longestMs?: number;
  /** Of more new and changed files than this, the rest is left out. */
  readonly mostFiles?: number;
}

interface Last {
  readonly id: SnapshotId;
  readonly tree: string;
}

/** The last one, which is what there is but for what was skipped. */
interface TakenNow extends Last {
  readonly skipped: TakenTree["skipped"];
  readonly isNew: boolean;
}

const corral: By = { actor: "corral" };

export function openSnapshots(options: SnapshotsOptions): Snapshots {
  const { log, home, store, onDefect, now = Date.now, longestMs = 60_000, mostFiles = 200_000 } = options;
  const enough = new AbortController();
  const { signal } = enough;
  const shelf = openShelf({ log, home, store, signal, longestMs });
  const lines = new Lines<SessionId>();
  const inLine = <T>(session: SessionId, work: () => Promise<T>) => lines.run(session, work);
  const ends = new Ends((session, calls, by) => soon(session, { reason: "calls", calls, by }));
  const unlisten = log.onCommit((events) => {
    ends.hear(events);
    for (const each of events) {
      const session = each.stream as SessionId;
      if (each.type === "workspace.prepared" && isOfItsOwn(each.data)) beginSoon(session);
      if (each.type === "setup.ended") soon(session, { reason: "start", calls: [], by: corral });
    }
  });

  return {
    async begin() {
      try {
        const open = await log.rows("sessions", { where: { open: 1 } });
        const pending = await log.rows("workspaces", { where: { pending: 1 } });
        for (const session of new Set([...open, ...pending].map((row) => row["key"] as SessionId)))
          ends.recall(session, await historyOf(log, session));
      } catch (error) {
        onDefect("snapshots that a stopped daemon did not get to are not taken", error);
      }
    },

    settled: (session) => lines.settled(session),

    take: (session, by) =>
      inLine(session, async () => {
        const why = { reason: "person", calls: ends.drain(session), by } as const;
        const taken = await orSay("No snapshot was taken", signal, () => takeNow(session, why)).catch(
          (error: unknown) => {
            ends.put(session, why.calls);
            throw error;
          },
        );
        return { kind: taken.isNew ? "taken" : "unchanged", snapshot: await view(taken.id) };
      }),

    async list(session) {
      await shelf.records.known(session);
      return (await log.rows("snapshots", { where: { session }, orderBy: "seq" })).map(snapshotView);
    },

    get: (id) => view(id),

    async diff(from, to) {
      const { session, tree } = await view(from);
      const other = to === undefined ? undefined : await view(to);
      if (other !== undefined && other.session !== session) throw ofAnother(from, other.id);
      const compare = async (): Promise<SnapshotDiff> => {
        const repository = await shelf.open(session);
        const end = other?.tree ?? (await treeOfNow(session, repository, tree)).tree;
        const changes = await difference({ git: gitIn(repository, "utf8") }, { base: tree, tip: end });
        return { session, from, ...(to === undefined ? {} : { to }), ...changes };
      };
      return inLine(session, () => orSay("The snapshots could not be compared", signal, compare));
    },

    async restore(id, { paths }, by) {
      mustBeInside(paths);
      const { session, tree } = await view(id);
      const restore = () => restoreNow(session, { id, tree, paths }, by);
      return options.inTurn(session, () =>
        inLine(session, () => orSay("The snapshot could not be restored", signal, restore)),
      );
    },

    async fork(id, { project, session: to }) {
      const { session, tree } = await view(id);
      if ((await shelf.records.known(session)).project !== project) throw missing(id);
      return inLine(session, () =>
        orSay("No session could begin from the snapshot", signal, () => forkNow(session, { id, tree }, to)),
      );
    },

    async beforeRemoval(session) {
      const why = { reason: "removal", calls: ends.drain(session), by: corral } as const;
      try {
        await inLine(session, () => takeNow(session, why));
        return true;
      } catch (error) {
        ends.put(session, why.calls);
        await tellFailure(session, why, error);
        return false;
      }
    },

    remove: (session) =>
      inLine(session, async () => {
        const folder = shelfFolder(home, session);
        for (const digest of await packsNoted(folder)) await store.remove(digest);
        if (await isThere(folder)) await removeFolder(folder);
        await rm(forkPack(home, session), { force: true });
        shelf.forget(session);
      }),

    async expire() {
      const expiring = { log, shelf, store, signal, now: now() };
      try {
        for (const { key } of await log.rows("last_snapshots")) {
          if (signal.aborted) return;
          const session = key as SessionId;
          await inLine(session, async () => {
            const { project } = await shelf.records.known(session);
            await expireOf(session, await options.terms(project as ProjectId), expiring);
          }).catch((error: unknown) => onDefect(`old snapshots of ${session} stay`, error));
        }
        await sweepStore(home, expiring);
      } catch (error) {
        if (!signal.aborted) onDefect("old snapshots stay", error);
      }
    },

    async close() {
      unlisten();
      enough.abort();
      await lines.settled();
    },
  };

  function soon(session: SessionId, why: Why): void {
    void inLine(session, async () => {
      if (signal.aborted) return;
      try {
        await takeNow(session, why);
      } catch (error) {
        ends.put(session, why.calls);
        await tellFailure(session, why, error);
      }
    });
  }

  /** What a workspace began with, where only the workspace has it. */
  function beginSoon(session: SessionId): void {
    const why = { reason: "start", calls: [], by: corral } as const;
    void inLine(session, async () => {
      if (signal.aborted) return;
      try {
        const { kind } = await shelf.records.known(session);
        if (kind === "in-place") await takeNow(session, why);
        else await lastOf(session, await shelf.open(session));
      } catch (error) {
        await tellFailure(session, why, error);
      }
    });
  }

  async function takeNow(session: SessionId, why: Why): Promise<TakenNow> {
    preparedOf(await shelf.records.known(session), session);
    const repository = await shelf.open(session);
    const { id: previous, tree } = await lastOf(session, repository);
    const before = await readNotes(repository.folder);
    const taken = await treeOfNow(session, repository, tree);
    // What was there before any work is nobody's doing.
    const flagged = why.reason === "start" ? [] : taken.flagged;
    const isTold = flagged.length === 0 && !hasNewlySkipped(taken, before);
    const isSame = previous !== null && taken.tree === tree && isTold;
    const id = isSame ? previous : await keep(session, { ...taken, flagged }, { ...why, previous });
    if (!isSame) await writeNotes(repository.folder, taken);
    return { id, tree: taken.tree, skipped: taken.skipped, isNew: !isSame };
  }

  function keep(session: SessionId, taken: TakenTree, why: Parameters<Shelf["keep"]>[2]): Promise<SnapshotId> {
    fault("snapshot.written");
    return shelf.keep(session, taken, why);
  }

  async function restoreNow(
    session: SessionId,
    { id, tree, paths }: Last & { readonly paths: RestoreSnapshot["paths"] },
    by: By,
  ): Promise<RestoreAnswer> {
    await shelf.records.mustRest(session);
    preparedOf(await shelf.records.known(session), session);
    const repository = await shelf.open(session);
    const last = await lastOf(session, repository);
    // What cannot be restored is told before anything is ended.
    await planRestore(repository, { snapshot: tree, paths, now: await treeOfNow(session, repository, last.tree) });
    await options.endEnvironments(session);
    const before = await takeNow(session, { reason: "person", calls: ends.drain(session), by });
    const { wanted, left } = await planRestore(repository, { snapshot: tree, paths, now: before });
    fault("restore.begun");
    await checkOutTree(repository, wanted, left);
    await shelf.records.append(session, by, event("snapshot.restored", { snapshotId: id, ...(paths && { paths }) }));
    const after = await takeNow(session, { reason: "person", calls: [], by });
    return { kind: "restored", snapshot: id, before: before.id, after: after.id };
  }

  async function forkNow(session: SessionId, { id, tree }: Last, to: SessionId): Promise<Fork> {
    const { kind } = await shelf.records.known(session);
    const { base = "", head = base, variables = {}, readable = [] } = (await shelf.records.everPrepared(session)) ?? {};
    return packFork(await shelf.open(session), {
      tree,
      parent: head,
      isBorrowed: head !== "" && (readable.length > 0 || kind === "in-place"),
      variables,
      message: `Files of ${session} as of ${id}\n\nCommitted by Corral, unsigned.\n`,
      seconds: Math.floor(now() / 1000),
      to: forkPack(home, to),
    });
  }

  /** The last one on record; for a workspace that has none, what it began with is put on record first. */
  async function lastOf(
    session: SessionId,
    repository: Repository,
  ): Promise<{ readonly id: SnapshotId | null; readonly tree: string }> {
    const record = await shelf.records.known(session);
    const isInPlace = record.kind === "in-place";
    const last = await shelf.last(session);
    const fresh = indexBeside(home, session);
    if (last !== undefined && (isInPlace || !(await isThere(fresh)))) {
      if (!(await isThere(join(repository.folder, "index")))) await forgetFiles(repository, last.tree);
      return last;
    }
    const { base, head = base, readable, path } = preparedOf(record, session);
    const { tree, pack } = await beginFrom(repository, {
      base,
      borrowed: isInPlace ? base : readable.length === 0 ? undefined : head,
      index: isInPlace ? { file: join(path, ".git/index"), how: "copy" } : { file: fresh, how: "move" },
      owner: await shelf.owner(session, record),
    });
    // In place there is more than the base from the beginning: that is taken, not derived.
    if (isInPlace) return { id: null, tree };
    const start = { tree, pack, files: 0, insertions: 0, deletions: 0, skipped: [], flagged: [], nested: [] };
    const previous = last?.id ?? null;
    return { id: await shelf.keep(session, start, { reason: "start", calls: [], by: corral, previous }), tree };
  }

  async function treeOfNow(session: SessionId, repository: Repository, before: string): Promise<TakenTree> {
    const { project } = await shelf.records.known(session);
    const { ignored, largestFile } = await options.terms(project as ProjectId);
    await mustHaveRoom(repository.folder);
    const { nested } = await readNotes(repository.folder);
    const wish = { before, ignored, nested, bounds: { largestFile, mostFiles, mostBytes } };
    try {
      return await takeTree(repository, wish);
    } catch (error) {
      if (signal.aborted || !/index (file|uses)|bad (signature|index)|broken index/.test(String(error))) throw error;
      // What a loss of power left of the index is of no use.
      await forgetFiles(repository, before);
      return takeTree(repository, wish);
    }
  }

  async function view(id: SnapshotId): Promise<SnapshotView> {
    const row = await log.row("snapshots", id);
    if (row === undefined) throw missing(id);
    return snapshotView(row);
  }

  async function tellFailure(
    session: SessionId,
    { calls, by }: { readonly calls: readonly CallId[]; readonly by: By },
    error: unknown,
  ): Promise<void> {
    if (signal.aborted || isOfNoSession(error)) return;
    const message = error instanceof Error ? error.message : String(error);
    const told = shelf.records.append(session, by, event("snapshot.failed", { message, calls: [...calls] }));
    await told.catch((second: unknown) => {
      if (!isOfNoSession(second)) onDefect(`no snapshot of ${session} was taken: ${message}`, second);
    });
  }
}

/** New and changed files of one snapshot, together. */
const mostBytes = 2 ** 30;
/** Room that is left to others. */
const leastFree = 2 ** 29;

/** Something in it is nowhere else, and an agent can reach it: it is taken over at once. */
function isOfItsOwn({ way, readable, head }: Prepared): boolean {
  return way === "in place" || readable.length === 0 || head !== undefined;
}

function preparedOf({ prepared }: OnRecord, session: SessionId): Prepared {
  if (prepared !== undefined) return prepared;
  throw new CorralError("workspace.none", `${session} has no workspace.`, {
    hint: "It gets one with its first prompt; `corral run --from SNAPSHOT` begins another session from what it held",
  });
}

async function mustHaveRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < leastFree)
    throw new CorralError("workspace.full", "There is too little room on the disk for a snapshot.", {
      retry: "later",
      hint: "Make room on the disk that holds CORRAL_HOME",
    });
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

function missing(id: SnapshotId): CorralError {
  return new CorralError("not-found", `There is no snapshot ${id}.`, {
    hint: "`corral snapshots` lists those that are kept",
  });
}

function ofAnother(one: SnapshotId, other: SnapshotId): CorralError {
  return new CorralError("not-found", `${one} and ${other} are of different sessions.`, {
    hint: "`corral snapshots SESSION` lists those of one session",
  });
}

/** It was removed meanwhile, or has nothing yet to be kept. */
function isOfNoSession(error: unknown): boolean {
  if (!(error instanceof CorralError)) return false;
  return error.code === "not-found" || error.code === "append.conflict" || error.code === "workspace.none";
}
