export type { Surroundings } from "../tools/index.ts";
export { artifactPlace } from "./artifact-place.ts";
export { type AgentKinds, openKinds } from "./kinds.ts";
export { type AgentKind, type Desk, RunOver } from "./port.ts";
