export { type DaemonInfo, daemonInfo, type StopDaemon, stopDaemon } from "./daemon.ts";
export {
  type CommandResult,
  commandResult,
  type EnvironmentKind,
  environmentKind,
  type EnvironmentState,
  environmentState,
  type EnvironmentWish,
  environmentWish,
  type Network,
  network,
  type ProcessIdentity,
  processIdentity,
} from "./environment.ts";
export { CorralError, type ErrorCode, type ErrorDetails, errorStatus, type Problem, problem, type Retry } from "./error.ts";
export {
  event,
  type EventData,
  eventData,
  type EventEnvelope,
  eventEnvelope,
  type EventType,
  isKnown,
  type NewEvent,
  type StoredEvent,
  type StoredEventOf,
  type WireEvent,
  wireEvent,
} from "./event.ts";
export {
  type ActivityId,
  activityId,
  type CallId,
  callId,
  type EnvironmentId,
  environmentId,
  type Id,
  type IdKind,
  type InputId,
  inputId,
  newId,
  type PartId,
  partId,
  type ProjectId,
  projectId,
  type SessionId,
  sessionId,
  type TurnId,
  turnId,
} from "./id.ts";
export { type AdmitInput, admitInput, type Attachment, attachment, type Delivery, delivery, type InputView, inputView } from "./input.ts";
export { type Delta, delta } from "./live.ts";
export { type ProjectView, projectView, type RegisterProject, registerProject } from "./project.ts";
export {
  type CreateSession,
  createSession,
  type DecideRecovery,
  decideRecovery,
  type Mode,
  mode,
  type SessionState,
  sessionState,
  type SessionView,
  sessionView,
  type WorkspaceKind,
  workspaceKind,
} from "./session.ts";
export { type Usage, usage } from "./usage.ts";
