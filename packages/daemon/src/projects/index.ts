export { projectProjections } from "./projections.ts";
export { openProjects, type Projects } from "./projects.ts";
