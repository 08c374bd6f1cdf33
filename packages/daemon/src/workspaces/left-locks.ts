import { lstat, readdir, readFile, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startedBy } from "../git/index.ts";

/**
 * Locks that a git of Corral's left in a user's repo because it was killed with the daemon, or the machine lost power. While
 * they lie there the user's own git refuses to work. One is taken away only if it was made right after Corral had written
 * down what it was about to change, has not changed for a while, and no git is at work there that could hold it.
 */
export interface LeftLocks {
  /** The repo's folders: what is at work in one of them may hold a lock. */
  readonly folders: readonly string[];
  readonly locks: readonly string[];
  /** When what was about to be done was written down, by the clock of the file system. */
  readonly since: number;
}

/** Tells which were taken away. */
export async function reclaimLocks({ folders, locks, since }: LeftLocks): Promise<string[]> {
  const ours = await those(locks, (madeAt) => madeAt >= since && madeAt <= since + windowMs);
  if (ours.length === 0) return [];
  await orphansEnded(folders);
  await pause(quietMs);
  if (!(await becomesQuiet(folders))) return [];
  const taken: string[] = [];
  for (const { path, id } of ours) {
    // Still the very same file: it was held by nobody when that was looked at.
    if ((await identified(path))?.id !== id) continue;
    await rm(path, { force: true });
    taken.push(path);
  }
  return taken;
}

/** What a killed daemon had started goes on without it; it ends by itself, soon. */
export async function orphansEnded(folders: readonly string[]): Promise<void> {
  const mine = startedBy(process.pid);
  const deadline = performance.now() + orphanMs;
  const isOrphan = ({ variables }: AtWork) => variables.some((each) => each.startsWith("CORRAL_GIT=") && each !== mine);
  while ((await gitsIn(folders)).some(isOrphan) && performance.now() < deadline) await pause(stepMs);
}

const windowMs = 60_000;
/** Git holds a lock for milliseconds. */
const quietMs = 1_000;
const patienceMs = 5_000;
const orphanMs = 60_000;
const stepMs = 50;

interface Lock {
  readonly path: string;
  readonly id: string;
}

async function those(paths: readonly string[], are: (madeAt: number) => boolean): Promise<Lock[]> {
  const found = await Promise.all(paths.map(async (path) => ({ path, seen: await identified(path) })));
  return found.flatMap(({ path, seen }) => (seen !== undefined && are(seen.madeAt) ? [{ path, id: seen.id }] : []));
}

async function identified(path: string): Promise<{ readonly id: string; readonly madeAt: number } | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || !found.isFile()) return undefined;
  return { id: `${found.ino} ${found.mtimeMs} ${found.size}`, madeAt: found.mtimeMs };
}

async function becomesQuiet(folders: readonly string[]): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    if ((await gitsIn(folders)).length === 0) return true;
    if (performance.now() > deadline) return false;
    await pause(stepMs);
  }
}

interface AtWork {
  readonly variables: readonly string[];
}

/** As far as this process may see them. */
async function gitsIn(folders: readonly string[]): Promise<AtWork[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const of = (name: string) => join("/proc", pid, name);
      if (!(await readFile(of("comm"), "latin1").catch(() => "")).startsWith("git")) return [];
      const at = await readlink(of("cwd")).catch(() => "");
      if (!folders.some((folder) => at === folder || at.startsWith(`${folder}/`))) return [];
      const variables = (await readFile(of("environ"), "latin1").catch(() => "")).split("\0");
      return [{ variables }];
    }),
  );
  return found.flat();
}
