import type { AddressInfo } from "node:net";
import swagger from "@fastify/swagger";
import websocket from "@fastify/websocket";
import { CorralError, event } from "@corral/protocol";
import Fastify from "fastify";
import {
  jsonSchemaTransform,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from "fastify-type-provider-zod";
import type { Log } from "../log/port.ts";
import type { Projects } from "../projects/index.ts";
import type { Sessions } from "../sessions/index.ts";
import type { Tokens } from "../tokens/index.ts";
import { mindAccess, requireScope } from "./access.ts";
import { refuseOddAddresses } from "./address.ts";
import { authenticate, type Known } from "./auth.ts";
import { mindBounds } from "./bounds.ts";
import { daemonRoutes } from "./daemon.ts";
import { dashboardRoutes, readPages } from "./dashboard.ts";
import { eventRoutes } from "./events.ts";
import type { StreamLimits } from "./feed.ts";
import { openGuesses } from "./guesses.ts";
import { openHistory } from "./history.ts";
import { openRequests } from "./idempotency.ts";
import { takeJson } from "./json.ts";
import { loginRoutes } from "./login.ts";
import type { Meter } from "./meter.ts";
import { metricRoutes } from "./metrics.ts";
import { completeDocument } from "./openapi.ts";
import { refuseStrangers, requireJson } from "./origin.ts";
import { bodyLimit, isExpected, problemOf, refusalOf, sendProblem } from "./problem.ts";
import { projectRoutes } from "./projects.ts";
import type { App } from "./routes.ts";
import { sessionRoutes } from "./sessions.ts";
import { openSight } from "./sight.ts";
import { openSockets, socketMessageLimit } from "./socket.ts";
import { openStreams } from "./sse.ts";
import { streamRoutes } from "./stream.ts";
import { tokenRoutes } from "./tokens.ts";
import { openVisits } from "./visits.ts";

export interface GatewayParts {
  readonly log: Pick<Log, "append" | "read" | "rows" | "tail" | "live" | "onCommit">;
  readonly sessions: Sessions;
  readonly projects: Projects;
  readonly tokens: Tokens;
  readonly meter: Meter;
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
  /** Hears of what should not have happened. Never given a token or a request's content. */
  readonly logger?: GatewayLogger;
  readonly streamLimits?: StreamLimits;
  readonly deadlines?: Deadlines;
  /** Milliseconds; by them codes, visits and keys grow old. */
  readonly now?: () => number;
}

export interface GatewayLogger {
  info(context: object, message: string): void;
  error(context: object, message: string): void;
}

/** How long a client may take to say what it wants. */
export interface Deadlines {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often clients are looked at. */
  readonly checkMs: number;
}

const usualDeadlines: Deadlines = { headersMs: 10_000, requestMs: 30_000, checkMs: 1_000 };

export interface Gateway {
  readonly url: string;
  /** Takes no more requests, ends streams cleanly, lets requests under way finish for a moment. */
  close(): Promise<void>;
}

export async function openGateway(parts: GatewayParts): Promise<Gateway> {
  const { host = "127.0.0.1", log, logger, now = Date.now } = parts;
  const onStreamError = (error: unknown) => logger?.error({ err: error }, "a stream of events failed");
  const history = openHistory(log);
  const source = { log, history };
  const sight = await openSight(log, parts.sessions);
  const streams = openStreams(source, onStreamError, parts.streamLimits);
  const sockets = openSockets({ source, sight, onError: onStreamError, limits: parts.streamLimits });
  const visits = openVisits(now);
  let audited = Promise.resolve();
  const guesses = openGuesses((guessed) => (audited = audited.then(() => audit(parts, guessed))), now);
  const requests = await openRequests(log, now);
  parts.meter.watch({
    streams: () => ({ sse: streams.count, websocket: sockets.count }),
    sessions: () => byState(parts.sessions),
    runners: parts.runners,
  });

  const app = await assemble(parts, (route, error) => logger?.error({ err: error, route }, "a request failed"));
  const door = guard(app, { tokens: parts.tokens, visits, guesses }, parts.allowedHosts ?? []);
  mindBounds(app, sight);
  requests.mind(app);
  parts.meter.mind(app);
  const pages = readPages(parts.dashboard);
  for (const addRoutes of nouns) addRoutes(app, { ...parts, sight, streams, sockets, visits, pages });
  await app.listen({ host, port: parts.port });
  door.port = (app.server.address() as AddressInfo).port;

  return {
    url: `http://${reachable(host)}:${door.port}`,
    async close() {
      door.closing = true;
      streams.end();
      sockets.end();
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

const nouns = [
  daemonRoutes,
  metricRoutes,
  loginRoutes,
  tokenRoutes,
  projectRoutes,
  sessionRoutes,
  eventRoutes,
  streamRoutes,
  dashboardRoutes,
];

async function assemble(parts: GatewayParts, onUnexpected: (route: string, error: unknown) => void): Promise<App> {
  const { headersMs, requestMs, checkMs } = parts.deadlines ?? usualDeadlines;
  const app = Fastify({
    logger: false,
    bodyLimit,
    requestTimeout: requestMs,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: checkMs, maxHeaderSize: 16 * 1024 },
    return503OnClosing: false,
    exposeHeadRoutes: false,
    frameworkErrors: (error, _request, reply) => void sendProblem(reply, problemOf(error)),
    clientErrorHandler(error, socket) {
      if (socket.writable) socket.end(refusalOf(error));
      else socket.destroy();
    },
  }).withTypeProvider<ZodTypeProvider>();
  takeJson(app);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, request, reply) => {
    if (!isExpected(error)) onUnexpected(`${request.method} ${request.routeOptions.url ?? "?"}`, error);
    return sendProblem(reply, problemOf(error));
  });
  app.setNotFoundHandler((request, reply) => sendProblem(reply, unknownRoute(request.method).toProblem()));
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Corral", version: parts.version },
      components: {
        securitySchemes: {
          token: { type: "http", scheme: "bearer", description: "The owner's token file, or a token that was made" },
          visit: { type: "apiKey", in: "cookie", name: "corral-PORT", description: "A browser's visit" },
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: (document) =>
      "openapiObject" in document ? completeDocument({ ...document.openapiObject }) : document.swaggerObject,
  });
  await app.register(websocket, {
    options: { maxPayload: socketMessageLimit, perMessageDeflate: false },
    errorHandler: (_error, socket) => socket.terminate(),
  });
  mindAccess(app);
  return app;
}

/** What every request passes before anything of it is read. */
function guard(app: App, known: Known, allowedHosts: readonly string[]): { port: number; closing: boolean } {
  const door = { port: 0, closing: false };
  app.decorateRequest("actor", "");
  app.decorateRequest("principal", undefined);
  app.addHook("onRequest", (request, _reply, next) => {
    try {
      refuseStrangers(request, door.port, allowedHosts);
      refuseOddAddresses(request);
      authenticate(request, known);
      requireScope(request);
      requireJson(request);
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

async function byState(sessions: Pick<Sessions, "list">): Promise<Record<string, number>> {
  const counts: Record<string, number> = { idle: 0, thinking: 0, waiting: 0, failed: 0 };
  for (const { state } of await sessions.list()) counts[state.state] = (counts[state.state] ?? 0) + 1;
  return counts;
}

/** An address that is listened at and can be asked: "every one" is none. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

function unknownRoute(method: string): CorralError {
  return new CorralError("route.unknown", `Nothing answers ${method} at this path`, {
    hint: "GET /api/openapi.json lists what does",
  });
}
