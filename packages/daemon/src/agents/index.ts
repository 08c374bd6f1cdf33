export { type LoopParts, openLoop } from "./loop/loop.ts";
export { type AgentKind, type Desk, RunOver, type TurnEnd } from "./port.ts";
