import {
  CorralError,
  event,
  type EventData,
  type ProjectId,
  type RestoreAnswer,
  type RestoreSnapshot,
  type SessionId,
  type ShellId,
  type SnapshotDiff,
  type SnapshotId,
  type SnapshotView,
  type TakeSnapshotAnswer,
} from "@corral/protocol";
import { readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Capability, Nothing, Provisions } from "../../capabilities/port.ts";
import { fault } from "../../faults/index.ts";
import { type By, historyOf, type Log } from "../../log/index.ts";
import type { Store } from "../../storage/index.ts";
import { difference } from "../difference.ts";
import { orSay } from "../failing.ts";
import { Lines } from "../lines.ts";
import { hasNewlySkipped, readNotes, writeNotes } from "./notes.ts";
import { beginFrom, forgetFiles } from "./beginning.ts";
import { Ends, type Ended } from "./ends.ts";
import { expireOf, letGoOfAll, removeShelf, sweepStore } from "./expiry.ts";
import { type Fork, packFork } from "./fork.ts";
import { Graces } from "./graces.ts";
import { isShell, named, type Occupant } from "./occupant.ts";
import type { Occupied } from "./occupants.ts";
import { forkPack, indexBeside } from "./places.ts";
import { shellCopyIn, snapshotView } from "./projection.ts";
import { gitIn, type Repository } from "./repository.ts";
import { checkOutTree, mustBeInside, planRestore } from "./restore.ts";
import type { Prepared } from "../records.ts";
import { namesOf, openShelf, type Shelf, type Why } from "./shelf.ts";
import { takeTree, type TakenTree } from "./take.ts";

declare module "../../capabilities/port.ts" {
  interface Capabilities {
    /** Answered when what had ended in the session's workspace by now is kept in a snapshot, or could not be. */
    "workspaces.snapshotted": Capability<Nothing, Nothing>;
  }
}

/**
 * What workspaces held, moment by moment.
 *
 * 1. After calls that could write have ended, and none runs any more, one is taken at once; whoever is about to write waits for it
 *    (`settled`), nobody else does. Calls that could only read cause none, and start nothing. In a person's shell the same goes for commands
 *    and closed terminals, after a moment (`graces.ts`).
 * 2. For one session or shell one thing is done at a time, in the order asked.
 * 3. Its objects are safe before it is on record. Cut off anywhere, nothing is on record, and the next one covers it and names
 *    the calls that had ended.
 * 4. One that fails fails nothing else: it is told, and covered by the next.
 * 5. To restore one ends the environment first, for its walls are mounts on files, and keeps another from opening until it is done.
 * 6. A shell that is closed with nothing to keep takes its snapshots along; one whose files are kept has one more taken.
 */
export interface Snapshots {
  /** Takes those that a stopped daemon did not get to; before any session goes on. Never rejects. */
  begin(): Promise<void>;
  /** Resolves when what had ended by now is kept, or could not be. Never rejects. */
  settled(occupant: Occupant): Promise<void>;
  readonly provides: Pick<Provisions, "workspaces.snapshotted">;
  /** On a person's word. Throws `workspace.none`. */
  take(occupant: Occupant, by: By): Promise<TakeSnapshotAnswer>;
  /** Throws `not-found` for a session that there is not. */
  list(occupant: Occupant): Promise<readonly SnapshotView[]>;
  /** Throws `not-found`. */
  get(id: SnapshotId): Promise<SnapshotView>;
  /** Of one session or shell. Without `to`: the files as they are now. */
  diff(from: SnapshotId, to: SnapshotId | undefined): Promise<SnapshotDiff>;
  /** Ends what runs in the workspace. What there was is a snapshot of its own. Throws `session.busy`, `workspace.busy`, `not-found`, `workspace.none`. */
  restore(id: SnapshotId, wish: RestoreSnapshot, by: By): Promise<RestoreAnswer>;
  /** Makes ready what a new session's workspace begins with. Throws `not-found` for one of another project. */
  fork(id: SnapshotId, to: { readonly project: ProjectId; readonly session: SessionId }): Promise<Fork>;
  /** Before its workspace goes. False: it must stay, for what it holds could not be kept, which is told. Never rejects. */
  beforeRemoval(session: SessionId): Promise<boolean>;
  /** Takes all of a session that is no more. Can be repeated. */
  remove(session: SessionId): Promise<void>;
  /** From now on files can be restored, while nothing else is done with the workspace. Until then none are. */
  takeTurnsVia(workspaces: TakesTurns): void;
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
  /** Ends what runs in the workspace, and does something while nothing begins there. Throws `workspace.busy` for a shell in use. */
  readonly atRest: <T>(occupant: Occupant, work: () => Promise<T>) => Promise<T>;
  readonly onDefect: (what: string, error: unknown) => void;
  readonly now?: () => number;
  /** How long one may take. */
  readonly longestMs?: number;
  /** Of more new and changed files than this, the rest is left out. */
  readonly mostFiles?: number;
  /** How long one of a person's shell waits for the shell to be closed. */
  readonly graceMs?: number;
}

