import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/**
 * Removes the folders from a search path that lie in a repository. Agents write there, and an executable that an agent
 * named `git` must not run outside its walls. Relative folders are removed, too.
 */
export function outsideOfRepositories(path: string, installers = [homebrew]): string {
  const places = path.split(":").filter((place) => isAbsolute(place) && !isInRepository(place, installers));
  return places.length === 0 ? "/usr/bin:/bin" : places.join(":");
}

/** Homebrew installs into its own repository, in which nobody works. */
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
