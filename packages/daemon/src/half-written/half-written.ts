import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * A file that is to appear whole is written beside its place, under this name, and then renamed. Whoever is killed in between leaves it there, with all
 * that it holds.
 */
export function besideOf(place: string): string {
  return `${place}.${process.pid}.new`;
}

/**
 * Removes what killed processes left beside this place. To be called before this process writes there. A file whose writer may still be at
 * work stays: several daemons share their user's settings. No write takes a minute, so an older one is left even if another process has the number by now.
 */
export function removeHalfWritten(place: string): void {
  const folder = dirname(place);
  for (const name of namesIn(folder)) {
    const pid = writerOf(name, basename(place));
    if (pid !== undefined && (!isAtWork(pid) || isOld(join(folder, name)))) remove(join(folder, name));
  }
}

function writerOf(name: string, of: string): number | undefined {
  const digits = name.startsWith(`${of}.`) ? /^\.(\d+)\.new$/.exec(name.slice(of.length))?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}

function isAtWork(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function isOld(path: string): boolean {
  const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > 60_000;
}

/** What cannot be removed is in nobody's way. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    return;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
