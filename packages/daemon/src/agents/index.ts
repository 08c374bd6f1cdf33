export type { Surroundings } from "../tools/index.ts";
export { type AgentKind, type Desk, RunOver } from "./port.ts";
