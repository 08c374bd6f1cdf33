import { CorralError } from "@corral/protocol";
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Where systems install it. PATH is not asked: whoever can change it could put a fake one first. */
const places = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];

/** Finds a program of the system that nobody but root can have changed, and tells where it really is. */
export function findSystemProgram(name: string, among = places): string | undefined {
  return among.map((place) => rootsOwn(`${place}/${name}`)).find((path) => path !== undefined);
}

/** Throws `jail.unavailable` when there is none to be trusted. */
export function findBubblewrap(among = places): string {
  const found = findSystemProgram("bwrap", among);
  if (found !== undefined) return found;
  const distrusted = among.map((place) => `${place}/bwrap`).find((path) => existsSync(path));
  if (distrusted === undefined) throw unavailable("bubblewrap is not installed.", installFix);
  throw unavailable(`${distrusted} could be changed by others than root.`, installFix);
}

export function unavailable(reason: string, fix: string): CorralError {
  return new CorralError("jail.unavailable", `No jail can be opened: ${reason}`, { hint: fix, retry: "never" });
}

export const installFix =
  "Install bubblewrap: apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch).";

/** What to do about a complaint of bubblewrap. */
export function fixFor(complaint: string): string {
  if (/unknown option/i.test(complaint)) return "Update bubblewrap to 0.8 or newer.";
  if (/namespace|uid map|userns|operation not permitted|permission denied/i.test(complaint)) {
    return (
      "Allow user namespaces for bubblewrap: sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000; " +
      "on Ubuntu 24.04 and later also an AppArmor profile for bwrap with `userns,` (or sysctl kernel.apparmor_restrict_unprivileged_userns=0)."
    );
  }
  return "See what bubblewrap says above; `corral doctor` tries again.";
}

/** Every folder on the way to the name, and on the way to what it links to, must be root's, too. */
function rootsOwn(path: string): string | undefined {
  let real: string;
  try {
    real = realpathSync(path);
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
