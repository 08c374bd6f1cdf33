export { type Foreman, type ForemanOptions, openForeman } from "./foreman.ts";
export { endEnvironments, sweepEnvironments } from "./leftovers.ts";
export type { Assignment, Office, RunEnd, RunnerHost, Running } from "./port.ts";
export type { RunWorld } from "./run.ts";
