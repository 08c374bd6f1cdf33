import type { AddressInfo } from "node:net";
import websocket from "@fastify/websocket";
import { CorralError, type DaemonStatus, type DoctorReport, event, newTraceId, traceOf } from "@corral/protocol";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { RouteGroup } from "../assembly/port.ts";
import type { Audit } from "../audit/index.ts";
import { type Artifacts, attach } from "../artifacts/index.ts";
import type { Backups } from "../backups/index.ts";
import type { Config } from "../config/index.ts";
import { type CallerLimits, type Callers, endWith, mindCallers } from "../connections/index.ts";
import type { Credentials } from "../credentials/index.ts";
import { descriptorLimit } from "../descriptors/index.ts";
import type { Models } from "../models/index.ts";
import type { Usage } from "../usage/index.ts";
import type { Egress } from "../egress/index.ts";
import type { Log } from "../log/port.ts";
import type { Questions } from "../questions/index.ts";
import { openSight } from "../routing/index.ts";
import type { Rules } from "../rules/index.ts";
import type { Projects } from "../projects/index.ts";
import type { Removal } from "../runner/index.ts";
import { maskedReads, type Secrets } from "../secrets/index.ts";
import type { Sessions } from "../sessions/index.ts";
import type { SessionTerminals } from "../terminals/index.ts";
import type { Tokens } from "../tokens/index.ts";
import type { Snapshots, Workspaces } from "../workspaces/index.ts";
import { requireScope } from "./door/access.ts";
import { refuseOddAddresses } from "./door/address.ts";
import { authenticate, type Known } from "./door/auth.ts";
import { mindBounds } from "./door/bounds.ts";
import { openGuesses } from "./door/guesses.ts";
import { takeJson } from "./door/json.ts";
import { refuseStrangers, requireJson, requireOwnPages } from "./door/origin.ts";
import { refuseSecrets } from "./door/secrets.ts";
import { openVisits } from "./door/visits.ts";
import { allHandlers } from "./handlers.ts";
import { openRequests } from "./idempotency.ts";
import type { Meter } from "./meter.ts";
import { mount } from "./mount.ts";
import { readPages } from "./pages.ts";
import { bodyLimit, isExpected, problemOf, refusalOf, sendProblem, unknownRoute } from "./problem.ts";
import { mindSchemas } from "./schemas.ts";
import { carryCommand } from "./streams/command-stream.ts";
import type { StreamLimits } from "./streams/feed.ts";
import { openHistory } from "./streams/history.ts";
import { openSockets, socketMessageLimit } from "./streams/socket.ts";
import { openStreams } from "./streams/sse.ts";
import { openTerminalSockets } from "./streams/terminal-socket.ts";
import type { Shells } from "../shells/index.ts";

export interface GatewayParts {
  readonly routes: readonly RouteGroup[];
  readonly log: Pick<Log, "append" | "head" | "read" | "rows" | "tail" | "live" | "onCommit">;
  readonly sessions: Sessions;
  readonly workspaces: Workspaces;
  readonly artifacts: Pick<Artifacts, "begin" | "list" | "find" | "read">;
  readonly snapshots: Snapshots;
  readonly removal: Pick<Removal, "erase">;
  readonly shells: Shells;
  readonly terminals: SessionTerminals;
  readonly projects: Projects;
  readonly config: Config;
  readonly tokens: Tokens;
  readonly meter: Meter;
  readonly audit: Audit;
  readonly egress: Pick<Egress, "view">;
  readonly questions: Pick<Questions, "get" | "list" | "answer" | "cancel">;
  readonly rules: Pick<Rules, "view" | "check" | "kept" | "forget">;
  readonly credentials: Credentials;
  readonly models: Pick<Models, "list" | "look">;
  readonly secrets: Secrets;
  readonly usage: Usage;
  readonly backups: Backups;
  /** How many runner processes are alive. */
  readonly runners: () => number;
  readonly version: string;
  /** The folder with the built dashboard. */
  readonly dashboard: string;
  /** Only this machine by default. */
  readonly host?: string;
  /** 0: any free one. */
  readonly port: number;
  /** Names besides those of this machine by which the daemon may be asked; without a port, at its own. */
  readonly allowedHosts?: readonly string[];
  /** Someone asked the daemon to stop; the answer is out already. */
  readonly onStop: (now: boolean) => void;
  /** The daemon about itself. */
  readonly status: () => Promise<DaemonStatus>;
  /** The machine as the daemon finds it. */
  readonly doctor: () => Promise<DoctorReport>;
  /** Hears of every request, and of what should not have happened. Never given a token or a request's content. */
  readonly logger?: GatewayLogger;
  readonly streamLimits?: StreamLimits;
  readonly deadlines?: Partial<Deadlines>;
  /** Milliseconds; by them codes, visits and keys grow old. */
  readonly now?: () => number;
}

