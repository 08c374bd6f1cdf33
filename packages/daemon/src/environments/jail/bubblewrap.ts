import { CorralError } from "@corral/protocol";
import { statSync } from "node:fs";

/** Where systems install it. PATH is not asked: whoever can change it could put a fake one first. */
const places = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];

/** Finds a program of the system that nobody but root can have changed. */
export function findSystemProgram(name: string): string | undefined {
  return places.map((place) => `${place}/${name}`).find(isRootsOwn);
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

function isRootsOwn(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.isFile() && found.uid === 0 && (found.mode & 0o022) === 0;
}
