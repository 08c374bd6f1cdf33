export { removeWorkspace, workspaceFolder } from "./folder.ts";
export { openInPlace } from "./in-place.ts";
export { letGoFor } from "./keep.ts";
export { prepareWorkspace, type Workspace } from "./prepare.ts";
export { workspaceProjections } from "./projection.ts";
export { forkPack, onlyReads, openSnapshots, snapshotProjections, type Snapshots } from "./snapshots/index.ts";
export { openSpares, sparesFolder } from "./spare.ts";
export { usualContainerFrom } from "./usual-container.ts";
export type { Workspaces } from "./workspaces.ts";
