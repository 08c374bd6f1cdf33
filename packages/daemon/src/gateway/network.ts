import { networkView, sessionId } from "@corral/protocol";
import { z } from "zod";
import { mustSeeSession } from "./bounds.ts";
import type { Routes } from "./routes.ts";
import { principalOf } from "./tokens.ts";

export const networkRoutes: Routes = (app, parts) => {
  const { egress, sight } = parts;
  app.get(
    "/api/network",
    {
      schema: {
        tags: ["network"],
        summary: "Tells which hosts sessions and shells have reached, or were refused",
        querystring: z.object({ session: sessionId.optional() }),
        response: { 200: networkView },
      },
    },
    async (request) => {
      const who = principalOf(request);
      const { session } = request.query;
      if (session !== undefined) await mustSeeSession(parts, who, session);
      const view = await egress.view(session);
      return {
        ...view,
        contacts: view.contacts.filter(({ session, shell }) => sight.stream(who, session ?? shell ?? "")),
      };
    },
  );
};
