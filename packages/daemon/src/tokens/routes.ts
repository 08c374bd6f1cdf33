import type { CreateToken, ProjectId, TokenView } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import {
  type FindsSessions,
  type Handlers,
  isFullAdmin,
  missing,
  mustSeeSession,
  type Principal,
  principalOf,
  type Sight,
} from "../routing/index.ts";
import type { Tokens } from "./tokens.ts";

interface Needs {
  readonly tokens: Tokens;
  readonly projects: { get(id: ProjectId): Promise<unknown> };
  readonly sessions: FindsSessions;
  readonly sight: Sight;
}

/** Whoever is no admin of everything sees and revokes the tokens of their own person, made within their own bounds. */
export function tokenRoutes(needs: Needs): Handlers<RoutesOf<"tokens">> {
  const { tokens } = needs;
  return {
    "tokens.list": (request) => ({
      tokens: tokens.list().filter((token) => isHers(principalOf(request), token)),
    }),

    async "tokens.create"(request, reply) {
      const maker = principalOf(request);
      await requireSubjects(needs, maker, request.body);
      void reply.header("cache-control", "no-store");
      return tokens.create(request.body, maker, request.by, request.newId("token"));
    },

    async "tokens.revoke"(request) {
      const { id } = request.params;
      const known = tokens.list().find((token) => token.id === id);
      if (known === undefined || !isHers(principalOf(request), known)) throw missing("token", id);
      const kind = await tokens.revoke(id, request.by);
      if (kind === undefined) throw missing("token", id);
      return { kind, id };
    },
  };
}

function isHers(who: Principal, token: TokenView): boolean {
  if (isFullAdmin(who)) return true;
  const within = (own: string | undefined, its: string | undefined) => own === undefined || own === its;
  return token.person === who.person && within(who.project, token.project) && within(who.session, token.session);
}

/** A token is for what exists, as far as its maker can tell. */
async function requireSubjects(needs: Needs, maker: Principal, { project, session }: CreateToken): Promise<void> {
  const { projects, sight } = needs;
  if (project !== undefined && (project !== maker.project || maker.session === undefined)) {
    if (!sight.project(maker, project) || (await projects.get(project)) === undefined)
      throw missing("project", project);
  }
  if (session !== undefined) await mustSeeSession(needs, maker, session);
}
