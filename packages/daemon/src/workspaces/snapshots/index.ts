export { forkPack } from "./places.ts";
export { snapshotProjections } from "./projection.ts";
export { openSnapshots, type Snapshots } from "./snapshots.ts";
