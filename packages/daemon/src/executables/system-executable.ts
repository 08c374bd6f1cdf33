import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Where systems install executables. PATH is not used: whoever can change it could put a fake one first. */
export const executableFolders = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];

/** Finds an executable that only root can have changed. Returns its real path, with links resolved. */
export function findSystemExecutable(name: string, among = executableFolders): string | undefined {
  for (const folder of among) {
    const path = rootOwned(`${folder}/${name}`);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** Root must also own every folder on the way to the name, and on the way to what it links to. */
function rootOwned(path: string): string | undefined {
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch {
    return undefined;
  }
  const found = statSync(real, { throwIfNoEntry: false });
  const isSafe = found !== undefined && found.isFile() && found.uid === 0 && (found.mode & writable) === 0;
  return isSafe && isRootOwnedUpToTop(dirname(path)) && isRootOwnedUpToTop(dirname(real)) ? real : undefined;
}

const writable = 0o022;
/** In a sticky folder others can add names, but cannot rename or remove root's. */
const sticky = 0o1000;

function isRootOwnedUpToTop(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  const isSafe = uid === 0 && ((mode & writable) === 0 || (mode & sticky) !== 0);
  return isSafe && (folder === "/" || isRootOwnedUpToTop(dirname(folder)));
}
