import type { RuleId, StreamFilter, TraceId } from "@corral/protocol";
import type {
  Admission,
  AdmitInput,
  AnswerQuestion,
  Attachment,
  AuditEntry,
  AuditPage,
  BeginSession,
  ArchiveAnswer,
  ArtifactId,
  ArtifactView,
  BackupView,
  CancelQuestion,
  ChangeInput,
  CheckRules,
  ClosedShell,
  ChainReport,
  CommandId,
  CommandView,
  BringBackAnswer,
  BringBackWorkspace,
  ConfigView,
  ContinueAnswer,
  ContinueSession,
  CreatedToken,
  CredentialAnswer,
  CredentialTest,
  CredentialView,
  CreateSession,
  CreateToken,
  DaemonStatus,
  DecideQueue,
  DecideRecovery,
  DecideSetup,
  DeleteAnswer,
  DiscardAnswer,
  DiscardWorkspace,
  DoctorReport,
  EventPage,
  ForgetAnswer,
  FoundSession,
  Health,
  InboxView,
  InputChanged,
  InputId,
  InterruptAnswer,
  InterruptSession,
  Judgement,
  LoginAnswer,
  LoginCode,
  LogoutAnswer,
  ModelView,
  NetworkView,
  OpenShellWish,
  OpenTerminalWish,
  MergeAnswer,
  MergeWorkspace,
  ProjectId,
  ProjectView,
  QuestionAnswered,
  QuestionCancelled,
  QuestionId,
  QuestionView,
  QueueAnswer,
  RecoveryAnswer,
  RegisteredProject,
  RegisterProject,
  RenameAnswer,
  RenameSession,
  RestoreAnswer,
  RestoreSnapshot,
  RevokeAnswer,
  Route,
  KeptRule,
  RuleForgotten,
  RulesView,
  SessionBegun,
  SessionId,
  SessionView,
  SetConfig,
  SetCredential,
  ShellId,
  ShellInterruptAnswer,
  ShellView,
  SnapshotDiff,
  SnapshotId,
  SnapshotView,
  StartCommand,
  SetupAnswer,
  StopAnswer,
  StopDaemon,
  TerminalId,
  TerminalView,
  TakeSnapshotAnswer,
  TokenId,
  TokenView,
  TrustFiles,
  TrustView,
  UpgradeAnswer,
  UsageView,
  WorkspaceDiff,
} from "./api.ts";
import { type FollowCommand, followCommand } from "./command.ts";
import { type ReadArtifact, readArtifact } from "./content.ts";
import { follow, type Followed, type FollowOptions } from "./follow.ts";
import { type OpenSocket, openWebSocket } from "./socket.ts";
import { type AttachedTerminal, attachTerminal, type AttachTerminal } from "./terminal.ts";
import { type Asked, type Endpoint, type Fetch, type Sending, Transport, type Waiting } from "./transport.ts";

/** Which entries of the audit. */
export interface AuditWish {
  readonly session?: SessionId | undefined;
  readonly project?: ProjectId | undefined;
  readonly after?: number | undefined;
  /** A time, as in 2026-01-31T12:00:00Z. */
  readonly since?: string | undefined;
  readonly failed?: boolean | undefined;
  readonly flagged?: boolean | undefined;
  readonly limit?: number | undefined;
}

export interface ListQuestions {
  readonly session?: SessionId | undefined;
  readonly closed?: boolean | undefined;
}

export interface ClientOptions extends Endpoint {
  /** All requests are of this trace; without it the daemon makes one for each. */
  readonly traceId?: TraceId | undefined;
  readonly fetch?: Fetch;
  readonly openSocket?: OpenSocket;
}

/**
 * The daemon's API. Every method throws `CorralError`: what the daemon refused, or
 * `daemon.unreachable`; an aborted signal throws its reason.
 */
