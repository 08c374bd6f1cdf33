import {
  type CallId,
  event,
  type EventData,
  newId,
  type NewEvent,
  type SessionId,
  type SnapshotId,
} from "@corral/protocol";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { ownerOf } from "../../environments/index.ts";
import { fault } from "../../faults/index.ts";
import { insideGitJail } from "../../git/index.ts";
import { type By, historyOf, type Log } from "../../log/index.ts";
import type { Digest, Store } from "../../storage/index.ts";
import type { Owner } from "../copy.ts";
import { workspaceFolder } from "../folder.ts";
import type { OnRecord } from "../projection.ts";
import { Records } from "../records.ts";
import { inspect, type Source } from "../source.ts";
import { loadPacks, notePack, storePack } from "./packs.ts";
import { openRepository, type Repository } from "./repository.ts";
import type { TakenTree } from "./take.ts";

/**
 * Where each session's snapshots are: what the log says of its workspace, its repository, and how a snapshot gets on record.
 * Whoever uses it is alone with the session.
 */
export interface Shelf {
  readonly records: Records;
  /** The session's repository. One that is gone comes back from storage. */
  open(session: SessionId): Promise<Repository>;
  last(session: SessionId): Promise<{ readonly id: SnapshotId; readonly tree: string } | undefined>;
  /** Puts a snapshot on record, after its objects are safe. */
  keep(session: SessionId, taken: TakenTree, why: Why & { readonly previous: SnapshotId | null }): Promise<SnapshotId>;
  /** As whom its files are looked at, and whom its repository belongs to. */
  owner(session: SessionId, record: OnRecord): Promise<Owner | undefined>;
  /** Lets go of what is remembered of it. */
  forget(session: SessionId): void;
}

/** Why a snapshot is taken. */
export interface Why {
  readonly reason: EventData<"snapshot.taken">["reason"];
  readonly calls: readonly CallId[];
  readonly by: By;
}

export interface ShelfOptions {
  readonly log: Log;
  readonly home: string;
  readonly store: Store;
  readonly signal: AbortSignal;
  readonly longestMs: number;
}

export function openShelf({ log, home, store, signal, longestMs }: ShelfOptions): Shelf {
  const records = new Records(log);
  const sources = new Map<SessionId, Promise<GitTerms | undefined>>();

  return { records, open, last, keep, owner, forget: (session) => void sources.delete(session) };

  async function open(session: SessionId): Promise<Repository> {
    const record = await records.known(session);
    const prepared = await records.everPrepared(session);
    const folder = shelfFolder(home, session);
    const wasThere = await isThere(join(folder, "ready"));
    const readable = await existing(prepared?.readable ?? []);
    const ownObjects = record.kind === "in-place" ? [`${insideGitJail.workspace}/.git/objects`] : [];
    const repository = await openRepository((await gitTerms(session, record)) ?? withoutUser, {
      folder,
      workspace: prepared?.path ?? workspaceFolder(home, session),
      objects: [...ownObjects, ...readable],
      readable,
      owner: await owner(session, record),
      signal: AbortSignal.any([signal, AbortSignal.timeout(longestMs)]),
    });
    if (!wasThere && (await last(session)) !== undefined)
      await loadPacks(repository, store, packsOf(await historyOf(log, session)));
    return repository;
  }

  async function last(session: SessionId) {
    const row = await log.row("last_snapshots", session);
    return row === undefined ? undefined : { id: row["snapshot"] as SnapshotId, tree: row["tree"] as string };
  }

  async function keep(
    session: SessionId,
    { pack: file, skipped, flagged, nested: _, ...figures }: TakenTree,
    { by, calls, ...why }: Why & { readonly previous: SnapshotId | null },
  ): Promise<SnapshotId> {
    const snapshotId = newId("snapshot");
    const pack = file === undefined ? undefined : await storePack(store, file, signal);
    if (pack !== undefined) await notePack(shelfFolder(home, session), pack);
    fault("snapshot.stored");
    const data: EventData<"snapshot.taken"> = {
      snapshotId,
      ...figures,
      ...why,
      calls: [...calls],
      commands: [],
      skipped: skipped.slice(0, mostTold).map((each) => ({ ...each })),
      ...(pack === undefined ? {} : { pack }),
      ...(flagged.length === 0 ? {} : { flagged: [...flagged] }),
    };
    await records.append(session, by, event("snapshot.taken", data));
    return snapshotId;
  }

  /** The user's own folder is looked at as whoever it belongs to. Where a copy is gone, its snapshots stay whose they were. */
  async function owner(session: SessionId, { kind, prepared }: OnRecord): Promise<Owner | undefined> {
    const copy = workspaceFolder(home, session);
    if (kind !== "in-place" || prepared === undefined)
      return ownerOf((await isThere(copy)) ? copy : shelfFolder(home, session));
    const { uid, gid } = await stat(prepared.path);
    return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
  }

  /** Asked once: it takes several programs to tell. */
  function gitTerms(session: SessionId, record: OnRecord): Promise<GitTerms | undefined> {
    const asked =
      sources.get(session) ??
      records
        .repoPath(record)
        .then((path) => inspect(path, { signal }))
        .catch(() => undefined);
    sources.set(session, asked);
    return asked;
  }
}

type GitTerms = Pick<Source, "objectFormat" | "excludes">;

/** Where the user's repository is gone, what was made before goes on with what it has. */
const withoutUser: GitTerms = { objectFormat: "sha1", excludes: "" };

const mostTold = 100;

/** No jail of a session sees it. */
export function shelfFolder(home: string, session: SessionId): string {
  return join(home, "snapshots", session);
}

/** All packs that hold something of what is left. */
function packsOf(events: readonly NewEvent[]): readonly Digest[] {
  const packs: Digest[] = [];
  for (const { type, data } of events) {
    if (type === "snapshot.taken" && data.pack !== undefined) packs.push(data.pack);
    if (type === "snapshot.expired" && data.packs !== undefined) packs.splice(0, packs.length, ...data.packs);
  }
  return packs;
}

async function existing(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(folders.map(isThere));
  return folders.filter((_, at) => found[at]);
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
