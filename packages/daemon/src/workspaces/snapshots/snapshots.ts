import {
  type CallId,
  CorralError,
  event,
  type EventData,
  newId,
  type NewEvent,
  type ProjectId,
  type RestoreAnswer,
  type RestoreSnapshot,
  type SessionId,
  type SnapshotDiff,
  type SnapshotId,
  type SnapshotView,
  type TakeSnapshotAnswer,
} from "@corral/protocol";
import { readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { removeFolder } from "../../environments/index.ts";
import { fault } from "../../faults/index.ts";
import { type By, historyOf, type Log, type Row } from "../../log/index.ts";
import type { Digest, Store } from "../../storage/index.ts";
import type { Owner } from "../copy.ts";
import { difference } from "../difference.ts";
import { workspaceFolder } from "../folder.ts";
import { forkPack, indexBeside } from "./places.ts";
import { type OnRecord, onRecord } from "../projection.ts";
import { inspect, type Source } from "../source.ts";
import { beginFrom, forgetFiles } from "./beginning.ts";
import { Ends } from "./ends.ts";
import { type Fork, packFork } from "./fork.ts";
import { keepOnly, loadPacks, noteOnly, notePack, packsNoted, packTogether, storePack } from "./packs.ts";
import { snapshotView } from "./projection.ts";
import { openRepository, type Repository } from "./repository.ts";
import { checkOutTree, wantedTree } from "./restore.ts";
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
 */
export interface Snapshots {
  /** Takes those that a stopped daemon did not get to; before any session goes on. Never rejects. */
  begin(): Promise<void>;
  /** Resolves when what had ended by now is kept, or could not be. */
  settled(session: SessionId): Promise<void>;
  /** On a person's word. Throws `workspace.none`. */
  take(session: SessionId, by: By): Promise<TakeSnapshotAnswer>;
  list(session: SessionId): Promise<readonly SnapshotView[]>;
  /** Throws `not-found`. */
  get(id: SnapshotId): Promise<SnapshotView>;
  /** Without `to`: the files as they are now. */
  diff(from: SnapshotId, to: SnapshotId | undefined): Promise<SnapshotDiff>;
  /** Throws `session.busy`, `not-found`. What there was before is a snapshot of its own. */
  restore(id: SnapshotId, wish: RestoreSnapshot, by: By): Promise<RestoreAnswer>;
  /** Makes ready what a new session's workspace begins with. */
  fork(id: SnapshotId, to: { readonly project: ProjectId; readonly session: SessionId }): Promise<Fork>;
  /** Before its workspace goes. */
  beforeRemoval(session: SessionId): Promise<void>;
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
  readonly owner: Owner | undefined;
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
}

interface Reason {
  readonly reason: EventData<"snapshot.taken">["reason"];
  readonly calls: readonly CallId[];
  readonly by: By;
}

interface Last {
  readonly id: SnapshotId | null;
  readonly tree: string;
}

const corral: By = { actor: "corral" };

export function openSnapshots(options: SnapshotsOptions): Snapshots {
  const { log, home, store, onDefect, now = Date.now, longestMs = 60_000 } = options;
  const enough = new AbortController();
  const lines = new Map<SessionId, Promise<unknown>>();
  const sources = new Map<SessionId, Promise<Pick<Source, "objectFormat" | "excludes"> | undefined>>();
  const ends = new Ends((session, calls, by) => soon(session, calls, by));
  const unlisten = log.onCommit((events) => {
    for (const each of events) {
      ends.hear(each);
      if (each.type === "workspace.prepared" && isOfItsOwn(each.data)) beginSoon(each.stream as SessionId);
      if (each.type === "setup.ended") soonFor(each.stream as SessionId, { reason: "start", calls: [], by: corral });
    }
  });

  return {
    async begin() {
      try {
        for (const row of await log.rows("sessions", { where: { open: 1 } })) await catchUp(row["key"] as SessionId);
        for (const row of await log.rows("workspaces", { where: { pending: 1 } }))
          await catchUp(row["key"] as SessionId);
      } catch (error) {
        onDefect("snapshots that a stopped daemon did not get to are not taken", error);
      }
    },

    settled: async (session) => void (await lines.get(session)),

    take: (session, by) =>
      inLine(session, async () => {
        const taken = await takeNow(session, { reason: "person", calls: ends.drain(session), by });
        return { kind: taken.isNew ? "taken" : "unchanged", snapshot: await view(taken.id) };
      }),

    async list(session) {
      await known(session);
      return (await log.rows("snapshots", { where: { session }, orderBy: "seq" })).map(snapshotView);
    },

    get: (id) => view(id),

    async diff(from, to) {
      const { session, tree } = await view(from);
      const other = to === undefined ? undefined : await view(to);
      if (other !== undefined && other.session !== session) throw ofAnother(from, other.id);
      return inLine(session, async () => {
        const record = await known(session);
        const repository = await open(session, record);
        const end = other?.tree ?? (await treeOfNow(session, record, repository, tree)).tree;
        const changes = await difference(plainGit(repository), { base: tree, tip: end });
        return { session, from, ...(to === undefined ? {} : { to }), ...changes };
      });
    },

    async restore(id, { paths }, by) {
      const { session, tree } = await view(id);
      return options.inTurn(session, () => inLine(session, () => restoreNow(session, { id, tree, paths }, by)));
    },

    async fork(id, { project, session: to }) {
      const { session, tree } = await view(id);
      const record = await known(session);
      if (record.project !== project) throw missing(id);
      return inLine(session, async () => {
        const repository = await open(session, record);
        const { base = "", head = base, variables = {}, readable = [] } = (await everPrepared(session)) ?? {};
        return packFork(repository, {
          tree,
          parent: head,
          isBorrowed: readable.length > 0 || record.kind === "in-place",
          variables,
          message: `Files of ${session} as of ${id}\n\nCommitted by Corral, unsigned.\n`,
          seconds: Math.floor(now() / 1000),
          to: forkPack(home, to),
        });
      });
    },

    async beforeRemoval(session) {
      const work = inLine(session, () =>
        takeNow(session, { reason: "removal", calls: ends.drain(session), by: corral }),
      );
      await work.catch((error: unknown) => tellFailure(session, [], corral, error));
    },

    remove: (session) =>
      inLine(session, async () => {
        const folder = folderOf(session);
        for (const digest of await packsNoted(folder)) await store.remove(digest);
        if ((await stat(folder).catch(() => undefined)) !== undefined) await removeFolder(folder);
        await rm(forkPack(home, session), { force: true });
        sources.delete(session);
      }),

    async expire() {
      try {
        for (const row of await log.rows("last_snapshots")) {
          if (enough.signal.aborted) return;
          const session = row["key"] as SessionId;
          await inLine(session, () => expireOf(session)).catch((error: unknown) =>
            onDefect(`old snapshots of ${session} stay`, error),
          );
        }
        await sweepStore();
      } catch (error) {
        if (!enough.signal.aborted) onDefect("old snapshots stay", error);
      }
    },

    async close() {
      unlisten();
      enough.abort();
      await Promise.allSettled(lines.values());
    },
  };

  function soon(session: SessionId, calls: readonly CallId[], by: By): void {
    soonFor(session, { reason: "calls", calls, by });
  }

  function soonFor(session: SessionId, why: Reason): void {
    void inLine(session, async () => {
      if (enough.signal.aborted) return ends.put(session, why.calls);
      try {
        await takeNow(session, why);
      } catch (error) {
        ends.put(session, why.calls);
        await tellFailure(session, why.calls, why.by, error);
      }
    });
  }

  /** What a workspace began with, where only the workspace has it. */
  function beginSoon(session: SessionId): void {
    void inLine(session, async () => {
      if (enough.signal.aborted) return;
      try {
        const record = await known(session);
        if (record.kind === "in-place") await takeNow(session, { reason: "start", calls: [], by: corral });
        else await lastOf(session, record, await open(session, record));
      } catch (error) {
        await tellFailure(session, [], corral, error);
      }
    });
  }

  async function catchUp(session: SessionId): Promise<void> {
    ends.recall(session, await historyOf(log, session));
  }

  async function takeNow(
    session: SessionId,
    { reason, calls, by }: Reason,
  ): Promise<Last & { readonly id: SnapshotId; readonly isNew: boolean }> {
    const record = await known(session);
    preparedOf(record, session);
    const repository = await open(session, record);
    const last = await lastOf(session, record, repository);
    const taken = await treeOfNow(session, record, repository, last.tree);
    if (last.id !== null && taken.tree === last.tree) return { ...last, id: last.id, isNew: false };
    fault("snapshot.written");
    const id = await keep(session, { ...taken, previous: last.id, reason, calls, by });
    return { id, tree: taken.tree, isNew: true };
  }

  async function restoreNow(
    session: SessionId,
    { id, tree, paths }: Last & { readonly id: SnapshotId; readonly paths: RestoreSnapshot["paths"] },
    by: By,
  ): Promise<RestoreAnswer> {
    await mustRest(session);
    preparedOf(await known(session), session);
    await options.endEnvironments(session);
    const before = await takeNow(session, { reason: "person", calls: ends.drain(session), by });
    const repository = await open(session, await known(session));
    const wanted = await wantedTree(repository, { present: before.tree, snapshot: tree, paths });
    fault("restore.begun");
    await checkOutTree(repository, wanted);
    await append(session, by, event("snapshot.restored", { snapshotId: id, ...(paths && { paths }) }));
    const after = await takeNow(session, { reason: "person", calls: [], by });
    return { kind: "restored", snapshot: id, before: before.id, after: after.id };
  }

  /** Objects first, where they are safe; then the record. */
  async function keep(
    session: SessionId,
    {
      pack: file,
      previous,
      reason,
      calls,
      by,
      skipped,
      ...taken
    }: Omit<TakenTree, "skipped"> & Reason & { previous: SnapshotId | null; skipped: TakenTree["skipped"] },
  ): Promise<SnapshotId> {
    const snapshotId = newId("snapshot");
    const pack = file === undefined ? undefined : await storePack(store, file, enough.signal);
    if (pack !== undefined) await notePack(folderOf(session), pack);
    fault("snapshot.stored");
    const data: EventData<"snapshot.taken"> = {
      snapshotId,
      ...taken,
      previous,
      reason,
      calls: [...calls],
      commands: [],
      skipped: skipped.slice(0, 100).map((each) => ({ ...each })),
      ...(pack === undefined ? {} : { pack }),
    };
    await append(session, by, event("snapshot.taken", data));
    return snapshotId;
  }

  /** The last one on record; for a workspace that has none, what it began with is put on record first. */
  async function lastOf(session: SessionId, record: OnRecord, repository: Repository): Promise<Last> {
    const row = await log.row("last_snapshots", session);
    const last = row === undefined ? undefined : { id: row["snapshot"] as SnapshotId, tree: row["tree"] as string };
    const fresh = indexBeside(home, session);
    const isFresh = record.kind === "copy" && (await isThere(fresh));
    if (last !== undefined && !isFresh) {
      if (!(await isThere(join(repository.folder, "index")))) await forgetFiles(repository, last.tree);
      return last;
    }
    const { base, head = base, readable, path } = preparedOf(record, session);
    const isInPlace = record.kind === "in-place";
    const { tree, pack } = await beginFrom(repository, {
      base,
      borrowed: isInPlace ? base : readable.length === 0 ? undefined : head,
      index: isInPlace ? { file: join(path, ".git/index"), how: "copy" } : { file: fresh, how: "move" },
      owner: await ownerOf(record),
    });
    // In place there is more than the base from the beginning: that is taken, not derived.
    if (isInPlace) return { id: null, tree };
    const nothing = { files: 0, insertions: 0, deletions: 0, skipped: [] };
    const start = { tree, pack, ...nothing, previous: last?.id ?? null };
    const id = await keep(session, { ...start, reason: "start", calls: [], by: corral });
    return { id, tree };
  }

  async function treeOfNow(
    session: SessionId,
    record: OnRecord,
    repository: Repository,
    before: string,
  ): Promise<TakenTree> {
    const { ignored, largestFile } = await options.terms(record.project as ProjectId);
    await mustHaveRoom(repository.folder);
    const wish = { before, ignored, bounds: { largestFile, mostFiles, mostBytes } };
    try {
      return await takeTree(repository, wish);
    } catch (error) {
      if (enough.signal.aborted || !/index|signature/.test(String(error))) throw error;
      // What a loss of power left of the index is of no use.
      await forgetFiles(repository, (await log.row("last_snapshots", session))?.["tree"] as string);
      return takeTree(repository, wish);
    }
  }

  async function open(session: SessionId, record: OnRecord): Promise<Repository> {
    const prepared = await everPrepared(session);
    const folder = folderOf(session);
    const isInPlace = record.kind === "in-place";
    const wasThere = await isThere(join(folder, "ready"));
    const readable = await existing(prepared?.readable ?? []);
    const repository = await openRepository((await sourceOf(session, record)) ?? fallback, {
      folder,
      workspace: prepared?.path ?? workspaceFolder(home, session),
      objects: isInPlace ? ["/workspace/.git/objects", ...readable] : readable,
      readable,
      owner: await ownerOf(record),
      signal: AbortSignal.any([enough.signal, AbortSignal.timeout(longestMs)]),
    });
    if (!wasThere && (await log.row("last_snapshots", session)) !== undefined)
      await loadPacks(repository, store, packsOf(await historyOf(log, session)));
    return repository;
  }

  async function expireOf(session: SessionId): Promise<void> {
    const record = await known(session).catch(() => undefined);
    if (record === undefined) return;
    const { days, most } = await options.terms(record.project as ProjectId);
    const all = await log.rows("snapshots", { where: { session }, orderBy: "seq" });
    const isOld = (row: Row) => days !== null && now() - Date.parse(row["at"] as string) > days * dayMs;
    const gone = all.slice(0, -1).filter((row, at) => isOld(row) || at < all.length - most);
    if (gone.length === 0) return;
    const kept = all.filter((row) => !gone.includes(row)).map((row) => row["tree"] as string);
    const repository = await open(session, record);
    const file = await packTogether(repository, kept);
    const pack = file === undefined ? undefined : await storePack(store, file, enough.signal);
    const before = await packsNoted(repository.folder);
    if (pack !== undefined) await notePack(repository.folder, pack);
    const events = gone.map((row, at) =>
      event("snapshot.expired", {
        snapshotId: row["key"] as SnapshotId,
        ...(at === gone.length - 1 && { packs: pack === undefined ? [] : [pack] }),
      }),
    );
    await append(session, corral, ...events);
    fault("snapshot.expired");
    await noteOnly(repository.folder, pack === undefined ? [] : [pack]);
    await keepOnly(repository, file === undefined ? "nothing" : "new.pack");
    for (const digest of before) if (digest !== pack) await store.remove(digest);
  }

  /** What was put and never came on record, or was to be removed and is not. */
  async function sweepStore(): Promise<void> {
    const sessions = await readdir(join(home, "snapshots")).catch((): string[] => []);
    const needed = new Set<Digest>();
    for (const name of sessions)
      for (const digest of await packsNoted(join(home, "snapshots", name))) needed.add(digest);
    for (const row of await log.rows("snapshots")) {
      const { pack } = JSON.parse(row["taken"] as string) as EventData<"snapshot.taken">;
      // Of one whose repository is gone, all are needed to bring it back.
      if (pack !== undefined && !sessions.includes(row["session"] as string)) return;
    }
    for (let after: Digest | undefined; ;) {
      const { objects, more } = await store.list(after === undefined ? {} : { after });
      for (const { digest, storedAt } of objects)
        if (!needed.has(digest) && now() - storedAt > dayMs) await store.remove(digest);
      after = objects.at(-1)?.digest;
      if (!more || after === undefined) return;
    }
  }

  function folderOf(session: SessionId): string {
    return join(home, "snapshots", session);
  }

  /** The user's own folder is looked at as whoever it belongs to. */
  async function ownerOf({ kind, prepared }: OnRecord): Promise<Owner | undefined> {
    if (kind !== "in-place" || prepared === undefined) return options.owner;
    const { uid, gid } = await stat(prepared.path);
    return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
  }

  function sourceOf(session: SessionId, { worktree, project }: OnRecord) {
    const found =
      sources.get(session) ??
      log
        .row("projects", project)
        .then((row) => inspect(worktree ?? (row?.["path"] as string | undefined) ?? ""))
        .catch(() => undefined);
    sources.set(session, found);
    return found;
  }

  async function everPrepared(session: SessionId): Promise<EventData<"workspace.prepared"> | undefined> {
    const { prepared } = await known(session);
    if (prepared !== undefined) return prepared;
    const last = (await historyOf(log, session)).findLast(({ type }) => type === "workspace.prepared");
    return last?.type === "workspace.prepared" ? last.data : undefined;
  }

  async function view(id: SnapshotId): Promise<SnapshotView> {
    const row = await log.row("snapshots", id);
    if (row === undefined) throw missing(id);
    return snapshotView(row);
  }

  async function known(session: SessionId): Promise<OnRecord> {
    const row = await log.row("workspaces", session);
    if (row === undefined) throw new CorralError("not-found", `There is no session ${session}.`);
    return onRecord(row);
  }

  async function mustRest(session: SessionId): Promise<void> {
    if ((await log.row("sessions", session))?.["open"] !== 1) return;
    throw new CorralError("session.busy", `${session} is in the middle of an activity.`, {
      retry: "later",
      hint: "Let it finish, or interrupt it first.",
    });
  }

  async function tellFailure(session: SessionId, calls: readonly CallId[], by: By, error: unknown): Promise<void> {
    if (enough.signal.aborted || isOfNoSession(error)) return;
    const message = error instanceof Error ? error.message : String(error);
    await append(session, by, event("snapshot.failed", { message, calls: [...calls] })).catch((second: unknown) => {
      if (!isOfNoSession(second)) onDefect(`no snapshot of ${session} was taken: ${message}`, second);
    });
  }

  function inLine<T>(session: SessionId, work: () => Promise<T>): Promise<T> {
    const before = lines.get(session) ?? Promise.resolve();
    const done = before.then(work, work);
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    lines.set(session, settled);
    void settled.then(() => {
      if (lines.get(session) === settled) lines.delete(session);
    });
    return done;
  }

  async function append(session: SessionId, by: By, ...events: readonly NewEvent[]): Promise<void> {
    // Nothing is said of a session that is gone by now.
    const guards = [{ table: "workspaces", key: session, is: {} }];
    await log.append({ stream: session, ...by, events, guards });
  }
}

const dayMs = 86_400_000;
const mostFiles = 200_000;
/** New and changed files of one snapshot, together. */
const mostBytes = 2 ** 30;
/** Room that is left to others. */
const leastFree = 2 ** 29;

/** Where the user's repository is gone, what was made before goes on with what it has. */
const fallback = { objectFormat: "sha1", excludes: "" };

/** Something in it is nowhere else, and an agent can reach it: it is taken over at once. */
function isOfItsOwn({ way, readable, head }: EventData<"workspace.prepared">): boolean {
  return way === "in place" || readable.length === 0 || head !== undefined;
}

/** All packs that hold something of what is left. */
function packsOf(events: readonly NewEvent[]): readonly Digest[] {
  let packs: readonly Digest[] = [];
  for (const { type, data } of events) {
    if (type === "snapshot.taken" && data.pack !== undefined) packs = [...packs, data.pack];
    if (type === "snapshot.expired" && data.packs !== undefined) packs = data.packs;
  }
  return packs;
}

function plainGit(repository: Repository) {
  return {
    async git(args: readonly string[]) {
      const { ok, stdout, stderr } = await repository.run('exec git "$@"', args);
      return { ok, stdout: stdout.toString("utf8"), stderr };
    },
  };
}

function preparedOf({ prepared }: OnRecord, session: SessionId): EventData<"workspace.prepared"> {
  if (prepared !== undefined) return prepared;
  throw new CorralError("workspace.none", `${session} has no workspace.`, {
    hint: "It gets one with its first prompt; `corral run --from SNAPSHOT` begins another from what it held",
  });
}

async function mustHaveRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < leastFree) throw new Error("there is too little room on the disk");
}

async function existing(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(folders.map(isThere));
  return folders.filter((_, at) => found[at]);
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
