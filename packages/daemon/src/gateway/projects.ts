import {
  forgetAnswer,
  projectId,
  projectList,
  registeredProject,
  registerProject,
  trustFiles,
  trustView,
} from "@corral/protocol";
import { z } from "zod";
import type { Routes } from "./routes.ts";

const projectParams = z.object({ id: projectId });

export const projectRoutes: Routes = (app, { projects }) => {
  const tags = ["projects"];

  app.post(
    "/api/projects",
    { schema: { tags, body: registerProject, response: { 200: registeredProject } } },
    (request) => projects.register(request.body, request.by),
  );

  app.get(
    "/api/projects",
    {
      schema: {
        tags,
        description: "All projects, or the one that the folder `path` belongs to, if it is registered.",
        querystring: registerProject.partial(),
        response: { 200: projectList },
      },
    },
    async ({ query: { path } }) => {
      if (path === undefined) return { projects: [...(await projects.list())] };
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
