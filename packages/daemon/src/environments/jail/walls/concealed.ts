import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { isWithin } from "../../walled/index.ts";
import type { SystemFolder } from "./walls.ts";

/**
 * What lies in the folders that jails see of the system and is not the system's: on some machines people's homes are below /usr. Of each folder of
 * people's it is the first on its way that is somebody's own, so that a whole home is concealed with a project in it.
 */
export function concealedIn(system: readonly SystemFolder[], { home, people }: Private): string[] {
  const shown = ["/usr", ...system.filter(({ linkTo }) => linkTo === undefined).map(({ path }) => path)];
  const below = (path: string) => shown.find((each) => path !== each && isWithin(path, each));
  const found = [home, ...people].map(realPath).flatMap((path, index) => {
    const above = below(path);
    if (above === undefined) return [];
    return firstOwn(above, path) ?? (index === 0 ? path : []);
  });
  return [...new Set(found)].filter((path) => !found.some((other) => other !== path && isWithin(path, other)));
}

interface Private {
  /** The folder of all of Corral's state, which nobody is to see whoever may read it. */
  readonly home: string;
  /** Folders of people's. Accounts of the system have the system's. */
  readonly people: readonly string[];
}

function firstOwn(above: string, path: string): string | undefined {
  let folder = above;
  for (const name of path.slice(above.length + 1).split("/")) {
    folder = join(folder, name);
    if (!isSystems(folder)) return folder;
  }
  return undefined;
}

/** Root's, and open to everybody. */
function isSystems(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found === undefined || (found.uid === 0 && (found.mode & 0o005) === 0o005);
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
