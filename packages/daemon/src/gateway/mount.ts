import type { Scope } from "@corral/protocol";
import { type Reach, type Route, type RouteName, routes } from "@corral/protocol/routes";
import { schemaOf } from "@corral/protocol/schema-of";
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from "fastify";
import type { WebSocket } from "ws";
import { z } from "zod";
import type { Handlers, RequestOf, SocketHandler } from "../routing/index.ts";

/** What the table says of a route, where every request finds it. */
declare module "fastify" {
  interface FastifyContextConfig {
    /** Answered without a token. Whatever does not say so needs one. */
    open?: boolean;
    scope?: Scope | undefined;
    reach?: Reach;
    secret?: boolean;
    takesSecrets?: boolean;
    repeatable?: boolean;
    fromOwnPages?: boolean;
  }
}

/** Adds the routes of the table. Throws when one has no handler, when a handler has no route, and when a route is added by anybody else. */
export function mount(app: FastifyInstance, handlers: Handlers<RouteName>): void {
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.reach === undefined) throw new Error(`${String(method)} ${url} is not in the table of routes`);
  });
  const unanswered = Object.keys(routes).filter((name) => !Object.hasOwn(handlers, name));
  if (unanswered.length > 0) throw new Error(`no handler answers ${unanswered.join(", ")}`);
  for (const [name, handler] of Object.entries(handlers)) {
    if (!Object.hasOwn(routes, name)) throw new Error(`${name} is not in the table of routes`);
    add(app, routes[name as RouteName], handler as AnyHandler);
  }
}

type Answers = (request: FastifyRequest, reply: FastifyReply) => unknown;
type AnyHandler = Answers | SocketHandler<"stream">;

function add(app: FastifyInstance, route: Route, handler: AnyHandler): void {
  const [method = "", url = ""] = route.route.split(" ");
  app.route({
    method,
    url,
    schema: schemaFor(route),
    config: configOf(route),
    ...(route.bodyLimit === undefined ? {} : { bodyLimit: route.bodyLimit }),
    ...("open" in handler ? socketOf(handler) : { handler: withStatus(route, handler) }),
  });
}

function socketOf(handler: SocketHandler<"stream">) {
  const asked = (request: FastifyRequest) => request as RequestOf<"stream">;
  return {
    handler: (request: FastifyRequest) => handler.plain(asked(request)),
    wsHandler: (socket: WebSocket, request: FastifyRequest) => handler.open(socket, asked(request)),
  };
}

function withStatus(route: Route, handler: Answers): Answers {
  const [status, other] = statusesOf(route);
  if (status === 200 || other !== undefined) return handler;
  return (request, reply) => {
    void reply.code(status);
    return handler(request, reply);
  };
}

/** Of good answers. */
export function statusesOf(route: Route): readonly [status: number, other?: number] {
  if (route.as === "socket") return [101];
  const status = route.as === undefined ? (route.status ?? 200) : 200;
  return typeof status === "number" ? [status] : status;
}

function schemaFor(route: Route): FastifySchema {
  const { query, as, answer } = route;
  const params = paramsOf(route);
  const body = bodyOf(route);
  return {
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: schemaOf(query) }),
    ...(body === undefined ? {} : { body }),
    ...(as !== undefined || answer === undefined
      ? {}
      : { response: Object.fromEntries(statusesOf(route).map((status) => [status, schemaOf(answer)])) }),
  };
}

export function paramsOf({ params }: Route): z.ZodObject | undefined {
  if (params === undefined) return undefined;
  return z.object(Object.fromEntries(Object.entries(params).map(([name, schema]) => [name, schemaOf(schema)])));
}

export function bodyOf({ route, body }: Route): z.ZodType | undefined {
  return body === undefined && !route.startsWith("POST ") ? undefined : schemaOf(body ?? "nothing");
}

function configOf(route: Route) {
  const { secret = false, takesSecrets = false, repeatable = false, fromOwnPages = false } = route;
  const access = "access" in route ? { open: true, reach: "any" as const } : { open: false, ...accessOf(route) };
  return { ...access, secret, takesSecrets, repeatable, fromOwnPages };
}

function accessOf({ scope, reach }: { readonly scope: Scope; readonly reach: Reach }) {
  return { scope, reach };
}
