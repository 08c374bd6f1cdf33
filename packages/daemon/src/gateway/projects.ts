import { relative, resolve } from "node:path";
import {
  forgetAnswer,
  projectId,
  projectList,
  type ProjectView,
  registeredProject,
  registerProject,
  trustFiles,
  trustView,
} from "@corral/protocol";
import { z } from "zod";
import { isFullAdmin } from "../tokens/index.ts";
import type { Routes } from "./routes.ts";
import { principalOf } from "./tokens.ts";

const projectParams = z.object({ id: projectId });

export const projectRoutes: Routes = (app, { projects, sight }) => {
  const tags = ["projects"];

  app.post(
    "/api/projects",
    { config: { takesSecrets: true }, schema: { tags, body: registerProject, response: { 200: registeredProject } } },
    (request) => projects.register(request.body, request.by),
  );

  app.get(
    "/api/projects",
    {
      schema: {
        tags,
        description:
          "All projects, or the one that the folder `path` belongs to, if it is registered. Tokens that are not an admin's " +
          "for everything are told of folders of the projects they see, and no other folder is looked at for them.",
        querystring: registerProject.partial(),
        response: { 200: projectList },
      },
    },
    async (request) => {
      const { path } = request.query;
      const all = await projects.list();
      if (path === undefined) return { projects: [...all] };
      const who = principalOf(request);
      const seen = all.filter(({ id }) => sight.project(who, id));
      if (!isFullAdmin(who) && !seen.some((project) => holds(project, path))) return { projects: [] };
      const found = await projects.find(path);
      return { projects: found === undefined ? [] : [found] };
    },
  );

  app.post(
    "/api/projects/:id/forget",
    { schema: { tags, params: projectParams, body: z.object({}), response: { 200: forgetAnswer } } },
    async (request) => {
      await projects.forget(request.params.id, request.by);
      return { kind: "forgotten" as const };
    },
  );

  app.get(
    "/api/projects/:id/trust",
    { schema: { tags, params: projectParams, response: { 200: trustView } } },
    (request) => projects.settings(request.params.id),
  );

  app.post(
    "/api/projects/:id/trust",
    { schema: { tags, params: projectParams, body: trustFiles, response: { 200: trustView } } },
    (request) => projects.trust(request.params.id, request.body, request.by),
  );
};

/** By their names alone. */
function holds(project: ProjectView, path: string): boolean {
  const way = relative(project.path, resolve(path));
  return way !== ".." && !way.startsWith("../");
}
