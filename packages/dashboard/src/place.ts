import { type SessionId, sessionId } from "@corral/protocol";

/** What the address says is to be seen. It is all in the fragment, which stays in the browser. */
export type Place = { readonly kind: "sessions" } | { readonly kind: "session"; readonly id: SessionId };

export function placeOf(fragment: string): Place {
  const parsed = sessionId.safeParse(/^#\/sessions\/([^/]+)$/.exec(fragment)?.[1]);
  return parsed.success ? { kind: "session", id: parsed.data } : { kind: "sessions" };
}

export function linkTo(place: Place): string {
  return place.kind === "session" ? `#/sessions/${place.id}` : "#/";
}

/** The login code of a link, if the fragment holds one. */
export function codeIn(fragment: string): string | undefined {
  return /^#code=([\w-]{1,200})$/.exec(fragment)?.[1];
}