interface TakesTurns {
  /** Does something while nothing else is done with the workspace. */
  inTurn<T>(occupant: Occupant, work: () => Promise<T>): Promise<T>;
}

const noTurns: TakesTurns = {
  inTurn: () =>
    Promise.reject(new CorralError("workspace.busy", "Nothing can be restored here yet.", { retry: "later" })),
};

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
  const { graceMs = 300 } = options;
  const enough = new AbortController();
  const { signal } = enough;
  const shelf = openShelf({ log, home, store, signal, longestMs });
  const lines = new Lines<Occupant>();
  const inLine = <T>(occupant: Occupant, work: () => Promise<T>) => lines.run(occupant, work);
  const takeSoon = (occupant: Occupant, ended: readonly Ended[], by: By) =>
    soon(occupant, { reason: "calls", ended, by });
  const graces = new Graces(takeSoon);
  let isRecalling = false;
  const ends = new Ends((occupant, ended, by) =>
    isShell(occupant)
      ? graces.hold(occupant, ended, by, isRecalling ? undefined : graceMs)
      : takeSoon(occupant, ended, by),
  );
  let recalled = Promise.resolve();
  let turns = noTurns;
  const unlisten = log.onCommit((events) => {
    ends.hear(events);
    for (const each of events) {
      const session = each.stream as SessionId;
      if (each.type === "shell.closed") shellClosed(each.stream as ShellId, each.data);
      if (each.type === "workspace.prepared" && isOfItsOwn(each.data)) beginSoon(session);
      if (each.type === "setup.ended") soon(session, { reason: "start", ended: [], by: corral });
    }
  });

  return {
    async begin() {
      try {
        const open = await log.rows("sessions", { where: { open: 1 } });
        const pending = await log.rows("workspaces", { where: { pending: 1 } });
        for (const session of new Set([...open, ...pending].map((row) => row["key"] as SessionId)))
          ends.recall(session, await historyOf(log, session));
        recalled = takeInTurn(await recallShells());
      } catch (error) {
        onDefect("snapshots that a stopped daemon did not get to are not taken", error);
      }
    },

    takeTurnsVia: (workspaces) => void (turns = workspaces),
    settled: settledNow,
    provides: {
      async "workspaces.snapshotted"(session, _ask, { run }) {
        // What the run said to have ended before it asked is to be kept, too.
        await run.recorded;
        await settledNow(session);
        return {};
      },
    },

    take: (occupant, by) =>
      inLine(occupant, async () => {
        const why = { reason: "person", ended: drained(occupant), by } as const;
        const taken = await orSay("No snapshot was taken", signal, () => takeNow(occupant, why)).catch(
          (error: unknown) => {
            ends.put(occupant, why.ended);
            throw error;
          },
        );
        return { kind: taken.isNew ? "taken" : "unchanged", snapshot: await view(taken.id) };
      }),

    async list(occupant) {
      if (!isShell(occupant)) await shelf.records.known(occupant);
      return (await log.rows("snapshots", { where: { session: occupant }, orderBy: "seq" })).map(snapshotView);
    },

    get: (id) => view(id),

    async diff(from, to) {
      const { occupant, tree } = await found(from);
      const other = to === undefined ? undefined : await found(to);
      if (other !== undefined && other.occupant !== occupant) throw ofAnother(from, other.id);
      const compare = async (): Promise<SnapshotDiff> => {
        const repository = await shelf.open(occupant);
        const end = other?.tree ?? (await treeOfNow(occupant, repository, tree)).tree;
        const changes = await difference({ git: gitIn(repository, "utf8") }, { base: tree, tip: end });
        return { ...named(occupant), from, ...(to === undefined ? {} : { to }), ...changes };
      };
      return inLine(occupant, () => orSay("The snapshots could not be compared", signal, compare));
    },

    async restore(id, { paths }, by) {
      mustBeInside(paths);
      const { occupant, tree } = await found(id);
      const restore = () => restoreNow(occupant, { id, tree, paths }, by);
      return turns.inTurn(occupant, () =>
        inLine(occupant, () => orSay("The snapshot could not be restored", signal, restore)),
      );
    },

    async fork(id, { project, session: to }) {
      const { occupant, tree } = await found(id);
      if ((await shelf.records.known(occupant)).project !== project) throw missing(id);
      return inLine(occupant, () =>
        orSay("No session could begin from the snapshot", signal, () => forkNow(occupant, { id, tree }, to)),
      );
    },

    async beforeRemoval(session) {
      const why = { reason: "removal", ended: ends.drain(session), by: corral } as const;
      try {
        await inLine(session, () => takeNow(session, why));
        return true;
      } catch (error) {
        ends.put(session, why.ended);
        await tellFailure(session, why, error);
        return false;
      }
    },

    remove: (session) =>
      inLine(session, async () => {
        await removeShelf(session, { home, shelf, store });
        await rm(forkPack(home, session), { force: true });
      }),

    async expire() {
      const expiring = { log, home, shelf, store, signal, now: now() };
      try {
        for (const { key } of await log.rows("last_snapshots")) {
          if (signal.aborted) return;
          const occupant = key as Occupant;
          await inLine(occupant, async () => {
            const { project, isOver } = await shelf.records.known(occupant);
            const terms = await options.terms(project as ProjectId);
            const went = await expireOf(occupant, { ...terms, isOver }, expiring);
            if (went === "all") await letGoOfAll(occupant, expiring);
          }).catch((error: unknown) => {
            // A shell that was closed with nothing to keep is let go of below.
            if (!isOfNobody(error)) onDefect(`old snapshots of ${occupant} stay`, error);
          });
        }
        await sweepShells();
        await sweepStore(expiring);
      } catch (error) {
        if (!signal.aborted) onDefect("old snapshots stay", error);
      }
    },

    async close() {
      unlisten();
      graces.close();
      enough.abort();
      await recalled;
      await lines.settled();
    },
  };

  function soon(occupant: Occupant, why: Why): void {
    void inLine(occupant, async () => {
      if (signal.aborted) return;
      try {
        await takeNow(occupant, why);
      } catch (error) {
        if (isShell(occupant) && isOfNobody(error)) return;
        ends.put(occupant, why.ended);
        await tellFailure(occupant, why, error);
      }
    });
  }

  /** All that have ended and are in no snapshot. */
  function drained(occupant: Occupant): readonly Ended[] {
    return [...(isShell(occupant) ? graces.drop(occupant) : []), ...ends.drain(occupant)];
  }

  function settledNow(occupant: Occupant): Promise<void> {
    if (isShell(occupant)) graces.hurry(occupant);
    return lines.settled(occupant);
  }

  function shellClosed(shell: ShellId, { kept }: EventData<"shell.closed">): void {
    if (kept !== undefined) return graces.hurry(shell);
    graces.drop(shell);
    shelf.cut(shell);
    void letGo(shell);
  }

  /** Never rejects. */
  function letGo(shell: ShellId): Promise<void> {
    return inLine(shell, async () => {
      ends.forget(shell);
      await letGoOfAll(shell, { log, home, shelf, store });
    }).catch((error: unknown) => {
      // The next sweep takes what is left.
      if (!signal.aborted) onDefect(`snapshots of ${shell} stay`, error);
    });
  }

  /** Those in which something may have changed since their last snapshot. */
  async function recallShells(): Promise<readonly ShellId[]> {
    const due = (await log.rows("shell_copies", { where: { due: 1 } })).filter((row) => shellCopyIn(row) !== undefined);
    const shells = due.map((row) => row["key"] as ShellId);
    for (const shell of shells) {
      const history = await historyOf(log, shell);
      isRecalling = true;
      ends.recall(shell, history);
      isRecalling = false;
    }
    return shells;
  }

  /** One by one: there may be many. */
  async function takeInTurn(shells: readonly ShellId[]): Promise<void> {
    for (const shell of shells) {
      if (signal.aborted) return;
      graces.hurry(shell);
      await lines.settled(shell);
    }
  }

  /** Takes what a stopped daemon left of shells that are closed, or whose snapshots are all too old. */
  async function sweepShells(): Promise<void> {
    for (const name of await readdir(join(home, "snapshots")).catch((): string[] => [])) {
      const shell = name as Occupant;
      if (signal.aborted || !isShell(shell)) continue;
      const copy = shellCopyIn(await log.row("shell_copies", shell));
      if (copy === undefined || (copy.isOver && (await shelf.last(shell)) === undefined)) await letGo(shell);
    }
  }

  /** What a workspace began with, where only the workspace has it. */
  function beginSoon(session: SessionId): void {
    const why = { reason: "start", ended: [], by: corral } as const;
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

  async function takeNow(occupant: Occupant, why: Why): Promise<TakenNow> {
    const record = await shelf.records.known(occupant);
    const { path } = preparedOf(record, occupant);
    // People may remove what a closed shell left.
    if (record.isOver && !(await isThere(path))) throw noWorkspace(occupant);
    const repository = await shelf.open(occupant);
    const { id: previous, tree } = await lastOf(occupant, repository);
    const before = await readNotes(repository.folder);
    const taken = await treeOfNow(occupant, repository, tree);
    // What was there before any work is nobody's doing.
    const flagged = why.reason === "start" ? [] : taken.flagged;
    const isTold = flagged.length === 0 && !hasNewlySkipped(taken, before);
    const isSame = previous !== null && taken.tree === tree && isTold;
    const id = isSame ? previous : await keep(occupant, { ...taken, flagged }, { ...why, previous });
    if (!isSame) await writeNotes(repository.folder, taken);
    else if (isShell(occupant)) await tellUnchanged(occupant, id, why);
    if (record.isOver) shelf.forget(occupant);
    return { id, tree: taken.tree, skipped: taken.skipped, isNew: !isSame };
  }

  function keep(occupant: Occupant, taken: TakenTree, why: Parameters<Shelf["keep"]>[2]): Promise<SnapshotId> {
    fault("snapshot.written");
    return shelf.keep(occupant, taken, why);
  }

  /** So that nobody looks again, and the audit knows. */
  async function tellUnchanged(shell: ShellId, snapshotId: SnapshotId, { reason, ended, by }: Why): Promise<void> {
    if (reason !== "calls" && ended.length === 0) return;
    const { commands, terminals = [] } = namesOf(ended);
    await shelf.records.append(shell, by, event("snapshot.unchanged", { snapshotId, commands, terminals }));
  }

  async function restoreNow(
    occupant: Occupant,
    { id, tree, paths }: Last & { readonly paths: RestoreSnapshot["paths"] },
    by: By,
  ): Promise<RestoreAnswer> {
    await shelf.records.mustRest(occupant);
    const { path } = preparedOf(await shelf.records.known(occupant), occupant);
    if (isShell(occupant) && !(await isThere(path))) throw noWorkspace(occupant);
    const repository = await shelf.open(occupant);
    const last = await lastOf(occupant, repository);
    // What cannot be restored is told before anything is ended.
    await planRestore(repository, { snapshot: tree, paths, now: await treeOfNow(occupant, repository, last.tree) });
    return options.atRest(occupant, async () => {
      const before = await takeNow(occupant, { reason: "person", ended: drained(occupant), by });
      const { wanted, left } = await planRestore(repository, { snapshot: tree, paths, now: before });
      fault("restore.begun");
      await checkOutTree(repository, wanted, left);
      await shelf.records.append(occupant, by, event("snapshot.restored", { snapshotId: id, ...(paths && { paths }) }));
      const after = await takeNow(occupant, { reason: "person", ended: [], by });
      return { kind: "restored", snapshot: id, before: before.id, after: after.id };
    });
  }

  async function forkNow(occupant: Occupant, { id, tree }: Last, to: SessionId): Promise<Fork> {
    const { kind } = await shelf.records.known(occupant);
    const {
      base = "",
      head = base,
      variables = {},
      readable = [],
    } = (await shelf.records.everPrepared(occupant)) ?? {};
    return packFork(await shelf.open(occupant), {
      tree,
      parent: head,
      isBorrowed: head !== "" && (readable.length > 0 || kind === "in-place"),
      variables,
      message: `Files of ${occupant} as of ${id}\n\nCommitted by Corral, unsigned.\n`,
      seconds: Math.floor(now() / 1000),
      to: forkPack(home, to),
    });
  }

  /** The last one on record; for a workspace that has none, what it began with is put on record first. */
  async function lastOf(
    occupant: Occupant,
    repository: Repository,
  ): Promise<{ readonly id: SnapshotId | null; readonly tree: string }> {
    const record = await shelf.records.known(occupant);
    const isInPlace = record.kind === "in-place";
    const last = await shelf.last(occupant);
    const fresh = indexBeside(home, occupant);
    if (last !== undefined && (isInPlace || !(await isThere(fresh)))) {
      if (!(await isThere(join(repository.folder, "index")))) await forgetFiles(repository, last.tree);
      return last;
    }
    const { base, head = base, readable, path } = preparedOf(record, occupant);
    const { tree, pack } = await beginFrom(repository, {
      base,
      borrowed: isInPlace ? base : readable.length === 0 ? undefined : head,
      index: isInPlace ? { file: join(path, ".git/index"), how: "copy" } : { file: fresh, how: "move" },
      owner: await shelf.owner(occupant, record),
    });
    // In place there is more than the base from the beginning: that is taken, not derived.
    if (isInPlace) return { id: null, tree };
    const start = { tree, pack, files: 0, insertions: 0, deletions: 0, skipped: [], flagged: [], nested: [] };
    const previous = last?.id ?? null;
    return { id: await shelf.keep(occupant, start, { reason: "start", ended: [], by: corral, previous }), tree };
  }

  async function treeOfNow(occupant: Occupant, repository: Repository, before: string): Promise<TakenTree> {
    const { project } = await shelf.records.known(occupant);
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

  async function found(id: SnapshotId): Promise<Last & { readonly occupant: Occupant }> {
    const row = await log.row("snapshots", id);
    if (row === undefined) throw missing(id);
    return { id, tree: row["tree"] as string, occupant: row["session"] as Occupant };
  }

  async function view(id: SnapshotId): Promise<SnapshotView> {
    const row = await log.row("snapshots", id);
    if (row === undefined) throw missing(id);
    return snapshotView(row);
  }

  async function tellFailure(
    occupant: Occupant,
    { ended, by }: Pick<Why, "ended" | "by">,
    error: unknown,
  ): Promise<void> {
    if (signal.aborted || isOfNobody(error)) return;
    const message = error instanceof Error ? error.message : String(error);
    const { calls, commands } = namesOf(ended);
    const data = { message, calls, ...(commands.length === 0 ? {} : { commands }) };
    await shelf.records.append(occupant, by, event("snapshot.failed", data)).catch((second: unknown) => {
      if (!isOfNobody(second)) onDefect(`no snapshot of ${occupant} was taken: ${message}`, second);
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

function preparedOf({ prepared }: Occupied, occupant: Occupant): NonNullable<Occupied["prepared"]> {
  if (prepared !== undefined) return prepared;
  throw noWorkspace(occupant);
}

function noWorkspace(occupant: Occupant): CorralError {
  const fork = "`corral run --from SNAPSHOT` begins another session from what it held";
  return new CorralError("workspace.none", `${occupant} has no workspace.`, {
    hint: isShell(occupant) ? `Its files were removed; ${fork}` : `It gets one with its first prompt; ${fork}`,
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
  return new CorralError("not-found", `${one} and ${other} are not of the same session or shell.`, {
    hint: "`corral snapshots SESSION` (or SHELL) lists those of one",
  });
}

/** It was removed meanwhile, or has nothing yet to be kept. */
function isOfNobody(error: unknown): boolean {
  if (!(error instanceof CorralError)) return false;
  return error.code === "not-found" || error.code === "append.conflict" || error.code === "workspace.none";
}
