export { openForeman } from "./foreman.ts";
export { endEnvironments, endEnvironmentsOf, sweepEnvironments } from "./leftovers.ts";
export { openRemoval, type Removal } from "./removal.ts";
export type { RunnerHost } from "./port.ts";
