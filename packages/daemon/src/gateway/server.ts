import type { AddressInfo } from "node:net";
import swagger from "@fastify/swagger";
import { CorralError, type DaemonStatus, type DoctorReport, newTraceId, traceOf } from "@corral/protocol";
import Fastify, { type FastifyRequest } from "fastify";
import {
  jsonSchemaTransform,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from "fastify-type-provider-zod";
import type { Config } from "../config/index.ts";
import type { Log } from "../log/port.ts";
import { authenticate, type Known, ownerOnly } from "./auth.ts";
import { configRoutes } from "./config.ts";
import { daemonRoutes } from "./daemon.ts";
import { dashboardRoutes, readPages } from "./dashboard.ts";
import { eventRoutes } from "./events.ts";
import { loginRoutes } from "./login.ts";
import { refuseStrangers, requireJson } from "./origin.ts";
import { bodyLimit, isExpected, problemOf, rawProblem, sendProblem } from "./problem.ts";
import { projectRoutes } from "./projects.ts";
import type { App } from "./routes.ts";
import { sessionRoutes } from "./sessions.ts";
import type { Projects } from "../projects/index.ts";
import type { Sessions } from "../sessions/index.ts";
import { openStreams, type StreamLimits } from "./sse.ts";
import { openVisits } from "./visits.ts";

export interface GatewayParts {
  readonly log: Pick<Log, "read" | "tail" | "live">;
  readonly sessions: Sessions;
  readonly projects: Projects;
  readonly config: Config;
  readonly token: string;
  readonly version: string;
  /** The folder with the built dashboard. */
  readonly dashboard: string;
  /** Only this machine by default. */
  readonly host?: string;
  /** 0: any free one. */
  readonly port: number;
  /** Names besides the machine's own that requests may call the daemon by. */
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
  /** Milliseconds; by them codes and visits grow old. */
  readonly now?: () => number;
}

interface GatewayLogger {
  debug(context: object, message: string): void;
  info(context: object, message: string): void;
  error(context: object, message: string): void;
}

export interface Gateway {
  readonly url: string;
  /** Takes no more requests, ends streams cleanly, lets requests under way finish for a moment. */
  close(): Promise<void>;
}

export async function openGateway(parts: GatewayParts): Promise<Gateway> {
  const { host = "127.0.0.1", logger } = parts;
  const streams = openStreams(
    parts.log,
    (error) => logger?.error({ err: error }, "a stream of events failed"),
    parts.streamLimits,
  );
  const app = await assemble(parts);
  if (logger !== undefined) tellOfRequests(app, logger);
  const visits = openVisits(parts.now ?? Date.now);
  const hosts = [named(host), ...(parts.allowedHosts ?? [])];
  const door = guard(app, { token: ownerOnly(parts.token), visits }, hosts);
  const nouns = [daemonRoutes, loginRoutes, configRoutes, projectRoutes, sessionRoutes, eventRoutes, dashboardRoutes];
  const pages = readPages(parts.dashboard);
  for (const addRoutes of nouns) addRoutes(app, { ...parts, streams, visits, pages });
  await app.listen({ host, port: parts.port }).catch((cause: unknown) => {
    throw unusablePort(parts.port, cause);
  });
  door.port = (app.server.address() as AddressInfo).port;

  return {
    url: `http://${named(reachable[host] ?? host)}:${door.port}`,
    async close() {
      door.closing = true;
      streams.end();
      const impatience = setTimeout(() => app.server.closeAllConnections(), 2_000);
      await app.close();
      clearTimeout(impatience);
    },
  };
}

/** Who listens everywhere is called by the name that is always there. */
const reachable: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

function named(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

async function assemble(parts: GatewayParts): Promise<App> {
  const app = Fastify({
    logger: false,
    bodyLimit,
    requestTimeout: 30_000,
    http: { headersTimeout: 10_000 },
    return503OnClosing: false,
    exposeHeadRoutes: false,
    frameworkErrors: (error, _request, reply) => void sendProblem(reply, problemOf(error)),
    clientErrorHandler(_error, socket) {
      if (socket.writable) socket.end(rawProblem(new CorralError("request.invalid", "That was no HTTP request")));
    },
  }).withTypeProvider<ZodTypeProvider>();
  app.removeContentTypeParser("text/plain");
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, request, reply) => {
    if (!isExpected(error)) parts.logger?.error({ err: error, ...namesOf(request) }, "a request failed");
    return sendProblem(reply, problemOf(error, request.traceId));
  });
  app.setNotFoundHandler((request, reply) => sendProblem(reply, unknownRoute(request.method).toProblem()));
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Corral", version: parts.version },
      components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
      security: [{ token: [] }],
    },
    transform: jsonSchemaTransform,
  });
  return app;
}

/** What every request passes before anything of it is read. */
function guard(app: App, known: Known, allowedHosts: readonly string[]): { port: number; closing: boolean } {
  const door = { port: 0, closing: false };
  app.decorateRequest("actor", "");
  app.decorateRequest("traceId", "");
  app.decorateRequest("by", {
    getter() {
      return { actor: this.actor, traceId: this.traceId };
    },
  });
  app.decorateRequest("over", undefined);
  app.addHook("onRequest", (request, _reply, next) => {
    try {
      request.traceId = traceOf(request.headers.traceparent) ?? newTraceId();
      refuseStrangers(request, door.port, allowedHosts);
      authenticate(request, known);
      requireJson(request);
      if (door.closing) throw new CorralError("daemon.stopping", "The daemon is stopping", { retry: "later" });
      next();
    } catch (error) {
      next(error as Error);
    }
  });
  return door;
}

/** One line for each request that was answered; a stream is answered when it ends. */
function tellOfRequests(app: App, logger: GatewayLogger): void {
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

function unknownRoute(method: string): CorralError {
  return new CorralError("route.unknown", `Nothing answers ${method} at this path`, {
    hint: "GET /api/openapi.json lists what does",
  });
}
