import { checkRules, judgement, projectId, rulesView, sessionId } from "@corral/protocol";
import { z } from "zod";
import type { Routes } from "./routes.ts";

export const ruleRoutes: Routes = (app, { rules, sessions }) => {
  const tags = ["rules"];

  app.get(
    "/api/rules",
    {
      schema: {
        tags,
        summary: "Tells which rules hold, and where they are from",
        querystring: z.object({
          project: projectId.optional(),
          session: sessionId.optional(),
          agent: z.string().optional(),
        }),
        response: { 200: rulesView },
      },
    },
    async ({ query }) => {
      const session = query.session === undefined ? undefined : await sessions.get(query.session);
      return rules.view({
        project: session?.projectId ?? query.project,
        session: query.session,
        agent: query.agent,
        mode: session?.mode ?? "auto",
        situation: {
          environment: session?.environment.kind ?? "jail",
          workspace: session?.workspace ?? "copy",
          folder: "/workspace",
        },
      });
    },
  );

  app.post(
    "/api/rules/check",
    {
      schema: { tags, summary: "Explains what rules say about a call", body: checkRules, response: { 200: judgement } },
    },
    ({ body }) => rules.check(body),
  );
};
