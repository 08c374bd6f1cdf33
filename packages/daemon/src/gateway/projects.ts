import { projectList, projectView, registerProject } from "@corral/protocol";
import type { Routes } from "./routes.ts";

export const projectRoutes: Routes = (app, { projects }) => {
  app.post(
    "/api/projects",
    { schema: { tags: ["projects"], body: registerProject, response: { 200: projectView } } },
    (request) => projects.register(request.body, request.by),
  );

  app.get("/api/projects", { schema: { tags: ["projects"], response: { 200: projectList } } }, async () => ({
    projects: [...(await projects.list())],
  }));
};
