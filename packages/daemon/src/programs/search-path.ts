import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/**
 * Where programs are looked for, without what lies in a repository: agents write there, and what they call `git` is not to be
 * run outside of their walls. Names that begin in whatever folder one is in are left out, too.
 */
export function outsideOfRepositories(path: string, installers = [homebrew]): string {
  const places = path.split(":").filter((place) => isAbsolute(place) && !isInRepository(place, installers));
  return places.length === 0 ? "/usr/bin:/bin" : places.join(":");
}

/** On a Mac what is installed lies in the repository of what installs it, and nobody works on that. */
const homebrew = "/opt/homebrew";

function isInRepository(place: string, installers: readonly string[]): boolean {
  return [place, realOf(place)].some((folder) => isBelow(folder, installers));
}

function isBelow(folder: string, installers: readonly string[]): boolean {
  if (existsSync(join(folder, ".git")) && !installers.includes(folder)) return true;
  return folder !== dirname(folder) && isBelow(dirname(folder), installers);
}

function realOf(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    return place;
  }
}
