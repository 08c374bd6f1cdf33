import { CorralError } from "@corral/protocol";
import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, normalize, relative } from "node:path";
import { placesInside } from "../keeper/index.ts";
import type { Owner } from "./folder.ts";
import { siblingsInside } from "./siblings.ts";

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
const mappedId = 1000;

/** Whom Corral's own workspaces must belong to; undefined: whoever this process runs as. */
export function jailOwner(): Owner | undefined {
  return isRoot() ? nobodysOwn : undefined;
}

/**
 * Whom a jail runs as. Under root it is whoever owns the workspace: in a copy nobody, in a user's own folder that user,
 * who is not root and whose files, besides that folder, are not in the jail.
 */
export function jailUser(workspace: string): JailUser {
  if (!isRoot()) return { kind: "mapped", uid: mappedId, gid: mappedId };
  const found = lstatSync(workspace, { throwIfNoEntry: false });
  // It was there a moment ago.
  if (found === undefined) throw refused(`There is no folder ${workspace}.`, "Check the path.");
  const { uid, gid } = found;
  if (uid !== 0) return { kind: "switched", uid, gid: gid === 0 ? nobodysOwn.gid : gid };
  const hint = "Work on a copy, give the folder to an ordinary user, or run Corral as an ordinary user.";
  throw refused(`${workspace} belongs to root, and nothing in a jail may be root.`, hint);
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
