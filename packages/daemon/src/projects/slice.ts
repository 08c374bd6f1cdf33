import { defectsOf, defineSlice } from "../assembly/index.ts";
import { projectProjections } from "./projections.ts";
import { openProjects, type Projects } from "./projects.ts";
import { projectRoutes } from "./routes.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly projects: Projects;
  }
}

export const projects = defineSlice({
  name: "projects",
  needs: ["machine", "log"],
  projections: projectProjections,
  routes: [projectRoutes],
  open: ({ log }) => openProjects(log),
  serve(own, { machine }) {
    own
      .mend()
      .catch((error: unknown) => defectsOf(machine, "config")("half-written settings could not be removed", error));
  },
});
