export { openUsage, type Usage } from "./usage.ts";
export { usageProjections } from "./projection.ts";
