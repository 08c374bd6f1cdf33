import { CorralError } from "@corral/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isBounded, missing, type Principal, type Sight, tooNarrow } from "../../routing/index.ts";

/** Outside of a token's bounds nothing exists: what is named there is not found, and lists leave it out. */
export function mindBounds(app: FastifyInstance, sight: Sight): void {
  app.addHook("preHandler", (request, _reply, next) => {
    try {
      requireWithin(request, sight);
      next();
    } catch (error) {
      next(error as Error);
    }
  });
  app.addHook("preSerialization", (request, reply, payload, next) => {
    const who = request.principal;
    const isList = request.routeOptions.config.reach === "listed" && reply.statusCode < 300;
    if (!isList || who === undefined || !isBounded(who)) return next(null, payload);
    next(null, listedFor(who, payload, sight));
  });
}

function requireWithin({ principal, routeOptions, params, body }: FastifyRequest, sight: Sight): void {
  if (principal === undefined || !isBounded(principal)) return;
  const { id } = params as { id?: string };
  switch (routeOptions.config.reach) {
    case "session":
      if (!sight.session(principal, id ?? "")) throw missing("session", id);
      return;
    case "project":
      if (!sight.project(principal, id ?? "")) throw missing("project", id);
      return;
    case "project in body": {
      const { projectId } = body as { projectId: string };
      if (principal.session !== undefined) throw tooNarrow("it is for one session alone");
      if (!sight.project(principal, projectId)) throw missing("project", projectId);
      return;
    }
    default:
      return;
  }
}

interface Lists {
  readonly sessions?: readonly { readonly id: string }[];
  readonly projects?: readonly { readonly id: string }[];
}

function listedFor(who: Principal, payload: unknown, sight: Sight): unknown {
  const { sessions, projects } = payload as Lists;
  if (sessions !== undefined) return { sessions: sessions.filter(({ id }) => sight.session(who, id)) };
  if (projects !== undefined) return { projects: projects.filter(({ id }) => sight.project(who, id)) };
  throw new CorralError("internal", "a route that lists neither sessions nor projects is said to list them");
}
