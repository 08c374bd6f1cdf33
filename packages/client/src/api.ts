import type { Api } from "./generated.ts";

/** A method and a path of the daemon's API, as in `GET /api/sessions/{id}`. */
export type Route = keyof Api;
export type AnswerOf<R extends Route> = Api[R]["answer"];
export type BodyOf<R extends Route> = Api[R]["body"];

/** What goes into a route: each of path, query and body where it has one. */
export type AskedOf<R extends Route> = Given<"path", Api[R]["path"]> &
  Given<"query", Api[R]["query"]> &
  Given<"body", Api[R]["body"]>;

type Given<Name extends string, T> = [T] extends [undefined | Record<string, never>]
  ? { readonly [N in Name]?: never }
  : { readonly [N in Name]: T };

/** The words of the protocol for what goes over the wire. */
export type Admission = AnswerOf<"POST /api/sessions/{id}/inputs">;
export type AdmitInput = BodyOf<"POST /api/sessions/{id}/inputs">;
export type AuditEntry = AnswerOf<"GET /api/audit/entries/{id}">;
export type AuditPage = AnswerOf<"GET /api/audit">;
export type ArchiveAnswer = AnswerOf<"POST /api/sessions/{id}/archive">;
export type ArtifactView = AnswerOf<"GET /api/artifacts/{id}">;
export type AnswerQuestion = BodyOf<"POST /api/questions/{id}/answer">;
export type BackupView = AnswerOf<"POST /api/backups">;
export type CancelQuestion = BodyOf<"POST /api/questions/{id}/cancel">;
export type ChangeInput = BodyOf<"POST /api/sessions/{id}/inputs/{input}">;
export type ChainReport = AnswerOf<"GET /api/audit/verify">;
export type ClosedShell = AnswerOf<"DELETE /api/shells/{id}">;
export type CommandView = AnswerOf<"GET /api/shells/{id}/commands/{command}">;
export type BringBackAnswer = AnswerOf<"POST /api/sessions/{id}/bring-back">;
export type BringBackWorkspace = BodyOf<"POST /api/sessions/{id}/bring-back">;
export type ConfigView = AnswerOf<"GET /api/config">;
export type ContinueSession = BodyOf<"POST /api/sessions/{id}/continue">;
export type ContinueAnswer = AnswerOf<"POST /api/sessions/{id}/continue">;
export type CreatedToken = AnswerOf<"POST /api/tokens">;
export type SessionBegun = AnswerOf<"POST /api/sessions/begin">;
export type BeginSession = BodyOf<"POST /api/sessions/begin">;
export type CreateSession = BodyOf<"POST /api/sessions">;
export type CreateToken = BodyOf<"POST /api/tokens">;
export type DaemonStatus = AnswerOf<"GET /api/status">;
export type DecideQueue = BodyOf<"POST /api/sessions/{id}/queue">;
export type DecideRecovery = BodyOf<"POST /api/sessions/{id}/recovery">;
export type DecideSetup = BodyOf<"POST /api/sessions/{id}/setup">;
export type DeleteAnswer = AnswerOf<"DELETE /api/sessions/{id}">;
export type DiscardAnswer = AnswerOf<"POST /api/sessions/{id}/discard">;
export type DiscardWorkspace = BodyOf<"POST /api/sessions/{id}/discard">;
export type DoctorReport = AnswerOf<"GET /api/doctor">;
export type EventPage = AnswerOf<"GET /api/events">;
export type ForgetAnswer = AnswerOf<"POST /api/projects/{id}/forget">;
export type FoundSession = AnswerOf<"GET /api/sessions/search">["found"][number];
export type Health = AnswerOf<"GET /healthz">;
export type InboxView = AnswerOf<"GET /api/sessions/{id}/inputs">;
export type InputChanged = AnswerOf<"POST /api/sessions/{id}/inputs/{input}">;
export type CredentialAnswer = AnswerOf<"PUT /api/credentials/{provider}">;
export type CredentialTest = AnswerOf<"POST /api/credentials/{provider}/test">;
export type CredentialView = AnswerOf<"GET /api/credentials">["credentials"][number];
export type SetCredential = BodyOf<"PUT /api/credentials/{provider}">;
export type ModelView = AnswerOf<"GET /api/models">["models"][number];
export type UsageView = AnswerOf<"GET /api/usage">;
export type InterruptAnswer = AnswerOf<"POST /api/sessions/{id}/interrupt">;
export type InterruptSession = BodyOf<"POST /api/sessions/{id}/interrupt">;
export type LoginAnswer = AnswerOf<"POST /api/login">;
export type LoginCode = AnswerOf<"POST /api/login/codes">;
export type LogoutAnswer = AnswerOf<"POST /api/logout">;
export type OpenTerminalWish = BodyOf<"POST /api/shells/{id}/terminals">;
export type NetworkView = AnswerOf<"GET /api/network">;
export type RulesView = AnswerOf<"GET /api/rules">;
export type Attachment = AnswerOf<"POST /api/sessions/{id}/attachments">;
export type KeptRule = AnswerOf<"GET /api/rules/kept">["rules"][number];
export type RuleForgotten = AnswerOf<"DELETE /api/rules/kept/{id}">;
export type CheckRules = BodyOf<"POST /api/rules/check">;
export type Judgement = AnswerOf<"POST /api/rules/check">;
export type OpenShellWish = BodyOf<"POST /api/shells">;
export type MergeAnswer = AnswerOf<"POST /api/sessions/{id}/merge">;
export type MergeWorkspace = BodyOf<"POST /api/sessions/{id}/merge">;
export type ProjectView = AnswerOf<"GET /api/projects">["projects"][number];
export type QuestionAnswered = AnswerOf<"POST /api/questions/{id}/answer">;
export type QuestionCancelled = AnswerOf<"POST /api/questions/{id}/cancel">;
export type QuestionView = AnswerOf<"GET /api/questions/{id}">;
export type QueueAnswer = AnswerOf<"POST /api/sessions/{id}/queue">;
export type RecoveryAnswer = AnswerOf<"POST /api/sessions/{id}/recovery">;
export type RegisteredProject = AnswerOf<"POST /api/projects">;
export type RegisterProject = BodyOf<"POST /api/projects">;
export type RenameAnswer = AnswerOf<"POST /api/sessions/{id}/rename">;
export type RenameSession = BodyOf<"POST /api/sessions/{id}/rename">;
export type RestoreAnswer = AnswerOf<"POST /api/snapshots/{id}/restore">;
export type RestoreSnapshot = BodyOf<"POST /api/snapshots/{id}/restore">;
export type RevokeAnswer = AnswerOf<"POST /api/tokens/{id}/revoke">;
export type SessionView = AnswerOf<"GET /api/sessions/{id}">;
export type SetConfig = BodyOf<"PUT /api/config">;
export type ShellInterruptAnswer = AnswerOf<"POST /api/shells/{id}/interrupt">;
export type ShellView = AnswerOf<"GET /api/shells/{id}">;
export type SnapshotDiff = AnswerOf<"GET /api/snapshots/{id}/diff">;
export type SnapshotView = AnswerOf<"GET /api/snapshots/{id}">;
export type StartCommand = BodyOf<"POST /api/shells/{id}/commands">;
export type SetupAnswer = AnswerOf<"POST /api/sessions/{id}/setup">;
export type StopAnswer = AnswerOf<"POST /api/daemon/stop">;
export type StopDaemon = BodyOf<"POST /api/daemon/stop">;
export type TerminalMessage = AnswerOf<"GET /api/shells/{id}/terminals/{terminal}/stream">;
export type TerminalView = AnswerOf<"GET /api/shells/{id}/terminals/{terminal}">;
export type TakeSnapshotAnswer = AnswerOf<"POST /api/sessions/{id}/snapshots">;
export type TokenView = AnswerOf<"GET /api/tokens">["tokens"][number];
export type TrustFiles = BodyOf<"POST /api/projects/{id}/trust">;
export type TrustView = AnswerOf<"GET /api/projects/{id}/trust">;
export type UpgradeAnswer = AnswerOf<"POST /api/config/upgrade">;
export type WorkspaceDiff = AnswerOf<"GET /api/sessions/{id}/diff">;

/** What the daemon says over a WebSocket. */
export type StreamMessage = AnswerOf<"GET /api/stream">;
type Told<K extends StreamMessage["kind"]> = Extract<StreamMessage, { kind: K }>;
export type Delta = Told<"delta">["delta"];
export type Gap = Told<"gap">;
export type WireEvent = Told<"event">["event"];

export type ArtifactId = ArtifactView["id"];
export type CommandId = CommandView["id"];
export type InputId = InputChanged["input"]["id"];
export type ProjectId = ProjectView["id"];
export type QuestionId = QuestionView["id"];
export type SessionId = SessionView["id"];
export type ShellId = ShellView["id"];
export type TerminalId = TerminalView["id"];
export type SnapshotId = SnapshotView["id"];
export type TokenId = TokenView["id"];
