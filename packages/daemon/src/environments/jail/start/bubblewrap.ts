import { CorralError } from "@corral/protocol";
import { existsSync } from "node:fs";
import { findSystemExecutable, executableFolders } from "../../../executables/index.ts";

/** Throws `jail.unavailable` when there is none to be trusted. */
export function findBubblewrap(among = executableFolders): string {
  const found = findSystemExecutable("bwrap", among);
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
  if (/resource temporarily unavailable/i.test(complaint)) {
    return "There are too many processes: end some, or allow more (the setting limits.pids; for all of yours, ulimit -u).";
  }
  if (/namespace|uid map|userns|operation not permitted|permission denied/i.test(complaint)) {
    return (
      "Allow user namespaces for bubblewrap: sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000; " +
      "on Ubuntu 24.04 and later also an AppArmor profile for bwrap with `userns,` (or sysctl kernel.apparmor_restrict_unprivileged_userns=0)."
    );
  }
  return "See what bubblewrap says above; `corral doctor` tries again.";
}
