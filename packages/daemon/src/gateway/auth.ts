import { createHash, timingSafeEqual } from "node:crypto";
import { CorralError, type TraceId } from "@corral/protocol";
import type { FastifyRequest } from "fastify";
import { visitSecret } from "./cookie.ts";
import { requireOwnPage } from "./origin.ts";
import type { Visits } from "./visits.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Answered without a token. Whatever does not say so needs one. */
    open?: boolean;
  }
  interface FastifyRequest {
    /** Who asks, as events will name it. Empty on open routes. */
    actor: string;
    traceId: TraceId;
    /** Both, as what is recorded for this request takes them. */
    readonly by: { readonly actor: string; readonly traceId: TraceId };
    /** When what let the request in ends before the request does. */
    over: AbortSignal | undefined;
  }
}

/** Tells who a bearer token stands for. */
export type Authenticate = (token: string) => { readonly actor: string } | undefined;

/** Knows the one token of the daemon's owner. */
export function ownerOnly(token: string): Authenticate {
  const expected = digest(token);
  return (given) => (timingSafeEqual(digest(given), expected) ? { actor: "operator" } : undefined);
}

export interface Known {
  readonly token: Authenticate;
  readonly visits: Pick<Visits, "find">;
}

/**
 * Sets the request's actor or throws `auth.missing`. A token is sent on purpose and proves enough; a cookie goes along
 * with whatever a browser sends, so it counts only on requests of the daemon's own pages.
 */
export function authenticate(request: FastifyRequest, known: Known): void {
  if (isOpen(request)) return;
  if (request.headers.authorization === undefined && visitSecret(request) !== undefined) return welcome(request, known);
  const token = bearerToken(request.headers.authorization);
  const principal = token === undefined ? undefined : known.token(token);
  if (principal === undefined) throw unauthenticated(token === undefined ? "no token was given" : "the token is wrong");
  request.actor = principal.actor;
}

function welcome(request: FastifyRequest, { visits }: Known): void {
  requireOwnPage(request);
  const visit = visits.find(visitSecret(request) ?? "");
  if (visit === undefined) throw visitOver();
  request.actor = visit.actor;
  request.over = visit.over;
}

/**
 * Decided by the route that matched, not by the path as it was spelled: an encoded path must not get
 * around it. Paths that match nothing are told so without a token only outside the API.
 */
function isOpen(request: FastifyRequest): boolean {
  if (request.is404) return !request.url.startsWith("/api");
  return request.routeOptions.config.open === true;
}

function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +(\S+)$/i.exec(header)?.[1];
}

/** Hashing first makes the compared values equally long, whatever was sent. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function unauthenticated(why: string): CorralError {
  return new CorralError("auth.missing", `Not authenticated: ${why}`, {
    hint: "Send the content of the file `token` in the daemon's home as `Authorization: Bearer TOKEN`",
  });
}

function visitOver(): CorralError {
  return new CorralError("auth.missing", "Not authenticated: the visit is over", {
    hint: "`corral dashboard` prints a link that opens another",
  });
}
