import type { FastifyRequest } from "fastify";

/** Browsers keep cookies for a host whatever the port, so those of two daemons must differ by name. */
export function cookieName(request: Pick<FastifyRequest, "headers">): string {
  return `corral-${/\d+$/.exec(request.headers.host ?? "")?.[0] ?? "0"}`;
}

/** The secret of a visit that the request brought along. */
export function visitSecret(request: Pick<FastifyRequest, "headers">): string | undefined {
  const start = `${cookieName(request)}=`;
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
}
