import {
  type CallId,
  type CommandId,
  event,
  type EventData,
  newId,
  type NewEvent,
  type SnapshotId,
  type TerminalId,
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
import { inspect, type Source } from "../source.ts";
import type { Ended } from "./ends.ts";
import { isShell, type Occupant } from "./occupant.ts";
import { Occupants, type Occupied } from "./occupants.ts";
import { loadPacks, notePack, storePack } from "./packs.ts";
import { openRepository, type Repository } from "./repository.ts";
import type { TakenTree } from "./take.ts";

/**
 * Where each occupant's snapshots are: what the log says of its workspace, its repository, and how a snapshot gets on record.
 * Whoever uses it is alone with the occupant.
 */
export interface Shelf {
  readonly records: Occupants;
  /** The occupant's repository. One that is gone comes back from storage. */
  open(occupant: Occupant): Promise<Repository>;
  last(occupant: Occupant): Promise<{ readonly id: SnapshotId; readonly tree: string } | undefined>;
  /** Puts a snapshot on record, after its objects are safe. */
  keep(occupant: Occupant, taken: TakenTree, why: Why & { readonly previous: SnapshotId | null }): Promise<SnapshotId>;
  /** As whom its files are looked at, and whom its repository belongs to. */
  owner(occupant: Occupant, record: Occupied): Promise<Owner | undefined>;
  /** Cuts off what is done with its repository. */
  cut(occupant: Occupant): void;
  /** Lets go of what is remembered of it. */
  forget(occupant: Occupant): void;
}

/** Why a snapshot is taken. */
export interface Why {
  readonly reason: EventData<"snapshot.taken">["reason"];
  readonly ended: readonly Ended[];
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
  const records = new Occupants(log);
  const sources = new Map<Occupant, Promise<GitTerms | undefined>>();
  const cuts = new Map<Occupant, AbortController>();

  return { records, open, last, keep, owner, cut: (occupant) => cuts.get(occupant)?.abort(), forget };

  function forget(occupant: Occupant): void {
    sources.delete(occupant);
    cuts.delete(occupant);
  }

  async function open(occupant: Occupant): Promise<Repository> {
    const record = await records.known(occupant);
    const prepared = await records.everPrepared(occupant);
    const folder = shelfFolder(home, occupant);
    const wasThere = await isThere(join(folder, "ready"));
    const readable = await existing(prepared?.readable ?? []);
    const ownObjects = record.kind === "in-place" ? [`${insideGitJail.workspace}/.git/objects`] : [];
    const repository = await openRepository((await gitTerms(occupant, record)) ?? withoutUser, {
      folder,
      workspace: prepared?.path ?? workspaceFolder(home, occupant),
      objects: [...ownObjects, ...readable],
      readable,
      owner: await owner(occupant, record),
      signal: AbortSignal.any([signal, cutOf(occupant), AbortSignal.timeout(longestMs)]),
    });
    if (!wasThere && (await last(occupant)) !== undefined)
      await loadPacks(repository, store, packsOf(await historyOf(log, occupant)));
    return repository;
  }

  /** Only of shells, which are closed while one is under way. */
  function cutOf(occupant: Occupant): AbortSignal {
    if (!isShell(occupant)) return signal;
    const cut = cuts.get(occupant) ?? new AbortController();
    cuts.set(occupant, cut);
    return cut.signal;
  }

  async function last(occupant: Occupant) {
    const row = await log.row("last_snapshots", occupant);
    return row === undefined ? undefined : { id: row["snapshot"] as SnapshotId, tree: row["tree"] as string };
  }

  async function keep(
    occupant: Occupant,
    { pack: file, skipped, flagged, nested: _, ...figures }: TakenTree,
    { by, ended, ...why }: Why & { readonly previous: SnapshotId | null },
  ): Promise<SnapshotId> {
    const snapshotId = newId("snapshot");
    const pack = file === undefined ? undefined : await storePack(store, file, signal);
    if (pack !== undefined) await notePack(shelfFolder(home, occupant), pack);
    fault("snapshot.stored");
    const data: EventData<"snapshot.taken"> = {
      snapshotId,
      ...figures,
      ...why,
      ...namesOf(ended),
      skipped: skipped.slice(0, mostTold).map((each) => ({ ...each })),
      ...(pack === undefined ? {} : { pack }),
      ...(flagged.length === 0 ? {} : { flagged: [...flagged] }),
    };
    await records.append(occupant, by, event("snapshot.taken", data));
    return snapshotId;
  }

  /** The user's own folder is looked at as whoever it belongs to. Where a copy is gone, its snapshots stay whose they were. */
  async function owner(occupant: Occupant, { kind, prepared }: Occupied): Promise<Owner | undefined> {
    const copy = prepared?.path ?? workspaceFolder(home, occupant);
    if (kind !== "in-place" || prepared === undefined)
      return ownerOf((await isThere(copy)) ? copy : shelfFolder(home, occupant));
    const { uid, gid } = await stat(prepared.path);
    return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
  }

  /** Asked once: it takes several programs to tell. */
  function gitTerms(occupant: Occupant, record: Occupied): Promise<GitTerms | undefined> {
    const asked =
      sources.get(occupant) ??
      records
        .repoPath(record)
        .then((path) => inspect(path, { signal }))
        .catch(() => undefined);
    sources.set(occupant, asked);
    return asked;
  }
}

type GitTerms = Pick<Source, "objectFormat" | "excludes">;

/** Where the user's repository is gone, what was made before goes on with what it has. */
const withoutUser: GitTerms = { objectFormat: "sha1", excludes: "" };

const mostTold = 100;

/** No jail of a session sees it. */
export function shelfFolder(home: string, occupant: Occupant): string {
  return join(home, "snapshots", occupant);
}

/** As they are told in events. */
export function namesOf(
  ended: readonly Ended[],
): Pick<EventData<"snapshot.taken">, "calls" | "commands" | "terminals"> {
  const of = <T extends Ended>(kind: string) => ended.filter((id): id is T => id.startsWith(kind));
  const terminals = of<TerminalId>("trm_");
  return {
    calls: of<CallId>("cal_"),
    commands: of<CommandId>("cmd_"),
    ...(terminals.length === 0 ? {} : { terminals }),
  };
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
