import { type AuditWhere, CorralError } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import {
  type FindsSessions,
  type Handlers,
  isBounded,
  mustSeeSession,
  type Principal,
  principalOf,
  type Sight,
} from "../routing/index.ts";
import type { Audit } from "./audit.ts";

interface Needs {
  readonly audit: Audit;
  readonly sessions: FindsSessions;
  readonly sight: Sight;
}

export function auditRoutes(needs: Needs): Handlers<RoutesOf<"audit">> {
  const { audit, sight } = needs;
  return {
    async "audit.list"(request) {
      const who = principalOf(request);
      const { session } = request.query;
      if (session !== undefined) await mustSeeSession(needs, who, session);
      return audit.page(request.query, (where) => sees(sight, who, where));
    },

    async "audit.get"(request) {
      const entry = await audit.find(request.params.id);
      if (entry === undefined || !sees(sight, principalOf(request), entry.where)) throw unknown(request.params.id);
      return entry;
    },

    "audit.head": async () => ({ head: await audit.head() }),

    "audit.verify"(request, reply) {
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return audit.verify({ head: request.query.head, signal: gone.signal });
    },
  };
}

function sees(sight: Sight, who: Principal, { session, project }: AuditWhere): boolean {
  if (session !== undefined) return sight.session(who, session);
  return !isBounded(who) || (project !== undefined && sight.project(who, project));
}

/** The same words for what is not there and for what is out of bounds. */
function unknown(id: string): CorralError {
  return new CorralError("not-found", `There is no call or command ${id}`, { hint: "`corral audit` lists them" });
}
