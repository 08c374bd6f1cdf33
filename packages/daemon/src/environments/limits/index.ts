export { cgroupDoors, cgroupFolders, limitCgroups, makeCgroups, removeCgroups } from "./cgroup.ts";
export { type CommandWatch, type Gauge, openGauge } from "./gauge.ts";
export { freeAt, isFull, Ward, Warden, type WatchedMemory } from "./warden.ts";
export { cgroupsOf } from "./hierarchy.ts";
export { findMeans, giveWay, lacking, type Means, resourceLimits } from "./means.ts";
export { keptLimits } from "./report.ts";
export { measure } from "./measure.ts";
export { watchShare, type WatchShare } from "./watches.ts";
