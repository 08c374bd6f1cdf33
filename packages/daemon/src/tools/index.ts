export { builtInTools } from "./built-in.ts";
export { openRegistry, type ToolRegistry } from "./registry.ts";
export { seenIn } from "./seen.ts";
export type { Beside, Recovered, Surroundings, Tool, ToolContext } from "./tool.ts";
export type { Toolbox } from "./toolbox.ts";
