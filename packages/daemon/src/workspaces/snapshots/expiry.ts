import { event, type SnapshotId } from "@corral/protocol";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { removeFolder } from "../../environments/index.ts";
import { fault } from "../../faults/index.ts";
import type { Log, Row } from "../../log/index.ts";
import type { Digest, Store } from "../../storage/index.ts";
import type { Occupant } from "./occupant.ts";
import { keepOnly, noteOnly, notePack, packsNoted, packTogether, storePack } from "./packs.ts";
import { type Shelf, shelfFolder } from "./shelf.ts";

export interface Expiring {
  readonly log: Log;
  readonly home: string;
  readonly shelf: Shelf;
  readonly store: Store;
  readonly now: number;
  readonly signal: AbortSignal;
}

const dayMs = 86_400_000;

/**
 * Lets go of an occupant's old snapshots and of all that only those needed. The last one goes only when nobody works there any more, and
 * then "all" is told, for the caller to remove. What is left is packed anew and safe before they go; cut off afterwards, what is too much
 * stays until the next time.
 */
export async function expireOf(
  occupant: Occupant,
  { days, most, isOver }: { readonly days: number | null; readonly most: number; readonly isOver: boolean },
  { log, home, shelf, store, now, signal }: Expiring,
): Promise<"all" | "some"> {
  const all = await log.rows("snapshots", { where: { session: occupant }, orderBy: "seq" });
  const isOld = (row: Row) => days !== null && now - Date.parse(row["at"] as string) > days * dayMs;
  if (isOver && all.every(isOld)) return "all";
  const gone = all.slice(0, -1).filter((row, at) => isOld(row) || at < all.length - most);
  if (gone.length === 0) return "some";
  const repository = await shelf.open(occupant);
  const kept = all.filter((row) => !gone.includes(row)).map((row) => row["tree"] as string);
  const file = await packTogether(repository, kept);
  const packs = file === undefined ? [] : [await storePack(store, file, signal)];
  const before = await packsNoted(repository.folder);
  for (const pack of packs) await notePack(repository.folder, pack);
  const events = gone.map((row, at) =>
    event("snapshot.expired", {
      snapshotId: row["key"] as SnapshotId,
      ...(at === gone.length - 1 ? { packs } : {}),
    }),
  );
  await shelf.records.append(occupant, { actor: "corral" }, ...events);
  fault("snapshot.expired");
  await keepOnly(repository, file === undefined ? "nothing" : "new.pack");
  await noteOnly(repository.folder, packs);
  await removePacks(
    occupant,
    before.filter((digest) => !packs.includes(digest)),
    { home, store },
  );
  return "some";
}

/** All snapshots of an occupant that is gone, on record and on the disk. Can be repeated. */
export async function letGoOfAll(
  occupant: Occupant,
  { log, home, shelf, store }: Pick<Expiring, "log" | "home" | "shelf" | "store">,
): Promise<void> {
  const rows = await log.rows("snapshots", { where: { session: occupant }, orderBy: "seq" });
  const events = rows.map((row, at) =>
    event("snapshot.expired", {
      snapshotId: row["key"] as SnapshotId,
      ...(at === rows.length - 1 ? { packs: [], last: true as const } : {}),
    }),
  );
  if (events.length > 0) await log.append({ stream: occupant, actor: "corral", events });
  await removeShelf(occupant, { home, shelf, store });
}

/** What is on the disk of it. Can be repeated. */
export async function removeShelf(
  occupant: Occupant,
  { home, shelf, store }: Pick<Expiring, "home" | "shelf" | "store">,
): Promise<void> {
  const folder = shelfFolder(home, occupant);
  await removePacks(occupant, await packsNoted(folder), { home, store });
  if ((await lstat(folder).catch(() => undefined)) !== undefined) await removeFolder(folder);
  shelf.forget(occupant);
}

/** But for those that others made, too: equal work is one object in storage. */
async function removePacks(
  occupant: Occupant,
  packs: readonly Digest[],
  { home, store }: Pick<Expiring, "home" | "store">,
): Promise<void> {
  if (packs.length === 0) return;
  const others = (await shelvesIn(home)).filter((name) => name !== occupant);
  const needed = await packsOnShelves(home, others);
  for (const digest of packs) if (!needed.has(digest)) await store.remove(digest);
}

function shelvesIn(home: string): Promise<string[]> {
  return readdir(join(home, "snapshots")).catch((): string[] => []);
}

async function packsOnShelves(home: string, names: readonly string[]): Promise<ReadonlySet<Digest>> {
  const needed = new Set<Digest>();
  for (const name of names) for (const pack of await packsNoted(join(home, "snapshots", name))) needed.add(pack);
  return needed;
}

/** Removes what was stored and never came on record, or was to be removed and is not. */
export async function sweepStore({ log, home, store, now, signal }: Expiring): Promise<void> {
  const folders = await shelvesIn(home);
  // Of a session whose repository is gone all are needed to bring it back, and only the log knows which.
  for (const { key } of await log.rows("last_snapshots")) if (!folders.includes(key as string)) return;
  const needed = await packsOnShelves(home, folders);
  let after: Digest | undefined;
  do {
    const { objects, more } = await store.list(after === undefined ? {} : { after });
    for (const { digest, storedAt } of objects)
      if (!needed.has(digest) && now - storedAt > dayMs) await store.remove(digest);
    after = more ? objects.at(-1)?.digest : undefined;
  } while (after !== undefined && !signal.aborted);
}
