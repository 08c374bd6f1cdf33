import { CorralError } from "@corral/protocol";
import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, normalize, relative } from "node:path";
import { placesInside } from "../keeper/index.ts";
import type { Owner } from "../port.ts";
import { siblingsInside } from "./shield/siblings.ts";

/**
 * `mapped`: the operator's own user seen as another one, in a user namespace. `switched`: the daemon
 * is root, and root must neither be inside nor own anything there, so the jail runs as a user that
 * has no account, without a user namespace.
 */
export type JailUser =
  | { readonly kind: "mapped"; readonly uid: number; readonly gid: number }
  | { readonly kind: "switched"; readonly uid: number; readonly gid: number };

/** A uid that belongs to no account: files it owns are nobody else's. */
const nobodysOwn: Owner = { uid: 65533, gid: 65533 };
/** Whom an ordinary user is seen as in a jail. */
export const mappedUser: JailUser = { kind: "mapped", uid: 1000, gid: 1000 };

/**
 * Under root: who stands in where a folder has no user of its own, such as one that a jail is only tried in. Workspaces of earlier versions
 * belong to it, too. Undefined: whoever this process runs as.
 */
export function jailOwner(): Owner | undefined {
  return isRoot() ? nobodysOwn : undefined;
}

/** As whom Corral's own programs look into a folder that agents write in, never as root. Undefined: as whoever this process runs as. */
export function ownerOf(folder: string): Owner | undefined {
  if (!isRoot()) return undefined;
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found === undefined || found.uid === 0 ? nobodysOwn : switchedTo(found);
}

/**
 * Whom a jail runs as. Under root it is whoever owns the workspace: in a copy a user that is the copy's alone, in a user's own folder that user,
 * who is not root and whose files, besides that folder, are not in the jail. Jails in one workspace run as one user.
 */
export function jailUser(workspace: string): JailUser {
  if (!isRoot()) return mappedUser;
  const found = lstatSync(workspace, { throwIfNoEntry: false });
  // It was there a moment ago.
  if (found === undefined) throw refused(`There is no folder ${workspace}.`, "Check the path.");
  if (found.uid !== 0) return { kind: "switched", ...switchedTo(found) };
  const hint = "Work on a copy, give the folder to an ordinary user, or run Corral as an ordinary user.";
  throw refused(`${workspace} belongs to root, and nothing in a jail may be root.`, hint);
}

function switchedTo({ uid, gid }: Owner): Owner {
  return { uid, gid: gid === 0 ? nobodysOwn.gid : gid };
}

/** A workspace is writable, so it must be neither Corral's own state nor a whole home or system. */
export function checkWorkspace(workspace: string, environments: string): void {
  const path = realPath(workspace);
  if (path === undefined || !isAbsolute(workspace))
    throw refused(`There is no folder ${workspace}.`, "Check the path.");
  const within = [environments, homedir()].map((each) => realPath(each) ?? each).find((each) => isWithin(each, path));
  if (within === undefined && path !== "/") return;
  throw refused(
    `${workspace} holds ${within ?? "the whole system"}, which no jail may write.`,
    "Work in a folder below it.",
  );
}

/** A readable path must show neither Corral's own state nor more than it says, and must not be hidden itself. */
export function checkReadable(path: string, environments: string): void {
  const over = [...placesInside, siblingsInside].find((place) => path === place || path.startsWith(`${place}/`));
  if (over !== undefined) {
    throw new CorralError("internal", `A jail cannot read ${path}: its own ${over} is at that place.`);
  }
  const toState = relative(path, environments);
  const showsState = !toState.startsWith("..");
  if (isAbsolute(path) && normalize(path) === path && path !== "/" && !showsState) return;
  throw new CorralError("internal", `A jail must not be able to read ${path}.`);
}

export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith("../"));
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function refused(message: string, hint: string): CorralError {
  return new CorralError("jail.unavailable", message, { hint, retry: "never" });
}
