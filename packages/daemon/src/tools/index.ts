export { openToolbox, type Toolbox } from "./toolbox.ts";
export { shellTool } from "./shell.ts";
export type { Recovered, Surroundings, Tool, ToolContext } from "./tool.ts";
