import {
  type Admission,
  admission,
  type AdmitInput,
  type ClosedShell,
  closedShell,
  type CommandId,
  type CommandView,
  commandView,
  type ConfigView,
  configView,
  type CreatedToken,
  createdToken,
  type CreateSession,
  type CreateToken,
  type DaemonStatus,
  daemonStatus,
  type DecideRecovery,
  type DoctorReport,
  doctorReport,
  eventPage,
  type EventPage,
  type ForgetAnswer,
  forgetAnswer,
  health,
  type Health,
  interruptAnswer,
  type InterruptAnswer,
  loginAnswer,
  type LoginAnswer,
  loginCode,
  type LoginCode,
  logoutAnswer,
  type LogoutAnswer,
  type OpenShellWish,
  projectList,
  type ProjectId,
  type ProjectView,
  type RecoveryAnswer,
  recoveryAnswer,
  type RegisteredProject,
  registeredProject,
  type RegisterProject,
  type RevokeAnswer,
  revokeAnswer,
  type SessionId,
  sessionList,
  sessionView,
  type SessionView,
  type SetConfig,
  type ShellId,
  type ShellInterruptAnswer,
  shellInterruptAnswer,
  shellList,
  type ShellView,
  shellView,
  type StartCommand,
  type StopAnswer,
  stopAnswer,
  type StopDaemon,
  type StreamFilter,
  type TokenId,
  tokenList,
  type TokenView,
  type TraceId,
  type TrustFiles,
  type TrustView,
  trustView,
  type UpgradeAnswer,
  upgradeAnswer,
} from "@corral/protocol";
import { type FollowCommand, followCommand } from "./command.ts";
import { follow, type Followed, type FollowOptions } from "./follow.ts";
import { queryOf } from "./query.ts";
import { type Endpoint, type Fetch, Transport } from "./transport.ts";

export interface ClientOptions extends Endpoint {
  /** All requests are of this trace; without it the daemon makes one for each. */
  readonly traceId?: TraceId | undefined;
  readonly fetch?: Fetch;
}

export interface Waiting {
  readonly signal?: AbortSignal;
}

/** With a key, sending it again is harmless: the first answer comes again. */
export interface Sending extends Waiting {
  readonly key?: string;
}

