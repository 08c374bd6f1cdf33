export { openFiles, type OpenFiles } from "./files.ts";
export type { Spawn } from "./hand.ts";
