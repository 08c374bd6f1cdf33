import { relative, resolve } from "node:path";
import type { ProjectView } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import { type Handlers, isFullAdmin, principalOf, type Sight } from "../routing/index.ts";
import type { Projects } from "./projects.ts";

interface Needs {
  readonly projects: Projects;
  readonly sight: Sight;
}

export function projectRoutes({ projects, sight }: Needs): Handlers<RoutesOf<"projects">> {
  return {
    "projects.register": (request) => projects.register(request.body, request.by),

    async "projects.list"(request) {
      const { path } = request.query;
      const all = await projects.list();
      if (path === undefined) return { projects: [...all] };
      const who = principalOf(request);
      const seen = all.filter(({ id }) => sight.project(who, id));
      if (!isFullAdmin(who) && !seen.some((project) => holds(project, path))) return { projects: [] };
      const found = await projects.find(path);
      return { projects: found === undefined ? [] : [found] };
    },

    async "projects.forget"(request) {
      await projects.forget(request.params.id, request.by);
      return { kind: "forgotten" };
    },

    "projects.trust": (request) => projects.settings(request.params.id),
    "projects.giveTrust": (request) => projects.trust(request.params.id, request.body, request.by),
  };
}

/** By their names alone. */
function holds(project: ProjectView, path: string): boolean {
  const way = relative(project.path, resolve(path));
  return way !== ".." && !way.startsWith("../");
}
