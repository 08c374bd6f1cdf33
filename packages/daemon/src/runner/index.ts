export { cutPartsFolder, removeCutParts } from "./cut-parts.ts";
export { openForeman } from "./foreman.ts";
export { endEnvironments, endEnvironmentsAtRest, endEnvironmentsOf, sweepEnvironments } from "./leftovers.ts";
export { placeLimitsFrom } from "./places/index.ts";
export { openRemoval, type Removal } from "./removal.ts";
export type { RunnerHost } from "./port.ts";
