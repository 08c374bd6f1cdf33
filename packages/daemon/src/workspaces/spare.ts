import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, readFile, rename, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { placesInside } from "../environments/index.ts";
import { fault } from "../faults/index.ts";
import { alternatesOf, readableAlternates } from "./alternates.ts";
import { borrow, checkOut, type NewOwner, type Owner } from "./copy.ts";
import { inspect, notesOf, type Source, type SourceNotes } from "./source.ts";
import { emptyTrash, setOut } from "./trash.ts";

/**
 * Copies kept ready, one for a repo, so that a session need not wait for one. (An overlay would need a lower folder that never changes,
 * which is a spare again, and a mount in every place that reads the workspace; a rename costs about as little.)
 *
 * 1. A spare appears by one rename and is taken by one: whoever moves it away has it, nobody else.
 * 2. What says what it is lies inside it, in its git folder, and so comes and goes with it.
 * 3. One is made at a time, at the lowest priority, and only while there is room on the disk.
 * 4. Nothing an agent could reach is in here: jails do not see this folder.
 */
export interface Spares {
  /** Makes one for the repo, unless there is one. Never rejects. */
  fill(repo: string): Promise<void>;
  /** Breaks off; what was half made goes with the next beginning. */
  close(): Promise<void>;
}

export interface SparesOptions {
  readonly folder: string;
  /** Gives each its own user. Undefined: they belong to whoever this process runs as. */
  readonly newOwner: NewOwner | undefined;
  /** Whether any are wanted, at the moment. */
  readonly wanted: () => boolean;
  readonly onDefect: (what: string, error: unknown) => void;
  /** How many repos may have one; the one that was made first goes first. */
  readonly most?: number;
}

export function openSpares({ folder, newOwner, wanted, onDefect, most = 4 }: SparesOptions): Spares {
  const enough = new AbortController();
  const { signal } = enough;
  let last = clear();

  return {
    fill(repo) {
      last = last
        .then(() => make(repo))
        .catch((error: unknown) => {
          if (!signal.aborted) onDefect(`no spare copy of ${repo} was made`, error);
        });
      return last;
    },
    async close() {
      enough.abort();
      await last;
    },
  };

  async function make(repo: string): Promise<void> {
    if (signal.aborted || !wanted()) return;
    const background = { signal, urgency: "background" } as const;
    const source = await inspect(repo, background);
    const ready = spareOf(folder, source);
    if (source.head === "" || (await isThere(ready)) || !(await hasRoom(folder))) return;
    await makeRoom();
    const making = `${ready}.making`;
    await setOut(making);
    borrow(source, making);
    // What cannot be borrowed inside would have to be copied whole, each time.
    const borrowed = await alternatesOf(join(making, ".git/objects"));
    const readable = await readableAlternates(join(making, ".git/objects"));
    if (borrowed.some(isHidden) || readable.length < borrowed.length) return setOut(making);
    const owner = await newOwner?.();
    await checkOut(making, { to: source.head, owner }, background);
    const notes = await notesOf(source.worktree, source.head, background);
    await writeFile(join(making, record), JSON.stringify({ head: source.head, notes, owner: owner ?? null }));
    await rename(making, ready);
    await emptyTrash(folder, { signal, onFailure: onDefect });
  }

  async function makeRoom(): Promise<void> {
    const ready = (await readdir(folder)).filter((name) => !name.includes("."));
    const aged = await Promise.all(
      ready.map(async (name) => ({ name, at: (await lstat(join(folder, name))).ctimeMs })),
    );
    const surplus = aged.toSorted((a, b) => a.at - b.at).slice(0, Math.max(0, ready.length - most + 1));
    for (const { name } of surplus) await setOut(join(folder, name));
  }

  /** What a killed daemon was making is of no use to anybody. */
  async function clear(): Promise<void> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const name of await readdir(folder)) if (name.endsWith(".making")) await setOut(join(folder, name));
      await emptyTrash(folder, { signal, onFailure: onDefect });
    } catch (error) {
      onDefect("old spare copies stay", error);
    }
  }
}

export function sparesFolder(home: string): string {
  return join(home, "spares");
}

/** What is told of one that was taken. */
export interface Spare {
  /** The commit whose files are in it. */
  readonly head: string;
  readonly notes: SourceNotes;
  /** Whom all of it belongs to, and nothing else; undefined: whoever this process runs as. */
  readonly owner: Owner | undefined;
}

/**
 * Takes the spare of the source, if there is one, to a place on the same file system. It then has the source's refs and remotes of now. One that
 * has a user of its own is no use to who wants none, nor the other way round.
 */
export async function takeSpare(
  folder: string,
  { source, isOwned, to }: { source: Source; isOwned: boolean; to: string },
): Promise<Spare | undefined> {
  try {
    await rename(spareOf(folder, source), to);
  } catch {
    return undefined;
  }
  try {
    const made = JSON.parse(await readFile(join(to, record), "utf8")) as MadeSpare;
    // In one that an earlier Corral made as root it is the number of the user that all of them shared.
    if (typeof made.owner === "number" || (made.owner !== null) !== isOwned) throw new Error("it is somebody else's");
    fault("spare.taken");
    borrow(source, to);
    await rm(join(to, record));
    // One that an earlier Corral made says less.
    const notes = made.notes ?? (await notesOf(source.worktree, made.head));
    return { head: made.head, notes, owner: made.owner ?? undefined };
  } catch {
    await setOut(to);
    return undefined;
  }
}

const record = ".git/corral-spare.json";

type MadeSpare = Omit<Spare, "owner"> & { readonly owner: Owner | number | null };

/** Room that is left to others. */
const leastFree = 4 * 2 ** 30;

function spareOf(folder: string, { commonFolder, objectFormat }: Source): string {
  return join(folder, createHash("sha256").update(`${objectFormat} ${commonFolder}`).digest("hex").slice(0, 32));
}

async function hasRoom(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize > leastFree;
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

function isHidden(path: string): boolean {
  return placesInside.some((place) => path === place || path.startsWith(`${place}/`));
}
