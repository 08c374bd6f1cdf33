import { type ArtifactId, CorralError, event } from "@corral/protocol";
import { readdir, readlink, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Workshop } from "./growing.ts";
import { fileName } from "./place.ts";
import { type Recorded, recordedIn } from "./projection.ts";

export interface CleaningOptions extends Workshop {
  readonly isGrowing: (id: ArtifactId) => boolean;
  readonly days: () => number | null;
  readonly now: () => number;
}

export interface Cleaning {
  /** What is too old, then files, then bytes. Never rejects. */
  all(): Promise<void>;
  /** Removes bytes to which nobody refers. Never rejects. */
  bytes(): Promise<void>;
}

const dayMs = 24 * 3_600_000;

/**
 * What the log says is the measure: a file or object that no artifact on record has is removed, and nothing else is. What belongs to an
 * owner the log has never heard of stays: the log may have been set aside as damaged, or an older backup put in its place, and another
 * one may still tell of it.
 */
export function cleaningOf({
  log,
  store,
  place,
  quota,
  gate,
  onDefect,
  isGrowing,
  days,
  now,
}: CleaningOptions): Cleaning {
  return {
    async all() {
      await told("old artifacts stay", expireOld);
      await told("files of artifacts stay", () => gate.alone(removeStrayFiles));
      await this.bytes();
    },
    bytes: () => told("bytes of artifacts stay", () => gate.alone(removeStrayBytes)),
  };

  async function told(what: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => onDefect(what, error));
  }

  async function expireOld(): Promise<void> {
    const most = days();
    if (most === null) return;
    for (const row of await log.rows("artifacts", { where: { state: "kept" } })) {
      const recorded = recordedIn(row);
      const isOld = Date.parse(recorded.keptAt ?? recorded.announcedAt) < now() - most * dayMs;
      if (isOld && !isGrowing(recorded.id)) await expire(recorded);
    }
  }

  async function expire({ id, owner, bytes }: Recorded): Promise<void> {
    try {
      await log.append({
        stream: owner,
        actor: "corral",
        events: [event("artifact.expired", { id, because: "age" })],
        guards: [{ table: "artifacts", key: id, is: { state: "kept" } }],
      });
      quota.hold(owner, -bytes);
    } catch (error) {
      // It goes on, or its owner is gone.
      if (!(error instanceof CorralError) || error.code !== "append.conflict") throw error;
    }
  }

  async function removeStrayFiles(): Promise<void> {
    const rows = await log.rows("artifacts");
    const expected = new Map(rows.map(recordedIn).map((each) => [each.id, each]));
    for (const owner of await readdir(place.folder)) {
      if (!(await isOnRecord(owner))) continue;
      const folder = join(place.folder, owner);
      const names = await readdir(folder).catch(() => []);
      const stray = names.filter((name) => !belongs(expected.get(idIn(name)), name));
      for (const name of stray) await rm(join(folder, name), { recursive: true, force: true });
      if (stray.length === names.length) await rm(folder, { recursive: true, force: true });
    }
  }

  function belongs(recorded: Recorded | undefined, name: string): boolean {
    if (isGrowing(idIn(name))) return true;
    return recorded !== undefined && recorded.state !== "expired" && fileName(recorded.id, recorded.name) === name;
  }

  async function removeStrayBytes(): Promise<void> {
    const rows = await log.rows("artifacts");
    const referred = new Set([...rows.flatMap((row) => row["digest"] ?? []), ...(await linkedByStrangers())]);
    let after = "";
    for (let more = true; more;) {
      const page = await store.list({ after });
      for (const { digest } of page.objects) {
        if (!referred.has(digest)) await store.remove(digest);
        after = digest;
      }
      more = page.more;
    }
  }

  async function isOnRecord(owner: string): Promise<boolean> {
    for (const table of ["sessions", "removed_sessions", "shells"])
      if ((await log.row(table, owner)) !== undefined) return true;
    return false;
  }

  /** Where objects are files, the files of artifacts lead to them. */
  async function linkedByStrangers(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const owner of await readdir(place.folder)) {
      if (await isOnRecord(owner)) continue;
      const folder = join(place.folder, owner);
      for (const name of await readdir(folder).catch(() => []))
        found.push(basename(await readlink(join(folder, name)).catch(() => "")));
    }
    return found;
  }
}

function idIn(name: string): ArtifactId {
  return name.slice(0, name.indexOf("-")) as ArtifactId;
}
