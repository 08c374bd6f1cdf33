import { isId, type SessionId } from "@corral/protocol/new-id";

/** What the address says is to be seen. It is all in the fragment, which stays in the browser. */
export type Place = { readonly kind: "sessions" } | { readonly kind: "session"; readonly id: SessionId };

export function placeOf(fragment: string): Place {
  const id = /^#\/sessions\/([^/]+)$/.exec(fragment)?.[1];
  return isId("session", id) ? { kind: "session", id } : { kind: "sessions" };
}

export function linkTo(place: Place): string {
  return place.kind === "session" ? `#/sessions/${place.id}` : "#/";
}

/** The login code of a link, if the fragment holds one. */
export function codeIn(fragment: string): string | undefined {
  return /^#code=([\w-]{1,200})$/.exec(fragment)?.[1];
}
