import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Where systems install it. PATH is not asked: whoever can change it could put a fake one first. */
export const systemPlaces = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];

/** Finds a program of the system that nobody but root can have changed, and tells where it really is. */
export function findSystemProgram(name: string, among = systemPlaces): string | undefined {
  for (const place of among) {
    const path = rootsOwn(`${place}/${name}`);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** Every folder on the way to the name, and on the way to what it links to, must be root's, too. */
function rootsOwn(path: string): string | undefined {
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch {
    return undefined;
  }
  const found = statSync(real, { throwIfNoEntry: false });
  const isProgram = found !== undefined && found.isFile() && found.uid === 0 && (found.mode & writable) === 0;
  return isProgram && isRootsAllTheWay(dirname(path)) && isRootsAllTheWay(dirname(real)) ? real : undefined;
}

const writable = 0o022;
/** In such a folder others may add names, and cannot touch those of root. */
const sticky = 0o1000;

function isRootsAllTheWay(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  const isRoots = uid === 0 && ((mode & writable) === 0 || (mode & sticky) !== 0);
  return isRoots && (folder === "/" || isRootsAllTheWay(dirname(folder)));
}
