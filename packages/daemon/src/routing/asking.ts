import { CorralError, type Id, type IdKind, type TraceId } from "@corral/protocol";
import type { FastifyRequest } from "fastify";
import type { Principal } from "./principal.ts";

/** What the gateway tells handlers of who asks. */
declare module "fastify" {
  interface FastifyRequest {
    /** Who asks; undefined on open routes. */
    principal: Principal | undefined;
    /** The same, as events will name it. Empty on open routes. */
    actor: string;
    traceId: TraceId;
    /** Both, as what is recorded for this request takes them. */
    readonly by: { readonly actor: string; readonly traceId: TraceId };
    /** An id for what the request makes: the same one when the request is sent again with its key. */
    newId<K extends IdKind>(kind: K): Id<K>;
  }
}

export function principalOf({ principal }: Pick<FastifyRequest, "principal">): Principal {
  if (principal === undefined) throw new CorralError("internal", "a route that needs to know who asks is open");
  return principal;
}
