export { HeldTerminals, type WatchedTerminal } from "./held.ts";
export { openSessionTerminals, type SessionTerminals } from "./of-sessions.ts";
export { type Terminals, terminalsOf } from "./port.ts";
export { terminalProjections } from "./projections.ts";
export { keepScrollbacks, type Scrollbacks } from "./scrollbacks.ts";
export type { TerminalWatch } from "./routes.ts";
