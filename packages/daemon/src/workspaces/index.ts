export { prepareWorkspace, type Workspace, type WorkspaceWish } from "./prepare.ts";
