import { CorralError, covers, type EnvironmentKind, type SessionId } from "@corral/protocol";
import { missing } from "./missing.ts";
import type { Principal } from "./principal.ts";

export function tooNarrow(why: string): CorralError {
  return new CorralError("auth.scope", `Your token does not reach so far: ${why}`, {
    hint: "`corral token create` makes one that does",
  });
}

/** What has no walls is the owner's to give away: whoever can run something there can do all that the daemon's user can. */
export function requireOperator(who: Principal, kind: EnvironmentKind): void {
  if (kind === "local" && !covers(who.scope, "admin"))
    throw tooNarrow(`a local environment has no walls, so it needs the scope admin; yours is ${who.scope}`);
}

/** Sessions, as far as their walls are known. */
export interface KnowsWalls {
  terms(id: SessionId): Promise<{ readonly environment: { readonly kind: EnvironmentKind } } | undefined>;
}

/** What makes a session without walls do something is for admins. */
export async function requireMayDrive(sessions: KnowsWalls, id: SessionId, who: Principal): Promise<void> {
  const made = await sessions.terms(id);
  if (made === undefined) throw missing("session", id);
  requireOperator(who, made.environment.kind);
}
