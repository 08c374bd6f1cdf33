export { applyEvent, type AttachedFile, type Entry, foldHistory, type History, type OpenActivity } from "./history.ts";
export {
  continuesWanted,
  countWaiting,
  countWaitingInAll,
  hasEligible,
  promote,
  type Promotion,
  type PromotionPlace,
} from "./inbox.ts";
export { sessionProjections } from "./projections.ts";
export { openSessions, type Sessions } from "./sessions.ts";
export type { Call, CallQuestion, QuestionEnd, Turn } from "./turn.ts";
