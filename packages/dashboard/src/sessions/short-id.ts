import type { SessionId } from "@corral/protocol";

/** The end of an id: its beginning is the time and much alike among neighbours. */
export function shortId(id: SessionId): string {
  return id.slice(-6);
}
