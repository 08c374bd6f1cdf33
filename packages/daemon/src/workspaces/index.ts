export { removeWorkspace, workspaceFolder } from "./folder.ts";
export { openInPlace } from "./in-place.ts";
export { letGoFor } from "./keep.ts";
export { prepareWorkspace, type Workspace } from "./prepare.ts";
export { workspaceProjections } from "./projection.ts";
export {
  forkPack,
  isShell,
  onlyReads,
  openSnapshots,
  snapshotProjections,
  snapshotRoutes,
  type Snapshots,
} from "./snapshots/index.ts";
export { openRoom } from "./room.ts";
export { openSpares, sparesFolder } from "./spare.ts";
export { openWorkspaces, type Workspaces } from "./workspaces.ts";
export { workspaceRoutes } from "./routes.ts";
