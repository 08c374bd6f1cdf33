import {
  checkRules,
  CorralError,
  judgement,
  keptRules,
  type KeptRule,
  projectId,
  ruleForgotten,
  ruleId,
  rulesView,
  sessionId,
  usualAgent,
} from "@corral/protocol";
import { z } from "zod";
import type { Routes } from "./routes.ts";

export const ruleRoutes: Routes = (app, { log, rules, sessions }) => {
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
        agent: query.agent ?? session?.agent ?? usualAgent,
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
    async ({ body }) => {
      const session = body.session === undefined ? undefined : await sessions.terms(body.session);
      return rules.check({ ...body, agent: body.agent ?? session?.agent ?? usualAgent });
    },
  );

  app.get(
    "/api/rules/kept",
    {
      schema: {
        tags,
        summary: 'Lists what people said "always" to: for sessions, agents and projects',
        querystring: z.object({ project: projectId.optional() }),
        response: { 200: keptRules },
      },
    },
    async ({ query: { project } }) => {
      const seq = await log.head();
      const projects = new Map((await sessions.list()).map((session) => [session.id as string, session.projectId]));
      // What a session that is no more was allowed counts for nobody.
      const projectOf = ({ projectId: own, of }: KeptRule) => own ?? projects.get(of);
      const there = (await rules.kept()).filter((rule) => projectOf(rule) !== undefined);
      return { rules: there.filter((rule) => project === undefined || projectOf(rule) === project), seq };
    },
  );

  app.delete(
    "/api/rules/kept/:id",
    {
      schema: {
        tags,
        summary: 'Takes an "always" back, from the next call on',
        params: z.object({ id: ruleId }),
        response: { 200: ruleForgotten },
      },
    },
    async ({ params: { id }, by }) => {
      const rule = await rules.forget(id, by);
      if (rule === undefined)
        throw new CorralError("not-found", `There is no rule ${id} that was kept.`, {
          hint: "`corral rules list` shows those that are",
        });
      return { kind: "forgotten" as const, rule };
    },
  );
};
