export { openProcessHost } from "./host.ts";
export { endLeftRunners } from "./left-runners.ts";
export { openLifeline } from "./lifeline.ts";
export { serveRuns } from "./worker.ts";
export { reachByDaemon } from "./reaching.ts";
