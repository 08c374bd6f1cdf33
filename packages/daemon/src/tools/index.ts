export { openToolbox, type Toolbox } from "./toolbox.ts";
export { shellTool } from "./shell.ts";
export type { Surroundings, Tool, ToolContext } from "./tool.ts";
