import { CorralError } from "@corral/protocol";
import type { FastifyRequest } from "fastify";
import type { Principal } from "../../routing/index.ts";
import type { Tokens } from "../../tokens/index.ts";
import { visitSecret } from "./cookie.ts";
import type { Guesses } from "./guesses.ts";
import { requireOwnPage } from "./origin.ts";
import type { Visits } from "./visits.ts";

export interface Known {
  readonly tokens: Pick<Tokens, "find">;
  readonly visits: Pick<Visits, "find">;
  readonly guesses: Guesses;
}

/**
 * Sets the request's principal or throws `auth.missing`, `auth.throttled` for one wrong token too many. A token is sent
 * on purpose and proves enough; a cookie goes along with whatever a browser sends, so it counts only on requests of the
 * daemon's own pages.
 */
export function authenticate(request: FastifyRequest, known: Known): void {
  if (isOpen(request)) return;
  const principal = byCookieAlone(request) ? visitorOf(request, known) : bearerOf(request, known);
  request.principal = principal;
  request.actor = `person:${principal.person}`;
}

function byCookieAlone(request: FastifyRequest): boolean {
  return request.headers.authorization === undefined && visitSecret(request) !== undefined;
}

function visitorOf(request: FastifyRequest, { visits }: Known): Principal {
  requireOwnPage(request);
  const visit = visits.find(visitSecret(request) ?? "");
  if (visit === undefined) throw visitOver();
  return visit;
}

/** A right token is never throttled: nobody can lock anyone out. */
function bearerOf(request: FastifyRequest, { tokens, guesses }: Known): Principal {
  const token = bearerToken(request.headers.authorization);
  if (token === undefined) throw unauthenticated("no token was given");
  const principal = tokens.find(token);
  if (principal !== undefined) return principal;
  const waitSeconds = guesses.note(request.ip);
  throw waitSeconds === undefined ? unauthenticated("the token is wrong") : tooManyGuesses(waitSeconds);
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

function unauthenticated(why: string): CorralError {
  return new CorralError("auth.missing", `Not authenticated: ${why}`, {
    hint: "Send the content of the file `token` in the daemon's home as `Authorization: Bearer TOKEN`",
  });
}

function tooManyGuesses(waitSeconds: number): CorralError {
  return new CorralError("auth.throttled", `Too many wrong tokens; again in ${waitSeconds} seconds`, {
    retry: "later",
    retryAfterSeconds: waitSeconds,
    hint: "A right one is let in at any time; `corral token create` makes one",
  });
}

function visitOver(): CorralError {
  return new CorralError("auth.missing", "Not authenticated: the visit is over", {
    hint: "`corral dashboard` prints a link that opens another",
  });
}
