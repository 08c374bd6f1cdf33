export { prepareWorkspace } from "./prepare.ts";
export { removeWorkspace, workspaceFolder } from "./folder.ts";
