export {
  applyEvent,
  type Call,
  type CallEnd,
  type Entry,
  foldHistory,
  type History,
  type OpenActivity,
  type Said,
  type Turn,
} from "./history.ts";
export { type Admission, promote, type Promotion } from "./inbox.ts";
export { sessionProjections } from "./projections.ts";
export { openSessions, type Sessions, type SessionTerms } from "./sessions.ts";
