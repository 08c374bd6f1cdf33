import {
  CorralError,
  createdToken,
  createToken,
  type CreateToken,
  revokeAnswer,
  tokenId,
  tokenList,
  type TokenView,
} from "@corral/protocol";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { isFullAdmin, type Principal } from "../tokens/index.ts";
import { missing, mustSeeSession } from "./bounds.ts";
import type { RouteParts, Routes } from "./routes.ts";

/** Whoever is no admin of everything sees and revokes the tokens of their own person, made within their own bounds. */
export const tokenRoutes: Routes = (app, parts) => {
  const { tokens } = parts;
  const tags = ["tokens"];

  app.get(
    "/api/tokens",
    { schema: { tags, summary: "Lists tokens", response: { 200: tokenList } } },
    async (request) => ({ tokens: tokens.list().filter((token) => isHers(principalOf(request), token)) }),
  );

  app.post(
    "/api/tokens",
    {
      config: { secret: true },
      schema: { tags, summary: "Makes a token, told this once", body: createToken, response: { 201: createdToken } },
    },
    async (request, reply) => {
      const maker = principalOf(request);
      await requireSubjects(parts, maker, request.body);
      const created = await tokens.create(request.body, maker, request.by, request.newId("token"));
      return reply.code(201).header("cache-control", "no-store").send(created);
    },
  );

  app.post(
    "/api/tokens/:id/revoke",
    {
      schema: {
        tags,
        summary: "Ends a token, those made with it, and all they have open",
        params: z.object({ id: tokenId }),
        body: z.object({}),
        response: { 200: revokeAnswer },
      },
    },
    async (request) => {
      const { id } = request.params;
      const known = tokens.list().find((token) => token.id === id);
      if (known === undefined || !isHers(principalOf(request), known)) throw missing("token", id);
      const kind = await tokens.revoke(id, request.by);
      if (kind === undefined) throw missing("token", id);
      return { kind, id };
    },
  );
};

function isHers(who: Principal, token: TokenView): boolean {
  if (isFullAdmin(who)) return true;
  const within = (own: string | undefined, its: string | undefined) => own === undefined || own === its;
  return token.person === who.person && within(who.project, token.project) && within(who.session, token.session);
}

/** A token is for what exists, as far as its maker can tell. */
async function requireSubjects(parts: RouteParts, maker: Principal, { project, session }: CreateToken): Promise<void> {
  const { projects, sight } = parts;
  if (project !== undefined && (project !== maker.project || maker.session === undefined)) {
    if (!sight.project(maker, project) || (await projects.get(project)) === undefined)
      throw missing("project", project);
  }
  if (session !== undefined) await mustSeeSession(parts, maker, session);
}

export function principalOf({ principal }: FastifyRequest): Principal {
  if (principal === undefined) throw new CorralError("internal", "a route that needs to know who asks is open");
  return principal;
}
