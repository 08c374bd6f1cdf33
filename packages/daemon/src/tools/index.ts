export { builtInTools } from "./built-in.ts";
export { seenIn } from "./seen.ts";
export type { Recovered, Surroundings, Tool, ToolContext } from "./tool.ts";
export { openToolbox, type Toolbox } from "./toolbox.ts";
