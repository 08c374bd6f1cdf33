import {
  type AdmitInput,
  CorralError,
  type CreateSession,
  type DecideRecovery,
  type EnvironmentAsked,
  type DecideSetup,
  type EnvironmentWish,
  event,
  newId,
  type ProjectId,
  type SessionId,
  type SessionState,
  type SessionView,
  type SettingValues,
  type SetupAnswer,
  type SnapshotId,
} from "@corral/protocol";
import { type By, historyOf, type Log, type Row } from "../log/index.ts";
import { foldHistory } from "./history.ts";
import { type Admission, admit } from "./inbox.ts";

/** What people and programs may do with sessions. Running them is somebody else's work: it follows the events. */
export interface Sessions {
  /**
   * Throws `not-found` for an unknown project, `jail.unavailable` where no jail can be had, `environment.unkept` for what
   * no such environment keeps, `workspace.full` where copies take too much already. With the id of a session that was made before, it is that one.
   */
  create(wish: CreateSession, by: By, id?: SessionId): Promise<SessionView>;
  get(id: SessionId): Promise<SessionView | undefined>;
  list(): Promise<readonly SessionView[]>;
  /** How many are in each state. */
  count(): Promise<Record<SessionState["state"], number>>;
  /** Durable when it resolves. Throws `not-found`. */
  admit(id: SessionId, input: AdmitInput, by: By): Promise<Admission>;
  /** Asks the running activity to end now; what it has said and done so far is kept. */
  interrupt(id: SessionId, by: By): Promise<{ readonly kind: "requested" | "nothing-running" }>;
  /** A person's word on the command that makes a new copy ready. */
  decideSetup(id: SessionId, decision: DecideSetup["decision"], by: By): Promise<SetupAnswer>;
  /** A person's word on a call whose end nobody knows. The first one counts. */
  decide(id: SessionId, decision: DecideRecovery, by: By): Promise<{ readonly kind: "decided" | "nothing-to-decide" }>;
}

export type SessionDefaults = Pick<SettingValues, "model" | "turnLimit"> &
  Partial<Pick<SettingValues, "workspace.copy" | "workspace.setup" | "workspace.setupFailure">>;

export interface SessionTerms {
  /** What a session of the project gets where nothing else is asked for. */
  defaults(project: ProjectId): Promise<SessionDefaults>;
  /** What a session that asks for this gets. Throws with the fix when such an environment cannot be opened here. */
  environment(asked: EnvironmentAsked, workspace: CreateSession["workspace"]): Promise<EnvironmentWish>;
  /** Makes ready what a session begins with that begins from a snapshot. Throws `not-found`. */
  fork?(
    snapshot: SnapshotId,
    to: { readonly project: ProjectId; readonly session: SessionId },
  ): Promise<{ readonly commit: string }>;
}

