export {
  applyEvent,
  type AttachedFile,
  type Call,
  type CallQuestion,
  type Entry,
  foldHistory,
  type History,
  type OpenActivity,
  type QuestionEnd,
  type Turn,
} from "./history.ts";
export { countWaiting, countWaitingInAll, hasEligible, promote, type Promotion, type PromotionPlace } from "./inbox.ts";
export { sessionProjections } from "./projections.ts";
export { openSessions, type Sessions } from "./sessions.ts";
