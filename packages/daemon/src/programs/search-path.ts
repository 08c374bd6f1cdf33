import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/**
 * Where programs are looked for, without what lies in a repository: agents write there, and what they call `git` is not to be
 * run outside of their walls. Names that begin in whatever folder one is in are left out, too.
 */
export function outsideOfRepositories(path: string): string {
  const places = path.split(":").filter((place) => isAbsolute(place) && !isInRepository(place));
  return places.length === 0 ? "/usr/bin:/bin" : places.join(":");
}

function isInRepository(place: string): boolean {
  return [place, realOf(place)].some((folder) => isBelow(folder));
}

function isBelow(folder: string): boolean {
  return existsSync(join(folder, ".git")) || (folder !== dirname(folder) && isBelow(dirname(folder)));
}

function realOf(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    return place;
  }
}
