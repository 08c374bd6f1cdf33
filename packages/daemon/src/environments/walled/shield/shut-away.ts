import { lstatSync } from "node:fs";
import { join } from "node:path";

/**
 * Whether nobody but root can come to a path by its name, or have the name lead elsewhere: below folders of root's own lies one
 * that lets nobody else in.
 */
export function isShutAway(path: string): boolean {
  let folder = "/";
  for (const name of path.split("/").slice(1)) {
    const { uid, mode } = lstatSync(folder);
    if (uid !== 0 || ((mode & writable) !== 0 && (mode & sticky) === 0)) return false;
    if ((mode & others) === 0) return true;
    folder = join(folder, name);
  }
  return false;
}

/** With an access list the group's bits are the most that anybody on it has. */
const others = 0o077;
const writable = 0o022;
const sticky = 0o1000;
