import { type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { answer, unreachable } from "./answer.ts";
import type { Target } from "./names.ts";

/** What is between two neighbours only, or between a program and its proxy. */
const hopByHop = new Set([
  "connection",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-authentication-info",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const responseHeaderBytes = 64 * 1024;

/**
 * Asks for one thing on a connection of its own, which ends with it. The request is written anew from what was understood of it, so
 * its beginning and end are where they were judged to be.
 */
export function forward(request: IncomingMessage, response: ServerResponse, to: Forwarding): void {
  const outgoing = httpRequest({
    createConnection: () => to.outside,
    method: request.method ?? "GET",
    path: to.path,
    headers: requestHeaders(request, to.target),
    maxHeaderSize: responseHeaderBytes,
    setHost: false,
  });
  const fail = (error: unknown) => answer(response, unreachable(to.target.host, error));
  outgoing.on("error", fail);
  outgoing.on("upgrade", (_incoming, socket) => {
    socket.destroy();
    fail({ code: "it wants another protocol" });
  });
  outgoing.on("response", (incoming) => {
    try {
      response.writeHead(incoming.statusCode ?? 502, passedOn(incoming));
      pipeline(incoming, response, () => to.outside.destroy());
    } catch (error) {
      to.outside.destroy();
      fail(error);
    }
  });
  response.once("close", () => to.outside.destroy());
  if (hasBody(request)) pipeline(request, outgoing, () => undefined);
  else outgoing.end();
}

export interface Forwarding {
  readonly target: Target;
  readonly path: string;
  /** Connected already. */
  readonly outside: Socket;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

function requestHeaders(request: IncomingMessage, { host, port }: Target): string[] {
  const { "transfer-encoding": encoding, "content-length": length } = request.headers;
  const isEmpty =
    encoding === undefined && length === undefined && ["POST", "PUT", "PATCH"].includes(request.method ?? "");
  return [
    "Host",
    port === 80 ? host : `${host}:${port}`,
    ...passedOn(request),
    ...(encoding === undefined ? [] : ["Transfer-Encoding", "chunked"]),
    ...(isEmpty ? ["Content-Length", "0"] : []),
    "Connection",
    "close",
  ];
}

/** As they were written, without those that end here. */
function passedOn({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const ends = new Set([...hopByHop, ...named.filter((name) => name !== "content-length")]);
  return rawHeaders.flatMap((name, index) => {
    if (index % 2 === 1 || ends.has(name.toLowerCase())) return [];
    return [name, rawHeaders[index + 1] ?? ""];
  });
}
