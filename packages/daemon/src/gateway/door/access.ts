import { covers } from "@corral/protocol";
import type { FastifyRequest } from "fastify";
import { isBounded, tooNarrow } from "../../routing/index.ts";

/** After it is known who asks. */
export function requireScope({ routeOptions, principal }: FastifyRequest): void {
  const { scope, reach } = routeOptions.config;
  if (scope === undefined || principal === undefined) return;
  if (!covers(principal.scope, scope)) throw tooNarrow(`this needs the scope ${scope}, yours is ${principal.scope}`);
  if (reach === "whole" && isBounded(principal))
    throw tooNarrow("this concerns everything, and your token is for a part");
}
