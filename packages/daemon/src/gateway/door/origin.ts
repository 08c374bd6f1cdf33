import { CorralError } from "@corral/protocol";
import type { FastifyRequest } from "fastify";

/**
 * Keeps web pages out: a page whose name was rebound to this machine gives itself away by `Host`,
 * one of another origin (another port of this machine included) by `Origin`, and a form by the
 * media types that it can send.
 */
export function refuseStrangers(request: FastifyRequest, port: number, allowedHosts: readonly string[]): void {
  refuseContradictions(request);
  const own = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  const hosts = [...own, ...allowedHosts.map((name) => plain(withPort(name, port)))];
  const { host, origin } = request.headers;
  if (host === undefined || !hosts.includes(plain(host))) throw strangeHost(hosts);
  if (origin !== undefined && !hosts.some((own) => plain(origin) === `http://${own}`)) throw strangeOrigin();
}

/** Of these Node takes the first and drops the rest; a proxy in between may have judged by another one. */
const saidOnce = new Set(["host", "origin", "authorization", "content-type"]);

function refuseContradictions({ raw: { rawHeaders } }: FastifyRequest): void {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const said = names.filter((name) => saidOnce.has(name));
  const twice = said.find((name, index) => said.indexOf(name) !== index);
  if (twice !== undefined) throw new CorralError("request.invalid", `The header ${twice} is there more than once`);
}

/** `localhost.` is `localhost`: a dot at the end of a name says only that nothing is to be added to it. */
function plain(address: string): string {
  return address.toLowerCase().replace(/(?<=[a-z0-9])\.(?=:\d+$|$)/, "");
}

/** What only pages of the daemon itself may ask is asked by one. */
export function requireOwnPages(request: FastifyRequest): void {
  if (request.routeOptions.config.fromOwnPages === true) requireOwnOrigin(request);
}

/** Throws unless a page of this very address asks; `Host` was looked at before. */
function requireOwnOrigin(request: FastifyRequest): void {
  const { host, origin } = request.headers;
  if (origin === undefined || host === undefined || plain(origin) !== `http://${plain(host)}`) throw strangeOrigin();
}

/**
 * Browsers name the origin whenever a request changes something, opens a socket or asks for another origin's answer.
 * What a page of another port embeds comes without it, and newer browsers tell of that too.
 */
export function requireOwnPage(request: FastifyRequest): void {
  const { origin, upgrade, "sec-fetch-site": site } = request.headers;
  if (request.method !== "GET" || origin !== undefined || upgrade !== undefined) requireOwnOrigin(request);
  if (site !== undefined && site !== "same-origin" && site !== "none") throw strangeOrigin();
}

/** A name without a port stands for the daemon's own. */
function withPort(name: string, port: number): string {
  return /^[^:]+:\d+$|\]:\d+$/.test(name) ? name : `${name}:${port}`;
}

/** Whatever changes something must come as plain JSON, which no form can send. */
export function requireJson(request: FastifyRequest): void {
  if (request.method === "GET" || request.method === "HEAD" || request.is404) return;
  if (request.method === "DELETE" && request.headers["content-type"] === undefined && !hasBody(request)) return;
  const mediaType = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (mediaType !== "application/json" || encoding !== "identity") throw wrongMediaType();
}

/** A deletion names all that it is about; no page of another origin can send one unasked. */
function hasBody({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

function strangeHost(hosts: readonly string[]): CorralError {
  return new CorralError("host.refused", "The Host header does not name this daemon", {
    hint: `Use one of: ${hosts.join(", ")}`,
  });
}

function strangeOrigin(): CorralError {
  return new CorralError("auth.refused", "Requests from pages of another origin are refused", {
    hint: "Only the daemon's own pages may ask from a browser",
  });
}

function wrongMediaType(): CorralError {
  return new CorralError("request.media-type", "The body must be JSON", {
    hint: "Send `Content-Type: application/json`, uncompressed",
  });
}
