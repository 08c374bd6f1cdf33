import type { ProjectId, SessionId, ShellId } from "@corral/protocol";
import { missing } from "./missing.ts";
import { isBounded, type Principal } from "./principal.ts";
import type { Sight } from "./sight.ts";

/** Sessions, as far as they are looked for. */
export interface FindsSessions<View = unknown> {
  get(id: SessionId): Promise<View | undefined>;
}

export interface FindsShells<View extends OfProject = OfProject> {
  get(id: ShellId): Promise<View | undefined>;
}

interface OfProject {
  readonly projectId?: ProjectId | undefined;
}

/** Throws `not-found`. */
export async function knownSession<View>(sessions: FindsSessions<View>, id: SessionId): Promise<View> {
  const view = await sessions.get(id);
  if (view === undefined) throw missing("session", id);
  return view;
}

/** Throws `not-found` unless it is there and within bounds. */
export async function mustSeeSession(
  { sessions, sight }: { readonly sessions: FindsSessions; readonly sight: Sight },
  who: Principal,
  id: SessionId,
): Promise<void> {
  if (!sight.session(who, id)) throw missing("session", id);
  await knownSession(sessions, id);
}

interface SeenShells<View extends OfProject> {
  readonly shells: FindsShells<View>;
  readonly sight: Sight;
}

/** Throws `not-found` unless it is there and within bounds. */
export async function knownShell<View extends OfProject>(
  parts: SeenShells<View>,
  who: Principal,
  id: ShellId,
): Promise<View> {
  const shell = await seenShell(parts, who, id);
  if (shell === undefined) throw missing("shell", id);
  return shell;
}

/** Nothing where the principal may not look. */
export async function seenShell<View extends OfProject>(
  { shells, sight }: SeenShells<View>,
  who: Principal,
  id: ShellId,
): Promise<View | undefined> {
  const shell = await shells.get(id);
  return shell !== undefined && seesShell(sight, who, shell) ? shell : undefined;
}

export function seesShell(sight: Sight, who: Principal, { projectId }: OfProject): boolean {
  return !isBounded(who) || (projectId !== undefined && sight.project(who, projectId));
}
