export { prepareWorkspace } from "./prepare.ts";
