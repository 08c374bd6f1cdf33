import type { RouteTable } from "./route.ts";

export const projects = {
  "projects.register": {
    route: "POST /api/projects",
    about: "Registers the repository that a folder belongs to.",
    scope: "admin",
    reach: "whole",
    takesSecrets: true,
    body: "registerProject",
    answer: "registeredProject",
  },
  "projects.list": {
    route: "GET /api/projects",
    about:
      "Lists all projects, or the one that the folder `path` belongs to; only for an admin's token without bounds are folders looked at that belong to " +
      "no project it sees.",
    scope: "read",
    reach: "listed",
    query: "findProjects",
    answer: "projectList",
    unwrap: "projects",
  },
  "projects.forget": {
    route: "POST /api/projects/:id/forget",
    about: "Forgets a project; its folder stays as it is.",
    scope: "admin",
    reach: "project",
    params: { id: "projectId" },
    answer: "forgetAnswer",
  },
  "projects.trust": {
    route: "GET /api/projects/:id/trust",
    about: "Tells which settings the project's folder brings along, and which of them are trusted.",
    scope: "read",
    reach: "project",
    params: { id: "projectId" },
    answer: "trustView",
  },
  "projects.giveTrust": {
    route: "POST /api/projects/:id/trust",
    about: "Lets files of settings count, by the hashes of what was shown.",
    scope: "admin",
    reach: "project",
    params: { id: "projectId" },
    body: "trustFiles",
    answer: "trustView",
  },
} as const satisfies RouteTable;
