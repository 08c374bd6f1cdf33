export { openForeman } from "./foreman.ts";
export { endEnvironments, sweepEnvironments } from "./leftovers.ts";
export type { RunnerHost } from "./port.ts";