export interface Client {
  readonly endpoint: Endpoint;
  /** Later requests, reconnecting streams too, go there: a restarted daemon may have another port. */
  moveTo(endpoint: Endpoint): void;
  readonly projects: {
    register(wish: RegisterProject, sending?: Sending): Promise<RegisteredProject>;
    list(waiting?: Waiting): Promise<readonly ProjectView[]>;
    /** The project that the folder belongs to, if it is registered. */
    find(path: string, waiting?: Waiting): Promise<ProjectView | undefined>;
    forget(id: ProjectId, waiting?: Waiting): Promise<ForgetAnswer>;
    /** The settings that its folder brings, and which of them count. */
    trust(id: ProjectId, waiting?: Waiting): Promise<TrustView>;
    /** Lets files count by the hashes that were shown; refused with `trust.changed` when they say something else by now. */
    giveTrust(id: ProjectId, wish: TrustFiles, waiting?: Waiting): Promise<TrustView>;
  };
  readonly config: {
    get(of?: { readonly project?: ProjectId | undefined }, waiting?: Waiting): Promise<ConfigView>;
    set(change: SetConfig, waiting?: Waiting): Promise<ConfigView>;
    upgrade(of?: { readonly project?: ProjectId | undefined }, waiting?: Waiting): Promise<UpgradeAnswer>;
  };
  readonly sessions: {
    create(wish: CreateSession, sending?: Sending): Promise<SessionView>;
    /** Creates it with its first input, both or neither. Can be repeated with the same input: then it is the session that has it. */
    begin(wish: BeginSession, sending?: Sending): Promise<SessionBegun>;
    /** Without those that are archived, unless they are asked for. */
    list(waiting?: Waiting & { readonly archived?: boolean }): Promise<readonly SessionView[]>;
    get(id: SessionId, waiting?: Waiting): Promise<SessionView>;
    /** Sessions in which the words were said, the best first. */
    search(words: string, how?: Waiting & { readonly limit?: number }): Promise<readonly FoundSession[]>;
    /** Takes it away for good, with its workspace; refused with `session.busy` in the middle of an activity. */
    delete(id: SessionId, waiting?: Waiting): Promise<DeleteAnswer>;
    /** Resolves when the input is durable. Can be repeated with the same id and text. */
    admit(id: SessionId, input: AdmitInput, sending?: Sending): Promise<Admission>;
    /** Keeps an image or a text for an input that names it by what this resolves with. */
    attach(
      id: SessionId,
      file: { readonly name: string; readonly bytes: Uint8Array },
      sending?: Sending,
    ): Promise<Attachment>;
    /** What waits to be taken up, in that order. */
    inbox(id: SessionId, waiting?: Waiting): Promise<InboxView>;
    /** Cancels, edits, flips or promotes what was not taken up yet; throws what happened to it otherwise. Can be repeated. */
    change(id: SessionId, input: InputId, wish: ChangeInput, sending?: Sending): Promise<InputChanged>;
    /** Parks the queue, or lets it go on. */
    decideQueue(id: SessionId, wish: DecideQueue, sending?: Sending): Promise<QueueAnswer>;
    interrupt(id: SessionId, sending?: Sending & InterruptSession): Promise<InterruptAnswer>;
    /** Has it go on: the model is asked at least once. With `word`, an id of the sender's, it can be repeated. */
    continue(id: SessionId, sending?: Sending & { readonly word?: ContinueSession["id"] }): Promise<ContinueAnswer>;
    rename(id: SessionId, wish: RenameSession, sending?: Sending): Promise<RenameAnswer>;
    /** Off the list; nothing of it runs until somebody says something to it. */
    archive(id: SessionId, sending?: Sending): Promise<ArchiveAnswer>;
    unarchive(id: SessionId, sending?: Sending): Promise<ArchiveAnswer>;
    recover(id: SessionId, decision: DecideRecovery, sending?: Sending): Promise<RecoveryAnswer>;
    /** What it changed, what it has not committed included. */
    diff(id: SessionId, waiting?: Waiting): Promise<WorkspaceDiff>;
    /** Brings what is in its workspace now into the user's repository, as a branch. */
    bringBack(id: SessionId, wish?: BringBackWorkspace, sending?: Sending): Promise<BringBackAnswer>;
    /** Refused with `workspace.conflict` or `workspace.overlap`, before anything is touched. */
    merge(id: SessionId, wish?: MergeWorkspace, sending?: Sending): Promise<MergeAnswer>;
    /** Moves its workspace aside; with `undo` back again. */
    discard(id: SessionId, wish?: DiscardWorkspace, sending?: Sending): Promise<DiscardAnswer>;
    decideSetup(id: SessionId, wish: DecideSetup, sending?: Sending): Promise<SetupAnswer>;
    events(id: SessionId, page?: Page): Promise<EventPage>;
  };
  /** What sessions ask the operator. */
  readonly questions: {
    /** Those that wait for an answer, oldest first; with `closed` those that have had one, too. */
    list(of?: ListQuestions, waiting?: Waiting): Promise<readonly QuestionView[]>;
    get(id: QuestionId, waiting?: Waiting): Promise<QuestionView>;
    /** Refused with `question.closed` when another answer came first. Can be repeated with the same id. */
    answer(id: QuestionId, answer: AnswerQuestion, sending?: Sending): Promise<QuestionAnswered>;
    cancel(id: QuestionId, wish?: CancelQuestion, sending?: Sending): Promise<QuestionCancelled>;
  };
  /** Files that came out of the work in sessions and shells. */
  readonly artifacts: {
    list(owner: ArtifactView["owner"], waiting?: Waiting): Promise<readonly ArtifactView[]>;
    get(id: ArtifactId, waiting?: Waiting): Promise<ArtifactView>;
    /** Its bytes, or a part of them, as they come. */
    read(id: ArtifactId, how?: ReadArtifact): AsyncGenerator<Uint8Array, void, undefined>;
  };
  /** What workspaces held, moment by moment. */
  readonly snapshots: {
    /** Of one session or person's shell, oldest first. */
    list(of: SessionId | ShellId, waiting?: Waiting): Promise<readonly SnapshotView[]>;
    get(id: SnapshotId, waiting?: Waiting): Promise<SnapshotView>;
    /** Keeps what its workspace holds now. */
    take(of: SessionId | ShellId, sending?: Sending): Promise<TakeSnapshotAnswer>;
    /** To another one of the same session or shell; without: to the files as they are now. */
    diff(id: SnapshotId, to?: SnapshotId, waiting?: Waiting): Promise<SnapshotDiff>;
    /** All files, or some. Refused with `session.busy` in the middle of an activity, `workspace.busy` while a shell's command runs; restoring `before` undoes it. */
    restore(id: SnapshotId, wish?: RestoreSnapshot, sending?: Sending): Promise<RestoreAnswer>;
  };
  /** A person's own shells. */
  readonly shells: {
    open(wish?: OpenShellWish, sending?: Sending): Promise<ShellView>;
    list(waiting?: Waiting): Promise<readonly ShellView[]>;
    get(id: ShellId, waiting?: Waiting): Promise<ShellView>;
    /** Resolves when its start is durable. Can be repeated with the same id and text. */
    start(id: ShellId, command: StartCommand, sending?: Sending): Promise<CommandView>;
    /** How a command stands, at once or after so many seconds at most. */
    look(id: ShellId, command: CommandId, waiting?: Waiting & { readonly waitSeconds?: number }): Promise<CommandView>;
    /** Until it has ended; a broken connection is taken up again. */
    follow(id: ShellId, command: CommandId, following?: FollowCommand): Promise<CommandView>;
    /** Without a command: all that runs or waits in it. */
    interrupt(id: ShellId, sending?: Sending & { readonly command?: CommandId }): Promise<ShellInterruptAnswer>;
    close(id: ShellId, waiting?: Waiting): Promise<ClosedShell>;
  };
  /** What agents may do without asking, and why. */
  readonly rules: {
    view(
      of?: {
        readonly project?: ProjectId | undefined;
        readonly session?: SessionId | undefined;
        readonly agent?: string | undefined;
      },
      waiting?: Waiting,
    ): Promise<RulesView>;
    /** Explains a verdict; nothing is done. */
    check(call: CheckRules, waiting?: Waiting): Promise<Judgement>;
    /** What people said "always" to, the oldest first. */
    kept(of?: { readonly project?: ProjectId | undefined }, waiting?: Waiting): Promise<KeptRule[]>;
    /** Takes an "always" back, from the next call on; throws `not-found`. */
    forget(id: RuleId, waiting?: Waiting): Promise<RuleForgotten>;
  };
  /** What agents and people ran, and whether the record of it is as it was written. */
  readonly audit: {
    /** A page behind a cursor, or, without one, the newest. */
    list(query?: AuditWish, waiting?: Waiting): Promise<AuditPage>;
    get(id: AuditEntry["id"], waiting?: Waiting): Promise<AuditEntry>;
    /** The newest link of the chain, to be kept elsewhere. */
    head(waiting?: Waiting): Promise<string>;
    /** Goes over the whole chain; `head` is one that was kept elsewhere. */
    verify(kept?: { readonly head?: string | undefined }, waiting?: Waiting): Promise<ChainReport>;
  };
  /** Terminals in the environments of people's shells and of sessions, by the id of either. */
  readonly terminals: {
    open(of: ShellId | SessionId, wish?: OpenTerminalWish, sending?: Sending): Promise<TerminalView>;
    /** All that there were, the newest last; without an id those that are open, wherever they are. */
    list(of?: ShellId | SessionId, waiting?: Waiting): Promise<readonly TerminalView[]>;
    get(of: ShellId | SessionId, id: TerminalId, waiting?: Waiting): Promise<TerminalView>;
    /** Watches it and types into it. Several may. */
    attach(of: ShellId | SessionId, id: TerminalId, attaching: AttachTerminal): AttachedTerminal;
    close(of: ShellId | SessionId, id: TerminalId, waiting?: Waiting): Promise<TerminalView>;
  };
  /** Which hosts sessions have reached, or were refused. */
  network(of?: { readonly session?: SessionId | undefined }, waiting?: Waiting): Promise<NetworkView>;
  /** Models with what is known of them. */
  models(waiting?: Waiting): Promise<readonly ModelView[]>;
  /** What models were asked and what it cost. */
  usage(by?: UsageView["by"], waiting?: Waiting): Promise<UsageView>;
  /** Keys of providers: they go in and never come out. */
  readonly credentials: {
    list(waiting?: Waiting): Promise<readonly CredentialView[]>;
    put(provider: string, credential: SetCredential, waiting?: Waiting): Promise<CredentialAnswer>;
    remove(provider: string, waiting?: Waiting): Promise<CredentialAnswer>;
    /** Whether the provider takes the key. */
    test(provider: string, sending?: Sending): Promise<CredentialTest>;
  };
  readonly tokens: {
    /** The answer holds the secret, which is told this once. */
    create(wish: CreateToken, sending?: Sending): Promise<CreatedToken>;
    list(waiting?: Waiting): Promise<readonly TokenView[]>;
    revoke(id: TokenId, sending?: Sending): Promise<RevokeAnswer>;
  };
  readonly login: {
    /** A code for one browser, good for one use within a minute. */
    issue(waiting?: Waiting): Promise<LoginCode>;
    /** What the page does with the code; from then on the browser's cookie stands for the token. */
    enter(code: string, waiting?: Waiting): Promise<LoginAnswer>;
    leave(waiting?: Waiting): Promise<LogoutAnswer>;
  };
  readonly daemon: {
    stop(wish?: StopDaemon, waiting?: Waiting): Promise<StopAnswer>;
    status(waiting?: Waiting): Promise<DaemonStatus>;
    /** Makes a copy of the log, in a file below the daemon's home. */
    backup(sending?: Sending): Promise<BackupView>;
    /** Examines the machine as the daemon finds it; takes a moment, for a jail is really tried. */
    doctor(waiting?: Waiting): Promise<DoctorReport>;
    /** Sends no token, so it may be asked of a stranger. */
    health(waiting?: Waiting): Promise<Health>;
  };
  /** A page of the events of all streams. The end for now is a `next` that is no further than `after`. */
  events(page?: Page & Pick<StreamFilter, "session">): Promise<EventPage>;
  /**
   * Events after the cursor and those to come, each once and in order, with deltas in between; ends
   * when the signal aborts. A broken connection is taken up again where it broke.
   */
  follow(options: FollowOptions): AsyncGenerator<Followed, void, undefined>;
}