export function openSessions(log: Log, terms: SessionTerms): Sessions {
  let making: Promise<unknown> = Promise.resolve();
  return {
    async create(wish, by, id = newId("session")) {
      const { projectId, mode, workspace } = wish;
      const place = await placeIn(projectId, wish.worktree);
      if ((await log.row("sessions", id)) !== undefined) return view(id);
      const defaults = await terms.defaults(projectId);
      const { model = defaults.model, turnLimit = defaults.turnLimit } = wish;
      const environment = await terms.environment(wish.environment, workspace);
      const begins = { ...beginning(wish, defaults), ...(await forked(wish, id)) };
      const settings = { title: "", model, mode, environment, workspace, turnLimit, ...begins };
      const make = () =>
        log.append({
          stream: id,
          ...by,
          expectedVersion: 0,
          events: [event("session.created", { projectId, ...place, ...settings })],
        });
      if (workspace === "in-place") await alone(projectId, make);
      else await make();
      return view(id);
    },

    get: async (id) => {
      const seq = await log.head();
      const row = await log.row("sessions", id);
      return row === undefined ? undefined : toView(row, seq);
    },

    list: async () => {
      const seq = await log.head();
      return (await log.rows("sessions")).map((row) => toView(row, seq));
    },

    async count() {
      const counted = { idle: 0, thinking: 0, waiting: 0, failed: 0 };
      for (const row of await log.rows("sessions")) counted[stateIn(row).state] += 1;
      return counted;
    },

    async admit(id, input, by) {
      await mustExist("sessions", id, "session");
      return admit(log, id, input, by);
    },

    async interrupt(id, by) {
      const { state } = await view(id);
      if (state.state !== "thinking" && state.state !== "waiting") return { kind: "nothing-running" };
      await log.append({
        stream: id,
        ...by,
        events: [event("activity.interrupt-requested", { id: state.activityId })],
      });
      return { kind: "requested" };
    },

    async decideSetup(id, decision, by) {
      await view(id);
      const { setup } = foldHistory(await historyOf(log, id));
      const isOver = setup === undefined || (decision === "cancel" && setup.state !== "running");
      if (isOver) return { kind: "nothing-to-decide" };
      await log.append({ stream: id, ...by, events: [event("setup.decided", { decision })] });
      return { kind: "requested" };
    },

    async decide(id, { call, decision }, by) {
      const { state } = await view(id);
      if (state.state !== "waiting") return { kind: "nothing-to-decide" };
      try {
        await log.append({
          stream: id,
          ...by,
          events: [event("call.decided", { id: call, decision }), event("activity.resumed", { id: state.activityId })],
          guards: [{ table: "unknown_calls", key: call, is: { session: id } }],
        });
        return { kind: "decided" };
      } catch (error) {
        if (error instanceof CorralError && error.code === "append.conflict") return { kind: "nothing-to-decide" };
        throw error;
      }
    },
  };

  async function forked({ projectId: project, workspace, base }: CreateSession, session: SessionId) {
    if (typeof base !== "object") return {};
    if (workspace === "in-place") throw noForkInPlace();
    const made = await terms.fork?.(base.snapshot, { project, session });
    if (made === undefined) throw missing("snapshot", base.snapshot);
    return { fork: { snapshotId: base.snapshot, commit: made.commit } };
  }

  /** Of sessions that work in the project's own folder there is one at a time. */
  async function alone(project: ProjectId, make: () => Promise<unknown>): Promise<void> {
    const mine = making.then(async () => {
      const [other] = await log.rows("in_place", { where: { project }, limit: 1 });
      if (other !== undefined) throw folderTaken(other["key"] as SessionId);
      await make();
    });
    making = mine.catch(() => undefined);
    await mine;
  }

  async function view(id: SessionId): Promise<SessionView> {
    const seq = await log.head();
    const row = await log.row("sessions", id);
    if (row === undefined) throw missing("session", id);
    return toView(row, seq);
  }

  /** A session starts from the project's own folder, wherever that is by then, or from another one known to be its. */
  async function placeIn(project: ProjectId, worktree: string | undefined): Promise<{ worktree?: string }> {
    const row = await log.row("projects", project);
    if (row === undefined || row["forgotten"] === 1) throw missing("project", project);
    if (worktree === undefined || worktree === row["path"]) return {};
    const at = await log.row("project_paths", worktree);
    if (at?.["id"] !== project) throw missing("worktree of the project", worktree);
    return { worktree };
  }

  async function mustExist(table: string, key: string, noun: string): Promise<void> {
    if ((await log.row(table, key)) === undefined) throw missing(noun, key);
  }
}

/** How its workspace begins. */
function beginning({ workspace, base }: CreateSession, defaults: SessionDefaults) {
  if (workspace === "in-place") return {};
  const command = defaults["workspace.setup"] ?? "";
  const copyList = [...(defaults["workspace.copy"] ?? [])];
  return {
    ...(typeof base === "string" ? { base } : {}),
    ...(copyList.length === 0 ? {} : { copyList }),
    ...(command === "" ? {} : { setup: { command, onFailure: defaults["workspace.setupFailure"] ?? "stop" } }),
  };
}

function noForkInPlace(): CorralError {
  return new CorralError(
    "workspace.unsuitable",
    "Your own folder is as it is: only a copy can begin from a snapshot.",
    {
      hint: "Leave out --workspace in-place",
    },
  );
}

function folderTaken(other: SessionId): CorralError {
  return new CorralError("workspace.busy", `${other} works in the project's own folder already.`, {
    hint: `Go on with it, delete it (corral sessions delete ${other}), or work on a copy`,
  });
}

function missing(noun: string, id: string): CorralError {
  return new CorralError("not-found", `There is no ${noun} ${id}.`);
}

function toView(row: Row, seq: number): SessionView {
  return {
    id: row["key"] as SessionId,
    projectId: row["project"] as ProjectId,
    title: row["title"] as string,
    model: row["model"] as string,
    mode: row["mode"] as SessionView["mode"],
    environment: JSON.parse(row["environment"] as string) as SessionView["environment"],
    workspace: row["workspace"] as SessionView["workspace"],
    state: stateIn(row),
    seq,
  };
}

function stateIn(row: Row): SessionState {
  return JSON.parse(row["state"] as string) as SessionState;
}
