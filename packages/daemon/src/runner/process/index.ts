export { openProcessHost } from "./host.ts";
export type { FromRunner, ToRunner } from "./messages.ts";
export { serveRuns } from "./worker.ts";
