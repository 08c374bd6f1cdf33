export { openProjects, projectProjections, type Projects } from "./projects.ts";