/** These are needed; the others have defaults on the daemon's side. */
type Needs<T, K extends keyof T> = Pick<T, K> & { readonly [P in keyof T]?: T[P] | undefined };

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
    set(change: Needs<SetConfig, "key" | "value">, waiting?: Waiting): Promise<ConfigView>;
    upgrade(of?: { readonly project?: ProjectId | undefined }, waiting?: Waiting): Promise<UpgradeAnswer>;
  };
  readonly sessions: {
    create(wish: Needs<CreateSession, "projectId">, sending?: Sending): Promise<SessionView>;
    list(waiting?: Waiting): Promise<readonly SessionView[]>;
    get(id: SessionId, waiting?: Waiting): Promise<SessionView>;
    /** Resolves when the input is durable. Can be repeated with the same id and text. */
    admit(id: SessionId, input: Needs<AdmitInput, "id" | "text">, sending?: Sending): Promise<Admission>;
    interrupt(id: SessionId, sending?: Sending): Promise<InterruptAnswer>;
    recover(id: SessionId, decision: DecideRecovery, sending?: Sending): Promise<RecoveryAnswer>;
    events(id: SessionId, page?: Page): Promise<EventPage>;
  };
  /** A person's own shells. */
  readonly shells: {
    open(wish?: Partial<Needs<OpenShellWish, never>>, sending?: Sending): Promise<ShellView>;
    list(waiting?: Waiting): Promise<readonly ShellView[]>;
    get(id: ShellId, waiting?: Waiting): Promise<ShellView>;
    /** Resolves when its start is durable. Can be repeated with the same id and text. */
    start(id: ShellId, command: Needs<StartCommand, "id" | "text">, sending?: Sending): Promise<CommandView>;
    /** How a command stands, at once or after so many seconds at most. */
    look(id: ShellId, command: CommandId, waiting?: Waiting & { readonly waitSeconds?: number }): Promise<CommandView>;
    /** Until it has ended; a broken connection is taken up again. */
    follow(id: ShellId, command: CommandId, following?: FollowCommand): Promise<CommandView>;
    interrupt(id: ShellId, sending?: Sending): Promise<ShellInterruptAnswer>;
    close(id: ShellId, waiting?: Waiting): Promise<ClosedShell>;
  };
  readonly tokens: {
    /** The answer holds the secret, which is told this once. */
    create(wish: Needs<CreateToken, "name">, sending?: Sending): Promise<CreatedToken>;
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
    stop(wish?: Partial<StopDaemon>, waiting?: Waiting): Promise<StopAnswer>;
    status(waiting?: Waiting): Promise<DaemonStatus>;
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

export interface Page extends Waiting, Pick<StreamFilter, "project" | "types"> {
  readonly after?: number;
  readonly limit?: number;
}

export function createClient({
  url,
  token,
  traceId,
  fetch: fetcher = globalThis.fetch.bind(globalThis),
}: ClientOptions): Client {
  const transport = new Transport({ url, token }, fetcher, traceId);
  const get = <T>(path: string, schema: { parse(value: unknown): T }, { signal }: Waiting = {}) =>
    transport.ask({ method: "GET", path, signal }, schema);
  const post = <T>(path: string, body: unknown, schema: { parse(value: unknown): T }, { signal, key }: Sending = {}) =>
    transport.ask(
      { method: "POST", path, body, signal, ...(key === undefined ? {} : { headers: { "idempotency-key": key } }) },
      schema,
    );

  return {
    get endpoint() {
      return transport.endpoint;
    },
    moveTo(endpoint) {
      transport.endpoint = endpoint;
    },
    projects: {
      register: (wish, waiting) => post("/api/projects", wish, registeredProject, waiting),
      list: async (waiting) => (await get("/api/projects", projectList, waiting)).projects,
      find: async (path, waiting) =>
        (await get(`/api/projects?path=${encodeURIComponent(path)}`, projectList, waiting)).projects[0],
      forget: (id, waiting) => post(`${projectPath(id)}/forget`, {}, forgetAnswer, waiting),
      trust: (id, waiting) => get(`${projectPath(id)}/trust`, trustView, waiting),
      giveTrust: (id, wish, waiting) => post(`${projectPath(id)}/trust`, wish, trustView, waiting),
    },
    config: {
      get: ({ project } = {}, waiting) =>
        get(
          `/api/config${project === undefined ? "" : `?project=${encodeURIComponent(project)}`}`,
          configView,
          waiting,
        ),
      set: (change, { signal } = {}) =>
        transport.ask({ method: "PUT", path: "/api/config", body: change, signal }, configView),
      upgrade: (of = {}, waiting) => post("/api/config/upgrade", of, upgradeAnswer, waiting),
    },
    sessions: {
      create: (wish, waiting) => post("/api/sessions", wish, sessionView, waiting),
      list: async (waiting) => (await get("/api/sessions", sessionList, waiting)).sessions,
      get: (id, waiting) => get(sessionPath(id), sessionView, waiting),
      admit: (id, input, waiting) => post(`${sessionPath(id)}/inputs`, input, admission, waiting),
      interrupt: (id, waiting) => post(`${sessionPath(id)}/interrupt`, {}, interruptAnswer, waiting),
      recover: (id, decision, waiting) => post(`${sessionPath(id)}/recovery`, decision, recoveryAnswer, waiting),
      events: (id, page = {}) => get(`${sessionPath(id)}/events${pageQuery(page)}`, eventPage, page),
    },
    shells: {
      open: (wish = {}, sending) => post("/api/shells", wish, shellView, sending),
      list: async (waiting) => (await get("/api/shells", shellList, waiting)).shells,
      get: (id, waiting) => get(shellPath(id), shellView, waiting),
      start: (id, command, sending) => post(`${shellPath(id)}/commands`, command, commandView, sending),
      look: (id, command, { waitSeconds = 0, ...waiting } = {}) =>
        get(`${shellPath(id)}/commands/${encodeURIComponent(command)}?wait=${waitSeconds}`, commandView, waiting),
      follow: (shell, command, following = {}) => followCommand(transport, { shell, command }, following),
      interrupt: (id, sending) => post(`${shellPath(id)}/interrupt`, {}, shellInterruptAnswer, sending),
      close: (id, { signal } = {}) => transport.ask({ method: "DELETE", path: shellPath(id), signal }, closedShell),
    },
    tokens: {
      create: (wish, sending) => post("/api/tokens", wish, createdToken, sending),
      list: async (waiting) => (await get("/api/tokens", tokenList, waiting)).tokens,
      revoke: (id, sending) => post(`/api/tokens/${encodeURIComponent(id)}/revoke`, {}, revokeAnswer, sending),
    },
    login: {
      issue: (waiting) => post("/api/login/codes", {}, loginCode, waiting),
      enter: (code, waiting) => post("/api/login", { code }, loginAnswer, waiting),
      leave: (waiting) => post("/api/logout", {}, logoutAnswer, waiting),
    },
    daemon: {
      stop: (wish = {}, waiting) => post("/api/daemon/stop", wish, stopAnswer, waiting),
      status: (waiting) => get("/api/status", daemonStatus, waiting),
      doctor: (waiting) => get("/api/doctor", doctorReport, waiting),
      health: ({ signal } = {}) => transport.ask({ method: "GET", path: "/healthz", signal, open: true }, health),
    },
    events: (page = {}) => get(`/api/events${pageQuery(page)}`, eventPage, page),
    follow: (options) => follow(transport, options),
  };
}

function projectPath(id: ProjectId): string {
  return `/api/projects/${encodeURIComponent(id)}`;
}

function sessionPath(id: SessionId): string {
  return `/api/sessions/${encodeURIComponent(id)}`;
}

function shellPath(id: ShellId): string {
  return `/api/shells/${encodeURIComponent(id)}`;
}

function pageQuery({ after, limit, session, project, types }: Page & Pick<StreamFilter, "session">): string {
  const query = queryOf({ after, limit, session, project, types: types?.join(",") });
  return query === "" ? "" : `?${query}`;
}