export interface GatewayLogger {
  debug(context: object, message: string): void;
  info(context: object, message: string): void;
  error(context: object, message: string): void;
}

/** How long a client may take to say what it wants, and how long and in what numbers connections may be there at all. */
export interface Deadlines extends CallerLimits {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often clients are looked at. */
  readonly checkMs: number;
}

function usualDeadlines(): Deadlines {
  return {
    headersMs: 10_000,
    requestMs: 30_000,
    checkMs: 1_000,
    strangers: Math.min(512, Math.floor(descriptorLimit() / 8)),
    strangerMs: 60_000,
    stalledMs: 30_000,
    // Later than the server says that it keeps them, so that no request meets a connection that closes.
    idleMs: keepAliveMs + 5_000,
  };
}

const keepAliveMs = 72_000;

export interface Gateway {
  readonly url: string;
  /** Takes no more requests, ends streams cleanly, lets requests under way finish for a moment. */
  close(): Promise<void>;
}

export async function openGateway(parts: GatewayParts): Promise<Gateway> {
  const { host = "127.0.0.1", log, secrets, logger, now = Date.now } = parts;
  const readable = { read: maskedReads(log, secrets), head: () => log.head() };
  const onStreamError = (error: unknown) => logger?.error({ err: error }, "a stream of events failed");
  const history = openHistory({ read: readable.read, onCommit: (listener) => log.onCommit(listener) });
  const source = { log, history };
  const sight = await openSight(log, parts.sessions);
  const streams = openStreams(source, onStreamError, parts.streamLimits);
  const sockets = openSockets({ source, sight, onError: onStreamError, limits: parts.streamLimits });
  const terminalSockets = openTerminalSockets({ onError: onStreamError, limits: parts.streamLimits });
  const visits = openVisits(now);
  let audited = Promise.resolve();
  const guesses = openGuesses((guessed) => (audited = audited.then(() => audit(parts, guessed))), now);
  const requests = await openRequests(log, now);
  parts.meter.watch({
    streams: () => ({ sse: streams.count, websocket: sockets.count + terminalSockets.count }),
    sessions: () => parts.sessions.count(),
    runners: parts.runners,
  });

  const { app, callers } = await assemble(parts);
  if (logger !== undefined) tellOfRequests(app, logger);
  const hosts = [named(host), ...(parts.allowedHosts ?? [])];
  const known = { tokens: parts.tokens, visits, guesses };
  const door = mindDoor(app, known, { hosts, callers, version: parts.version });
  mindBounds(app, sight);
  refuseSecrets(app, secrets);
  requests.mind(app);
  parts.meter.mind(app);
  const handlers = allHandlers(parts.routes, {
    ...parts,
    log: readable,
    sight,
    streams,
    sockets,
    terminalSockets,
    visits,
    pages: readPages(parts.dashboard),
    attach: (session, file, traceId) => attach(parts, session, file, traceId),
    carryCommand(reply, command) {
      reply.hijack();
      carryCommand(reply.raw, command, secrets);
    },
  });
  mount(app, handlers);
  await app.listen({ host: listenedAt(host), port: parts.port }).catch((cause: unknown) => {
    throw unusablePort(parts.port, cause);
  });
  door.port = (app.server.address() as AddressInfo).port;

  return {
    url: `http://${named(reachable[listenedAt(host)] ?? listenedAt(host))}:${door.port}`,
    async close() {
      door.closing = true;
      streams.end();
      sockets.end();
      terminalSockets.end();
      guesses.close();
      const impatience = setTimeout(() => app.server.closeAllConnections(), 2_000);
      await app.close();
      clearTimeout(impatience);
      await audited;
      history.close();
      sight.close();
    },
  };
}

/** Who listens everywhere is called by the name that is always there. */
const reachable: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** For this name Fastify would open a second server, without what minds the connections of the first. */
function listenedAt(host: string): string {
  return host === "localhost" ? "127.0.0.1" : host;
}

