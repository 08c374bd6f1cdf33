import type { FastifyInstance } from "fastify";
import { mustHoldNoSecret, type Secrets } from "../../secrets/index.ts";

/** Refuses requests that would put a secret on record. */
export function refuseSecrets(app: FastifyInstance, secrets: Secrets): void {
  app.addHook("preHandler", (request, _reply, next) => {
    try {
      if (request.routeOptions.config.takesSecrets !== true) mustHoldNoSecret(request.body, secrets);
      next();
    } catch (error) {
      next(error as Error);
    }
  });
}
