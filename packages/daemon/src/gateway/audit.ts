import {
  auditEntry,
  auditEntryId,
  auditPage,
  auditQuery,
  type AuditWhere,
  chainHead,
  chainReport,
  CorralError,
  headView,
} from "@corral/protocol";
import { z } from "zod";
import { isBounded, type Principal } from "../tokens/index.ts";
import { mustSeeSession } from "./bounds.ts";
import type { RouteParts, Routes } from "./routes.ts";
import { principalOf } from "./tokens.ts";

const entryParams = z.object({ id: auditEntryId });

export const auditRoutes: Routes = (app, parts) => {
  const { audit } = parts;
  const tags = ["audit"];

  app.get(
    "/api/audit",
    {
      schema: {
        tags,
        summary: "Tells what agents and people ran, with the difference it made; without a cursor the newest",
        querystring: auditQuery,
        response: { 200: auditPage },
      },
    },
    async (request) => {
      const who = principalOf(request);
      const { session } = request.query;
      if (session !== undefined) await mustSeeSession(parts, who, session);
      return audit.page(request.query, (where) => sees(parts, who, where));
    },
  );

  app.get(
    "/api/audit/entries/:id",
    { schema: { tags, summary: "All of one entry", params: entryParams, response: { 200: auditEntry } } },
    async (request) => {
      const entry = await audit.find(request.params.id);
      if (entry === undefined || !sees(parts, principalOf(request), entry.where)) throw unknown(request.params.id);
      return entry;
    },
  );

  app.get(
    "/api/audit/head",
    { schema: { tags, summary: "The newest link of the chain, to be kept elsewhere", response: { 200: headView } } },
    async () => ({ head: await audit.head() }),
  );

  app.get(
    "/api/audit/verify",
    {
      schema: {
        tags,
        summary: "Goes over the whole chain and tells whether anything was changed by hand",
        querystring: z.object({ head: chainHead.optional() }),
        response: { 200: chainReport },
      },
    },
    async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return audit.verify({ head: request.query.head, signal: gone.signal });
    },
  );
};

function sees({ sight }: RouteParts, who: Principal, { session, project }: AuditWhere): boolean {
  if (session !== undefined) return sight.session(who, session);
  return !isBounded(who) || (project !== undefined && sight.project(who, project));
}

/** The same words for what is not there and for what is out of bounds. */
function unknown(id: string): CorralError {
  return new CorralError("not-found", `There is no call or command ${id}`, { hint: "`corral audit` lists them" });
}