/** What comes in the place of events that are no longer kept is the answer's `gap`. */
export interface Page extends Waiting, Pick<StreamFilter, "project" | "types"> {
  readonly after?: number;
  readonly limit?: number;
}

export function createClient({
  url,
  token,
  traceId,
  fetch: fetcher = globalThis.fetch.bind(globalThis),
  openSocket = openWebSocket,
}: ClientOptions): Client {
  const transport = new Transport({ url, token }, fetcher, traceId);
  const ask = <R extends Route>(route: R, asked: Asked<R>) => transport.ask(route, asked);

  return {
    get endpoint() {
      return transport.endpoint;
    },
    moveTo(endpoint) {
      transport.endpoint = endpoint;
    },
    projects: {
      register: (body, sending) => ask("POST /api/projects", { ...sending, body }),
      list: async (waiting) => (await ask("GET /api/projects", { ...waiting, query: {} })).projects,
      find: async (path, waiting) => (await ask("GET /api/projects", { ...waiting, query: { path } })).projects[0],
      forget: (id, waiting) => ask("POST /api/projects/{id}/forget", { ...waiting, path: { id } }),
      trust: (id, waiting) => ask("GET /api/projects/{id}/trust", { ...waiting, path: { id } }),
      giveTrust: (id, body, waiting) => ask("POST /api/projects/{id}/trust", { ...waiting, path: { id }, body }),
    },
    config: {
      get: (query = {}, waiting) => ask("GET /api/config", { ...waiting, query }),
      set: (body, waiting) => ask("PUT /api/config", { ...waiting, body }),
      upgrade: (body = {}, waiting) => ask("POST /api/config/upgrade", { ...waiting, body }),
    },
    sessions: {
      create: (body, sending) => ask("POST /api/sessions", { ...sending, body }),
      begin: (body, sending) => ask("POST /api/sessions/begin", { ...sending, body }),
      list: async ({ archived = false, ...waiting } = {}) =>
        (await ask("GET /api/sessions", { ...waiting, query: archived ? { archived: "1" } : {} })).sessions,
      search: async (words, { limit, ...waiting } = {}) =>
        (await ask("GET /api/sessions/search", { ...waiting, query: { words, limit } })).found,
      get: (id, waiting) => ask("GET /api/sessions/{id}", { ...waiting, path: { id } }),
      delete: (id, waiting) => ask("DELETE /api/sessions/{id}", { ...waiting, path: { id } }),
      attach: (id, { name, bytes }, sending) =>
        ask("POST /api/sessions/{id}/attachments", {
          ...sending,
          path: { id },
          body: { name, base64: toBase64(bytes) },
        }),
      admit: (id, body, sending) => ask("POST /api/sessions/{id}/inputs", { ...sending, path: { id }, body }),
      inbox: (id, waiting) => ask("GET /api/sessions/{id}/inputs", { ...waiting, path: { id } }),
      change: (id, input, body, sending) =>
        ask("POST /api/sessions/{id}/inputs/{input}", { ...sending, path: { id, input }, body }),
      decideQueue: (id, body, sending) => ask("POST /api/sessions/{id}/queue", { ...sending, path: { id }, body }),
      interrupt: (id, { at, ...sending } = {}) =>
        ask("POST /api/sessions/{id}/interrupt", { ...sending, path: { id }, body: { at } }),
      continue: (id, { word, ...sending } = {}) =>
        ask("POST /api/sessions/{id}/continue", {
          ...sending,
          path: { id },
          body: word === undefined ? {} : { id: word },
        }),
      rename: (id, body, sending) => ask("POST /api/sessions/{id}/rename", { ...sending, path: { id }, body }),
      archive: (id, sending) => ask("POST /api/sessions/{id}/archive", { ...sending, path: { id } }),
      unarchive: (id, sending) => ask("POST /api/sessions/{id}/unarchive", { ...sending, path: { id } }),
      recover: (id, body, sending) => ask("POST /api/sessions/{id}/recovery", { ...sending, path: { id }, body }),
      diff: (id, waiting) => ask("GET /api/sessions/{id}/diff", { ...waiting, path: { id } }),
      bringBack: (id, body = {}, sending) =>
        ask("POST /api/sessions/{id}/bring-back", { ...sending, path: { id }, body }),
      merge: (id, body = {}, sending) => ask("POST /api/sessions/{id}/merge", { ...sending, path: { id }, body }),
      discard: (id, body = {}, sending) => ask("POST /api/sessions/{id}/discard", { ...sending, path: { id }, body }),
      decideSetup: (id, body, sending) => ask("POST /api/sessions/{id}/setup", { ...sending, path: { id }, body }),
      events: (id, { signal, types, ...page } = {}) =>
        ask("GET /api/sessions/{id}/events", { signal, path: { id }, query: { ...page, types: types?.join(",") } }),
    },
    questions: {
      list: async ({ session, closed = false } = {}, waiting) =>
        (await ask("GET /api/questions", { ...waiting, query: { session, ...(closed && { closed: "1" as const }) } }))
          .questions,
      get: (id, waiting) => ask("GET /api/questions/{id}", { ...waiting, path: { id } }),
      answer: (id, body, sending) => ask("POST /api/questions/{id}/answer", { ...sending, path: { id }, body }),
      cancel: (id, body = {}, sending) => ask("POST /api/questions/{id}/cancel", { ...sending, path: { id }, body }),
    },
    artifacts: {
      list: async (id, waiting) =>
        isShell(id)
          ? (await ask("GET /api/shells/{id}/artifacts", { ...waiting, path: { id } })).artifacts
          : (await ask("GET /api/sessions/{id}/artifacts", { ...waiting, path: { id } })).artifacts,
      get: (id, waiting) => ask("GET /api/artifacts/{id}", { ...waiting, path: { id } }),
      read: (id, how) => readArtifact(transport, id, how),
    },
    snapshots: {
      list: async (id, waiting) =>
        isShell(id)
          ? (await ask("GET /api/shells/{id}/snapshots", { ...waiting, path: { id } })).snapshots
          : (await ask("GET /api/sessions/{id}/snapshots", { ...waiting, path: { id } })).snapshots,
      get: (id, waiting) => ask("GET /api/snapshots/{id}", { ...waiting, path: { id } }),
      take: (id, sending) =>
        isShell(id)
          ? ask("POST /api/shells/{id}/snapshots", { ...sending, path: { id } })
          : ask("POST /api/sessions/{id}/snapshots", { ...sending, path: { id } }),
      diff: (id, to, waiting) => ask("GET /api/snapshots/{id}/diff", { ...waiting, path: { id }, query: { to } }),
      restore: (id, body = {}, sending) => ask("POST /api/snapshots/{id}/restore", { ...sending, path: { id }, body }),
    },
    shells: {
      open: (body = {}, sending) => ask("POST /api/shells", { ...sending, body }),
      list: async (waiting) => (await ask("GET /api/shells", { ...waiting })).shells,
      get: (id, waiting) => ask("GET /api/shells/{id}", { ...waiting, path: { id } }),
      start: (id, body, sending) => ask("POST /api/shells/{id}/commands", { ...sending, path: { id }, body }),
      look: (id, command, { waitSeconds = 0, ...waiting } = {}) =>
        ask("GET /api/shells/{id}/commands/{command}", {
          ...waiting,
          path: { id, command },
          query: { wait: waitSeconds },
        }),
      follow: (shell, command, following = {}) => followCommand(transport, { shell, command }, following),
      interrupt: (id, { command, ...sending } = {}) =>
        ask("POST /api/shells/{id}/interrupt", { ...sending, path: { id }, body: { command } }),
      close: (id, waiting) => ask("DELETE /api/shells/{id}", { ...waiting, path: { id } }),
    },
    audit: {
      list: ({ failed, flagged, ...query } = {}, waiting) => {
        const only = {
          ...(failed === true && { failed: "1" as const }),
          ...(flagged === true && { flagged: "1" as const }),
        };
        return ask("GET /api/audit", { ...waiting, query: { ...query, ...only } });
      },
      get: (id, waiting) => ask("GET /api/audit/entries/{id}", { ...waiting, path: { id } }),
      head: async (waiting) => (await ask("GET /api/audit/head", { ...waiting })).head,
      verify: (query = {}, waiting) => ask("GET /api/audit/verify", { ...waiting, query }),
    },
    terminals: {
      open: (id, body = {}, sending) =>
        isSession(id)
          ? ask("POST /api/sessions/{id}/terminals", { ...sending, path: { id }, body })
          : ask("POST /api/shells/{id}/terminals", { ...sending, path: { id }, body }),
      list: async (id, waiting) => {
        if (id === undefined) return (await ask("GET /api/terminals", { ...waiting })).terminals;
        const answer = isSession(id)
          ? ask("GET /api/sessions/{id}/terminals", { ...waiting, path: { id } })
          : ask("GET /api/shells/{id}/terminals", { ...waiting, path: { id } });
        return (await answer).terminals;
      },
      get: (id, terminal, waiting) =>
        isSession(id)
          ? ask("GET /api/sessions/{id}/terminals/{terminal}", { ...waiting, path: { id, terminal } })
          : ask("GET /api/shells/{id}/terminals/{terminal}", { ...waiting, path: { id, terminal } }),
      attach: (of, terminal, attaching) => attachTerminal({ transport, openSocket }, { of, terminal }, attaching),
      close: (id, terminal, waiting) =>
        isSession(id)
          ? ask("DELETE /api/sessions/{id}/terminals/{terminal}", { ...waiting, path: { id, terminal } })
          : ask("DELETE /api/shells/{id}/terminals/{terminal}", { ...waiting, path: { id, terminal } }),
    },
    network: (query = {}, waiting) => ask("GET /api/network", { ...waiting, query }),
    rules: {
      view: (query = {}, waiting) => ask("GET /api/rules", { ...waiting, query }),
      check: (body, waiting) => ask("POST /api/rules/check", { ...waiting, body }),
      kept: async (query = {}, waiting) => (await ask("GET /api/rules/kept", { ...waiting, query })).rules,
      forget: (id, waiting) => ask("DELETE /api/rules/kept/{id}", { ...waiting, path: { id } }),
    },
    models: async (waiting) => (await ask("GET /api/models", { ...waiting })).models,
    usage: (by = "model", waiting) => ask("GET /api/usage", { ...waiting, query: { by } }),
    credentials: {
      list: async (waiting) => (await ask("GET /api/credentials", { ...waiting })).credentials,
      put: (provider, body, waiting) =>
        ask("PUT /api/credentials/{provider}", { ...waiting, path: { provider }, body }),
      remove: (provider, waiting) => ask("DELETE /api/credentials/{provider}", { ...waiting, path: { provider } }),
      test: (provider, sending) => ask("POST /api/credentials/{provider}/test", { ...sending, path: { provider } }),
    },
    tokens: {
      create: (body, sending) => ask("POST /api/tokens", { ...sending, body }),
      list: async (waiting) => (await ask("GET /api/tokens", { ...waiting })).tokens,
      revoke: (id, sending) => ask("POST /api/tokens/{id}/revoke", { ...sending, path: { id } }),
    },
    login: {
      issue: (waiting) => ask("POST /api/login/codes", { ...waiting }),
      enter: (code, waiting) => ask("POST /api/login", { ...waiting, body: { code } }),
      leave: (waiting) => ask("POST /api/logout", { ...waiting }),
    },
    daemon: {
      stop: (body = {}, waiting) => ask("POST /api/daemon/stop", { ...waiting, body }),
      status: (waiting) => ask("GET /api/status", { ...waiting }),
      backup: (sending) => ask("POST /api/backups", { ...sending }),
      doctor: (waiting) => ask("GET /api/doctor", { ...waiting }),
      health: (waiting) => ask("GET /healthz", { ...waiting, open: true }),
    },
    events: ({ signal, types, ...page } = {}) =>
      ask("GET /api/events", { signal, query: { ...page, types: types?.join(",") } }),
    follow: (options) => follow(transport, openSocket, options),
  };
}

function isSession(id: ShellId | SessionId): id is SessionId {
  return id.startsWith("ses_");
}

function isShell(owner: ArtifactView["owner"]): owner is ShellId {
  return owner.startsWith("shl_");
}

/** In pieces: what is spread into a call must not be too long. */
function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
