import type { SessionId, ShellId } from "@corral/protocol";

/** Whose workspace it is: a session, or a person's shell in a copy. */
export type Occupant = SessionId | ShellId;

export function isShell(occupant: Occupant): occupant is ShellId {
  return occupant.startsWith("shl_");
}

/** How it is named to others. */
export function named(occupant: Occupant): { readonly session: SessionId } | { readonly shell: ShellId } {
  return isShell(occupant) ? { shell: occupant } : { session: occupant };
}