function named(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

async function assemble(parts: GatewayParts): Promise<{ app: FastifyInstance; callers: Callers }> {
  const { headersMs, requestMs, checkMs, ...limits } = { ...usualDeadlines(), ...parts.deadlines };
  const app = Fastify({
    logger: false,
    bodyLimit,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: checkMs, maxHeaderSize: 16 * 1024 },
    return503OnClosing: false,
    exposeHeadRoutes: false,
    frameworkErrors: (error, _request, reply) => void sendProblem(reply, problemOf(error)),
    clientErrorHandler(error, socket) {
      if (socket.writable && !callers.isBeingAnswered(socket)) endWith(socket, refusalOf(error));
      else socket.destroy();
    },
  });
  const callers = mindCallers(app.server, limits);
  takeJson(app);
  mindSchemas(app);
  app.setErrorHandler((error, request, reply) => {
    if (!isExpected(error)) parts.logger?.error({ err: error, ...namesOf(request) }, "a request failed");
    return sendProblem(reply, parts.secrets.masked(problemOf(error, request.traceId)));
  });
  app.setNotFoundHandler((request, reply) => sendProblem(reply, unknownRoute(request.method).toProblem()));
  await app.register(websocket, {
    options: { maxPayload: socketMessageLimit, perMessageDeflate: false },
    errorHandler: (_error, socket) => socket.terminate(),
  });
  // Those who watch a stream or a terminal are minded by their own heartbeats.
  app.websocketServer.on("connection", (_socket, { socket }) => callers.release(socket));
  return { app, callers };
}

/** What every request passes before anything of it is read. */
function mindDoor(
  app: FastifyInstance,
  known: Known,
  {
    hosts,
    callers,
    version,
  }: { readonly hosts: readonly string[]; readonly callers: Callers; readonly version: string },
): { port: number; closing: boolean } {
  const door = { port: 0, closing: false };
  app.decorateRequest("actor", "");
  app.decorateRequest("principal", undefined);
  app.decorateRequest("traceId", "");
  app.decorateRequest("by", {
    getter() {
      return { actor: this.actor, traceId: this.traceId };
    },
  });
  app.addHook("onRequest", (request, reply, next) => {
    try {
      // By this clients tell a daemon from other programs.
      void reply.header("x-corral", version);
      request.traceId = traceOf(request.headers.traceparent) ?? newTraceId();
      refuseStrangers(request, door.port, hosts);
      refuseOddAddresses(request);
      authenticate(request, known);
      if (request.principal !== undefined) callers.recognise(request.raw.socket);
      requireScope(request);
      requireJson(request);
      requireOwnPages(request);
      if (door.closing) throw new CorralError("daemon.stopping", "The daemon is stopping", { retry: "later" });
      next();
    } catch (error) {
      next(error as Error);
    }
  });
  return door;
}

/** In the log of what happened, and in the operator's; a log that cannot be written is told of elsewhere. */
async function audit({ log, logger }: GatewayParts, guessed: { address: string; attempts: number }): Promise<void> {
  logger?.info(guessed, "wrong tokens were tried");
  await log
    .append({ stream: "gateway", actor: "corral", events: [event("auth.guessed", guessed)] })
    .catch((error: unknown) => logger?.error({ err: error }, "wrong tokens could not be recorded"));
}

/** One line for each request that was answered; a stream is answered when it ends. */
function tellOfRequests(app: FastifyInstance, logger: GatewayLogger): void {
  app.addHook("onResponse", (request, reply, done) => {
    const { statusCode: status, elapsedTime } = reply;
    const told = { ...namesOf(request), actor: request.actor, status, ms: Math.round(elapsedTime * 10) / 10 };
    logger[request.routeOptions.config.open === true ? "debug" : "info"](told, "a request was answered");
    done();
  });
}

/** The route as it was declared: addresses may hold what is nobody's business. */
function namesOf({ traceId, method, routeOptions }: FastifyRequest): object {
  return { traceId, route: `${method} ${routeOptions.url ?? "?"}` };
}

function unusablePort(port: number, cause: unknown): CorralError {
  const { code } = cause as NodeJS.ErrnoException;
  const why = code === "EADDRINUSE" ? "another program uses it" : (cause as Error).message;
  return new CorralError("port.unusable", `The daemon cannot listen at port ${port}: ${why}`, {
    cause,
    hint: "Choose another one with `corral serve --port N`, or leave --port out to take any that is free",
  });
}
