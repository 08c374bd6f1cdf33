export { isShell } from "./occupant.ts";
export { forkPack } from "./places.ts";
export { snapshotProjections } from "./projection.ts";
export { onlyReads } from "./reading.ts";
export { openSnapshots, type Snapshots } from "./snapshots.ts";
export { snapshotRoutes } from "./routes.ts";
