import type { ProjectId, Scope, SessionId, TokenId } from "@corral/protocol";

/** Who asks, and how far that reaches. */
export interface Principal {
  readonly person: string;
  readonly scope: Scope;
  /** Nothing outside of these exists for it. */
  readonly project?: ProjectId | undefined;
  readonly session?: SessionId | undefined;
  /** Undefined for the owner's own. */
  readonly token?: TokenId | undefined;
  readonly expiresAt?: string | undefined;
  /** Aborts when it stands for nobody any more. */
  readonly over?: AbortSignal | undefined;
}

export function isBounded({ project, session }: Principal): boolean {
  return project !== undefined || session !== undefined;
}

/** May do everything there is: an admin within bounds may not. */
export function isFullAdmin(principal: Principal): boolean {
  return principal.scope === "admin" && !isBounded(principal);
}
