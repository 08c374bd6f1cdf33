export {
  applyEvent,
  type Call,
  type Entry,
  foldHistory,
  type History,
  type OpenActivity,
  type Turn,
} from "./history.ts";
export { hasEligible, promote, type Promotion, type PromotionPlace } from "./inbox.ts";
export { sessionProjections } from "./projections.ts";
export { openSessions, type Sessions } from "./sessions.ts";
