import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { mindRequests } from "../connections/index.ts";
import { type Answer, answer, answerRaw, answerTo, noVerdict, unreachable } from "./answer.ts";
import { forward } from "./forward.ts";
import { type Judge, judge, type Judgement, type Refusal, untrustworthy } from "./judge.ts";
import type { Connection, Ledger } from "./ledger.ts";
import { readAuthority } from "./names.ts";
import { join } from "./tunnel.ts";

export interface ProxyParts {
  readonly judge: Judge;
  readonly ledger: Pick<Ledger, "allow" | "refuse">;
  readonly deadlines?: Partial<Deadlines>;
}

export interface Deadlines {
  /** To say what is wanted. */
  readonly headersMs: number;
  readonly connectMs: number;
  /** Without a byte in either direction. */
  readonly idleMs: number;
  /** The same, after one side has said that it is done. */
  readonly halfOpenMs: number;
}

const usualDeadlines: Deadlines = { headersMs: 10_000, connectMs: 15_000, idleMs: 300_000, halfOpenMs: 60_000 };

const limits = { headerBytes: 16 * 1024, connections: 256 };

/**
 * The proxy of one session. Whoever can speak to it is in that session's environment, and everything said is that of a stranger.
 *
 * 1. Nothing is connected to but what was judged, at the address that was judged.
 * 2. The verdict is on record before it has an effect.
 * 3. Every request is judged by itself: one on the same connection, and the next of a chain of redirects, too.
 * 4. As long as nobody is connected, it has no timer.
 */
export function openProxy(parts: ProxyParts): Server {
  const deadlines = { ...usualDeadlines, ...parts.deadlines };
  // One that listens itself would look at its connections each second, also when there are none.
  const http = createHttpServer({
    maxHeaderSize: limits.headerBytes,
    // A body may take its time; silence ends it.
    requestTimeout: 0,
    insecureHTTPParser: false,
    requireHostHeader: false,
  });
  http.setTimeout(deadlines.idleMs);
  http.on("request", (request, response) => void serve(request, response));
  http.on("connect", (request, socket, head) => void tunnel(request, socket, head));
  http.on("upgrade", (_request, socket) => refuseRaw(socket, untrustworthy("upgrade", upgradeHint)));
  http.on("clientError", (error, socket) => clientError(error, socket));
  mindRequests(http, deadlines.headersMs);
  const server = createServer({ allowHalfOpen: true }, (socket) => void http.emit("connection", socket));
  server.maxConnections = limits.connections;
  return server;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined);
    const url = /^http:\/\/([^/?#]*)([/?][^#]*)?$/i.exec(request.url ?? "");
    const [, authority = "", rest = ""] = url ?? [];
    const path = rest.startsWith("/") ? rest : `/${rest}`;
    const doubt = url === null ? notForProxies(request) : (doubtAbout(request, authority, 80) ?? bodyDoubt(request));
    const leaving = new AbortController();
    response.once("close", () => leaving.abort());
    const way = await wayTo(doubt ?? authority, 80, leaving.signal);
    if (way.kind === "none") return answer(response, way.answer);
    if (response.destroyed) return way.outside.destroy() && undefined;
    try {
      forward(request, response, { target: way.target, path, outside: way.outside });
    } catch {
      way.outside.destroy();
      answer(response, answerTo(untrustworthy(authority, "the request cannot be passed on as it is written")));
    }
  }

  async function tunnel(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    const authority = request.url ?? "";
    const leaving = new AbortController();
    socket.once("close", () => leaving.abort());
    const way = await wayTo(doubtAbout(request, authority, 443) ?? authority, 443, leaving.signal);
    if (way.kind === "none") return answerRaw(socket, way.answer);
    if (socket.destroyed) return way.outside.destroy() && undefined;
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    join(socket, way.outside, { head, connection: way.connection, deadlines });
  }

  /** Judges, records, and connects where that is allowed. */
  async function wayTo(authority: string | Refusal, defaultPort: number, leaving: AbortSignal): Promise<Way> {
    let judgement: Judgement;
    let connection: Connection;
    try {
      judgement = typeof authority === "string" ? await judge(authority, defaultPort, parts.judge, leaving) : authority;
      if (judgement.verdict === "refused") {
        await parts.ledger.refuse(judgement);
        return { kind: "none", answer: answerTo(judgement) };
      }
      connection = await parts.ledger.allow(judgement);
    } catch {
      return { kind: "none", answer: noVerdict };
    }
    const { address, target } = judgement;
    try {
      const outside = await connected(address, target.port, connection);
      return { kind: "open", target, outside, connection };
    } catch (error) {
      return { kind: "none", answer: unreachable(target.host, error) };
    }
  }

  function connected(host: string, port: number, connection: Connection): Promise<Socket> {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const outside = connect({ host, port, allowHalfOpen: true });
    connection.carries(outside);
    outside.once("close", () => connection.over());
    outside.setTimeout(deadlines.connectMs, () => outside.destroy(new Error("it does not answer")));
    outside.on("error", reject);
    outside.once("connect", () => {
      outside.removeAllListeners("timeout");
      outside.setTimeout(deadlines.idleMs, () => outside.destroy());
      resolve(outside);
    });
    return promise;
  }

  function refuseRaw(socket: Duplex, refusal: Refusal): void {
    socket.on("error", () => socket.destroy());
    parts.ledger.refuse(refusal).then(
      () => answerRaw(socket, answerTo(refusal)),
      () => answerRaw(socket, noVerdict),
    );
  }

  function clientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (!socket.writable || error.code === "ECONNRESET") socket.destroy();
    else refuseRaw(socket, untrustworthy("?", "the request is not proper HTTP"));
  }
}

type Way =
  | { readonly kind: "none"; readonly answer: Answer }
  | {
      readonly kind: "open";
      readonly target: { readonly host: string; readonly port: number };
      readonly outside: Socket;
      readonly connection: Connection;
    };

const upgradeHint = "another protocol than HTTP needs a tunnel: ask for it with CONNECT";

function notForProxies({ url = "" }: IncomingMessage): Refusal {
  return untrustworthy(url, "this is a proxy for http://; everything else needs CONNECT");
}

/** A request that says in two places where it goes has to say the same. */
function doubtAbout({ rawHeaders }: IncomingMessage, authority: string, defaultPort: number): Refusal | undefined {
  const hosts = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === "host" && index % 2 === 1);
  const target = readAuthority(authority, defaultPort);
  if (target === undefined) return undefined;
  const isSame = (host: string) => {
    const named = readAuthority(host, target.port);
    return named !== undefined && named.host === target.host && named.port === target.port;
  };
  if (hosts.length <= 1 && hosts.every(isSame)) return undefined;
  return untrustworthy(authority, "its Host header names another host than its address");
}

/** Two neighbours that disagree about where a request ends can be made to see two in one. */
function bodyDoubt({ headers, httpVersion, url = "" }: IncomingMessage): Refusal | undefined {
  const { "transfer-encoding": encoding, "content-length": length } = headers;
  if (encoding === undefined) return undefined;
  if (encoding.toLowerCase() === "chunked" && length === undefined && httpVersion === "1.1") return undefined;
  return untrustworthy(url, "it cannot be told where the request ends");
}
