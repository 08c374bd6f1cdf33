export { openProcessHost } from "./host.ts";
export type { ToRunner } from "./messages.ts";
export { serveRuns } from "./worker.ts";
