export { projectProjections } from "./projections.ts";
export { openProjects, type Projects } from "./projects.ts";
export { readSettingsFile } from "./settings-files.ts";
