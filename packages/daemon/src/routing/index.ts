export { principalOf } from "./asking.ts";
export type { Handlers, RequestOf, SocketHandler } from "./handlers.ts";
export {
  type FindsSessions,
  type FindsShells,
  knownSession,
  knownShell,
  mustSeeSession,
  seenShell,
  seesShell,
} from "./known.ts";
export { missing } from "./missing.ts";
export { isBounded, isFullAdmin, type Principal } from "./principal.ts";
export { type KnowsWalls, requireMayDrive, requireOperator, tooNarrow } from "./reach.ts";
export { openSight, type Sight } from "./sight.ts";
