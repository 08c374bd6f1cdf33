import {
  type ActivityState,
  type AdmitInput,
  type ArchiveAnswer,
  artifactOf,
  type BeginSession,
  type CallId,
  type ChangeInput,
  type ContinueAnswer,
  type ContinueId,
  CorralError,
  type CreateSession,
  type DecideQueue,
  type DecideRecovery,
  type EnvironmentAsked,
  type DecideSetup,
  type EnvironmentWish,
  event,
  type FoundSession,
  type InboxView,
  type InputChanged,
  type InputId,
  type InterruptAnswer,
  type InterruptAt,
  type NewEvent,
  newId,
  type PlaceInLine,
  type ProjectId,
  type QuestionId,
  type QueueAnswer,
  type RenameAnswer,
  type SessionBegun,
  type SessionId,
  type SessionState,
  type SessionView,
  type SettingValues,
  type SetupAnswer,
  type SnapshotId,
  type StateFacts,
  stateFrom,
  type StoredEvent,
  type TodoItem,
  usualKind,
} from "@corral/protocol";
import { fault } from "../faults/index.ts";
import { type By, type Guard, historyOf, type Log, type Row } from "../log/index.ts";
import { foldHistory } from "./history.ts";
import {
  type Admission,
  admit,
  admittedBefore,
  change,
  countWaiting,
  countWaitingInAll,
  firstAdmission,
  isParked,
  untilItHolds,
  waitingIn,
} from "./inbox.ts";
import { type Search, searchTexts } from "./texts.ts";

/** What people and programs may do with sessions. Running them is somebody else's work: it follows the events. */
export interface Sessions {
  /**
   * Throws `not-found` for an unknown project, `jail.unavailable` where no jail can be had, `environment.unkept` for what
   * no such environment keeps, `provider.refused` for a model without a key, `workspace.full` where copies take too much already. With the id of a session that was made before, it is that one.
   */
  create(wish: CreateSession, by: By, id?: SessionId): Promise<SessionView>;
  /**
   * Creates a session with its first input, both durable when it resolves, or neither. Throws what `create` does, and `input.conflict`. With an input
   * that was admitted before it is the session that has it: whoever did not hear the answer asks again, whichever daemon that is by then.
   */
  begin(wish: BeginSession, by: By, id?: SessionId): Promise<SessionBegun>;
  get(id: SessionId): Promise<SessionView | undefined>;
  /** What it was made with, without what has become of it. */
  terms(id: SessionId): Promise<SessionMadeWith | undefined>;
  /** All of them, archived ones too. */
  list(): Promise<readonly SessionView[]>;
  /** How many are in each state. */
  count(): Promise<Record<SessionState["state"], number>>;
  /** Durable when it resolves. Throws `not-found`. Brings a session that was archived back. */
  admit(id: SessionId, input: AdmitInput, by: By): Promise<Admission>;
  /** What waits to be promoted. Throws `not-found`. */
  inbox(id: SessionId): Promise<InboxView>;
  /** Changes an input that is not promoted yet; throws what happened to it otherwise. */
  change(id: SessionId, input: InputId, wish: ChangeInput, by: By): Promise<InputChanged>;
  /** Keeps queued inputs from opening activities, or lets them again. */
  decideQueue(id: SessionId, decision: DecideQueue["decision"], by: By): Promise<QueueAnswer>;
  /**
   * Asks the running activity to end, now or at the end of its turn; what it has said and done so far is kept, and the queue
   * is parked. One that waits for a person or for a place ends at once; where none is open yet, what waits for a place is parked. Final, also when the daemon ends before it does.
   */
  interrupt(id: SessionId, by: By, at?: InterruptAt): Promise<InterruptAnswer>;
  /**
   * A person's word to go on, durable when it resolves. An activity that waits after so many turns gets as many again, one that is at work is
   * joined, and where none is open one is opened, so that the model is asked at least once. By its id it counts once. What waits for a person's
   * answer or decision waits on. Throws `not-found`, and `input.conflict` for an id of another session. Brings one that was archived back.
   */
  continue(id: SessionId, by: By, word?: ContinueId): Promise<ContinueAnswer>;
  rename(id: SessionId, title: string, by: By): Promise<RenameAnswer>;
  /** Out of the list, and nothing of it runs until a word is said to it. Throws `session.busy` in the middle of an activity. */
  archive(id: SessionId, by: By): Promise<ArchiveAnswer>;
  unarchive(id: SessionId, by: By): Promise<ArchiveAnswer>;
  /** Sessions in which the words were said. */
  search(search: Search): Promise<readonly FoundSession[]>;
  /** Hints that a session may have something to do without any event telling so. Returns the way to stop. */
  onWake(listener: (id: SessionId) => void): () => void;
  /** From now on sessions can begin from snapshots. Until then there are none. */
  forkVia(snapshots: Forks): void;
  /** From now on it is known where those stand that are in line for a place. Until then: where they stood when they came. */
  standingsFrom(line: Line): void;
  /** A person's word on the command that makes a new copy ready. */
  decideSetup(id: SessionId, decision: DecideSetup["decision"], by: By): Promise<SetupAnswer>;
  /** A person's word on a call whose end nobody knows. The first one counts. */
  decide(id: SessionId, decision: DecideRecovery, by: By): Promise<{ readonly kind: "decided" | "nothing-to-decide" }>;
}

type SessionMadeWith = Pick<SessionView, "id" | "projectId" | "agent" | "mode" | "environment" | "workspace">;

export type SessionDefaults = Pick<SettingValues, "model" | "turnLimit"> &
  Partial<Pick<SettingValues, "workspace.copy" | "workspace.setup" | "workspace.setupFailure" | "tools" | "callLimit">>;

export interface SessionTerms {
  /** What a session of the project gets where nothing else is asked for. */
  defaults(project: ProjectId): Promise<SessionDefaults>;
  /** What a session that asks for this gets. Throws with the fix when such an environment cannot be opened here. */
  environment(asked: EnvironmentAsked, workspace: CreateSession["workspace"]): Promise<EnvironmentWish>;
  /** Throws for a model that cannot be asked, as one whose provider has no key. */
  mustReach?(model: string): Promise<void>;
  /** Throws for a model that does not think, as far as is known. */
  mustThink?(model: string): void;
}

interface Forks {
  /** Makes ready what a session begins with that begins from a snapshot. Throws `not-found`. */
  fork(
    snapshot: SnapshotId,
    to: { readonly project: ProjectId; readonly session: SessionId },
  ): Promise<{ readonly commit: string }>;
}

interface Line {
  standings(): ReadonlyMap<SessionId, PlaceInLine>;
}

export function openSessions(log: Log, terms: SessionTerms): Sessions {
  let making: Promise<unknown> = Promise.resolve();
  const listeners = new Set<(id: SessionId) => void>();
  let forks: Forks | undefined;
  let inLine: Line | undefined;
  const self: Sessions = {
    forkVia: (snapshots) => void (forks = snapshots),
    standingsFrom: (line) => void (inLine = line),
    async create(wish, by, id = newId("session")) {
      await make(wish, by, id);
      return view(id);
    },

    async begin({ input, ...wish }, by, id = newId("session")) {
      const before = await begunWith(input, wish.projectId);
      if (before !== undefined) return before;
      await mustHaveAttached(input, id);
      try {
        fault("inbox.admitting");
        const stored = await make(wish, by, id, input);
        fault("inbox.admitted");
        return { session: await view(id), seq: stored.at(-1)?.seq ?? 0 };
      } catch (error) {
        // Of two who say the same at once one makes the session, and the other is told of it, also where that one has the folder by now.
        const meanwhile = isOutrun(error) ? await begunWith(input, wish.projectId) : undefined;
        if (meanwhile === undefined) throw error;
        return meanwhile;
      }
    },

    get: async (id) => {
      const seq = await log.head();
      const row = await log.row("sessions", id);
      return row === undefined ? undefined : viewOf(row, seq);
    },

    terms: async (id) => {
      const row = await log.row("sessions", id);
      return row === undefined ? undefined : madeWith(row);
    },

    async list() {
      const seq = await log.head();
      const more = await moreOfAll();
      return (await log.rows("sessions")).map((row) => toView(row, more(row["key"] as SessionId), seq));
    },

    async count() {
      const counted = { idle: 0, thinking: 0, waiting: 0, recovering: 0, failed: 0, parked: 0 };
      const more = await moreOfAll();
      for (const row of await log.rows("sessions")) counted[stateIn(row, more(row["key"] as SessionId)).state] += 1;
      return counted;
    },

    async admit(id, input, by) {
      await mustExist("sessions", id, "session");
      await mustHaveAttached(input, id);
      const admission = await admit(log, id, input, by);
      // A retry may be all that is left of a wake that was lost.
      if (admission.kind === "duplicate" && admission.input.state === "waiting") wake(id);
      return admission;
    },

    async inbox(id) {
      const { inbox, seq } = await view(id);
      return { inputs: [...(await waitingIn(log, id))], isParked: inbox.isParked, seq };
    },

    async change(id, input, wish, by) {
      await mustExist("sessions", id, "session");
      return change(log, id, input, wish, by);
    },

    async decideQueue(id, decision, by) {
      const row = await rowOf(id);
      const isDone = decision === "park" ? row["parked_by_person"] !== null : !isParked(row);
      if (isDone) return { kind: "unchanged" };
      const kind = decision === "park" ? "parked" : "resumed";
      await log.append({ stream: id, ...by, events: [event(`queue.${kind}`, {})], guards: [isThere(id)] });
      return { kind };
    },

    async interrupt(id, by, at = "now") {
      const row = await rowOf(id);
      const activity = activityIn(row);
      const isInLine = (await log.row("line", id)) !== undefined;
      if (activity.state !== "thinking" && activity.state !== "waiting")
        return isInLine ? holdBack(id, by, at) : { kind: "nothing-running" };
      const isNow = at === "now" || activity.state === "waiting" || isInLine;
      const asked = event("activity.interrupt-requested", {
        id: activity.activityId,
        ...(isNow ? {} : { at: "boundary" }),
      });
      const isDone = await appended(id, by, [asked], [{ ...isThere(id), is: { activity: activity.activityId } }]);
      return { kind: isDone ? "requested" : "nothing-running" };
    },

    async continue(id, by, word = newId("continue")) {
      return untilItHolds(async () => {
        const row = await rowOf(id);
        const before = await log.row("continues", word);
        if (before !== undefined) return continuedBefore(before, id);
        const { state } = await viewOf(row, 0);
        if (state.state === "waiting" && (state.on === "question" || state.on === "recovery"))
          return { kind: "waits", on: state.on };
        const { kind, events } = continuing(row, word);
        const { state: was, ending, archived } = row;
        const asSeen = { ...isThere(id), is: { state: was!, ending: ending!, archived: archived! } };
        fault("continue.asking");
        await log.append({ stream: id, ...by, events, guards: [{ table: "continues", key: word, is: null }, asSeen] });
        fault("continue.asked");
        return { kind };
      });
    },

    async rename(id, title, by) {
      if ((await rowOf(id))["title"] === title) return { kind: "unchanged" };
      await log.append({ stream: id, ...by, events: [event("session.renamed", { title })], guards: [isThere(id)] });
      return { kind: "renamed" };
    },

    async archive(id, by) {
      const row = await rowOf(id);
      if (row["archived"] === 1) return { kind: "unchanged" };
      const atRest = { ...isThere(id), is: { open: 0 } };
      if (row["open"] === 1 || !(await appended(id, by, [event("session.archived", {})], [atRest]))) throw busy(id);
      return { kind: "archived" };
    },

    async unarchive(id, by) {
      if ((await rowOf(id))["archived"] === 0) return { kind: "unchanged" };
      await log.append({ stream: id, ...by, events: [event("session.unarchived", {})], guards: [isThere(id)] });
      return { kind: "unarchived" };
    },

    search: (search) => searchTexts(log, search),

    onWake(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
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
      const activity = activityIn(await rowOf(id));
      // Another of its calls may be under way again already.
      const waits = activity.state === "waiting" && activity.on === "recovery";
      const resumed = waits ? [event("activity.resumed", { id: activity.activityId })] : [];
      const told = [event("call.decided", { id: call, decision }), ...resumed];
      const isOpen: Guard = { table: "unknown_calls", key: call, is: { session: id } };
      return { kind: (await appended(id, by, told, [isOpen])) ? "decided" : "nothing-to-decide" };
    },
  };
  return self;

  /** Does nothing where there is one of this id. */
  async function make(wish: CreateSession, by: By, id: SessionId, input?: AdmitInput): Promise<readonly StoredEvent[]> {
    const { projectId, kind = usualKind, mode, workspace } = wish;
    const place = await placeIn(projectId, wish.worktree);
    if ((await log.row("sessions", id)) !== undefined) return [];
    const defaults = await terms.defaults(projectId);
    const { model = defaults.model, turnLimit = defaults.turnLimit } = wish;
    await terms.mustReach?.(model);
    const wished = await terms.environment(wish.environment, workspace);
    // While a plan is made, its walls see to it that nothing is written.
    const environment = mode === "plan" ? { ...wished, access: "read" as const } : wished;
    if (wish.effort !== undefined) terms.mustThink?.(model);
    const named = wish.agent === undefined ? {} : { agent: wish.agent };
    const thinks = wish.effort === undefined ? {} : { effort: wish.effort };
    const begins = { ...beginning(wish, defaults), ...toolTerms(wish, defaults), ...(await forked(wish, id)) };
    const settings = {
      title: "",
      ...named,
      kind,
      model,
      ...thinks,
      mode,
      environment,
      workspace,
      turnLimit,
      ...begins,
    };
    const created = event("session.created", { projectId, ...place, ...settings });
    const first = input === undefined ? { events: [], guards: [] } : firstAdmission(input);
    const events = [created, ...first.events];
    const append = () => log.append({ stream: id, ...by, expectedVersion: 0, events, guards: first.guards });
    return workspace === "in-place" ? alone(projectId, append) : append();
  }

  /** The session that has this input. Throws when it has it with another body, or is another project's. */
  async function begunWith(input: AdmitInput, project: ProjectId): Promise<SessionBegun | undefined> {
    const before = await admittedBefore(log, input);
    if (before === undefined) return undefined;
    if (before.kind === "conflict") throw new CorralError("input.conflict", before.reason);
    const { session, seq } = before;
    if ((await log.row("sessions", session))?.["project"] !== project)
      throw new CorralError("input.conflict", "this id belongs to an input of another project");
    // A retry may be all that is left of a wake that was lost.
    if (before.isWaiting) wake(session);
    return { session: await view(session), seq };
  }

  function wake(id: SessionId): void {
    for (const listener of listeners) listener(id);
  }

  /** What waits for a place is kept and parked, steers too: nothing of it begins until a person says so. */
  async function holdBack(id: SessionId, by: By, at: InterruptAt): Promise<InterruptAnswer> {
    const steers = (await waitingIn(log, id)).filter(({ delivery }) => delivery === "steer");
    const wanted = await log.row("wanted_continues", id);
    const events = [
      ...(wanted === undefined ? [] : [event("continue.withdrawn", { id: wanted["id"] as ContinueId })]),
      ...steers.map((input) => event("input.flipped", { id: input.id, delivery: "queue" })),
      event("queue.parked", {}),
    ];
    const asSeen = steers.map(({ id: key, version }): Guard => ({ table: "inputs", key, is: { version } }));
    const isDone = await appended(id, by, events, [...asSeen, { table: "line", key: id, is: {} }]);
    return isDone ? { kind: "parked" } : self.interrupt(id, by, at);
  }

  async function forked({ projectId: project, workspace, base }: CreateSession, session: SessionId) {
    if (typeof base !== "object") return {};
    if (workspace === "in-place") throw noForkInPlace();
    const made = await forks?.fork(base.snapshot, { project, session });
    if (made === undefined) throw missing("snapshot", base.snapshot);
    return { fork: { snapshotId: base.snapshot, commit: made.commit } };
  }

  /** False when a guard does not hold. */
  async function appended(id: SessionId, by: By, events: readonly NewEvent[], guards: readonly Guard[]) {
    try {
      await log.append({ stream: id, ...by, events, guards });
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  /** Of sessions that work in the project's own folder there is one at a time. */
  async function alone<T>(project: ProjectId, act: () => Promise<T>): Promise<T> {
    const mine = making.then(async () => {
      const [other] = await log.rows("in_place", { where: { project }, limit: 1 });
      if (other !== undefined) throw folderTaken(other["key"] as SessionId);
      return act();
    });
    making = mine.catch(() => undefined);
    return mine;
  }

  async function rowOf(id: SessionId): Promise<Row> {
    const row = await log.row("sessions", id);
    if (row === undefined) throw missing("session", id);
    return row;
  }

  async function view(id: SessionId): Promise<SessionView> {
    const seq = await log.head();
    return viewOf(await rowOf(id), seq);
  }

  async function viewOf(row: Row, seq: number): Promise<SessionView> {
    const session = row["key"] as SessionId;
    const waiting = await countWaiting(log, session);
    const calls = await log.rows("unknown_calls", { where: { session } });
    const questions = await log.rows("open_questions", { where: { session } });
    const trouble = await log.row("troubles", session);
    const waits = await log.row("line", session);
    const line = waits === undefined ? undefined : lineIn(waits, inLine?.standings());
    const todo = await log.row("todos", session);
    return toView(row, { waiting, calls, questions, trouble, line, todo }, seq);
  }

  /** What tables other than the sessions' own tell of each, read once for all. */
  async function moreOfAll(): Promise<(session: SessionId) => More> {
    const waiting = await countWaitingInAll(log);
    const calls = Map.groupBy(await log.rows("unknown_calls"), (row) => row["session"]);
    const questions = Map.groupBy(await log.rows("open_questions"), (row) => row["session"]);
    const troubles = new Map((await log.rows("troubles")).map((row) => [row["key"], row]));
    const todos = new Map((await log.rows("todos")).map((row) => [row["key"], row]));
    const standings = inLine?.standings();
    const line = new Map((await log.rows("line")).map((row) => [row["key"], lineIn(row, standings)]));
    return (session) => ({
      waiting: waiting.get(session) ?? 0,
      calls: calls.get(session) ?? [],
      questions: questions.get(session) ?? [],
      trouble: troubles.get(session),
      line: line.get(session),
      todo: todos.get(session),
    });
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

  /** What is said to one session shows nothing of another's. What was admitted before has its answer, whatever has become of its files. */
  async function mustHaveAttached(input: AdmitInput, session: SessionId): Promise<void> {
    const artifacts = input.attachments.map(artifactOf).filter((id) => id !== undefined);
    const known = artifacts.length === 0 ? undefined : await log.row("inputs", input.id);
    if (known !== undefined && known["state"] !== "cancelled") return;
    for (const artifact of artifacts) {
      const row = await log.row("artifacts", artifact);
      if (row?.["owner"] !== session || row["kind"] !== "attachment") throw missing("attachment", artifact);
      if (row["state"] !== "kept" || row["left_out"] !== null) throw notWhole(artifact, row);
    }
  }

  async function mustExist(table: string, key: string, noun: string): Promise<void> {
    if ((await log.row(table, key)) === undefined) throw missing(noun, key);
  }
}

/** What comes of a person's word to go on, by what the session does. An activity that was interrupted is about to end and is not joined. */
function continuing(row: Row, word: ContinueId): { kind: "continued" | "joined"; events: readonly NewEvent[] } {
  const activity = activityIn(row);
  if (row["open"] === 0 || row["ending"] === 1 || !("activityId" in activity)) {
    const back = row["archived"] === 1 ? [event("session.unarchived", {})] : [];
    return { kind: "continued", events: [event("continue.asked", { id: word }), ...back] };
  }
  const { activityId } = activity;
  if (activity.state !== "waiting" || activity.on !== "continue")
    return { kind: "joined", events: [event("continue.asked", { id: word, activityId, joined: true })] };
  const resumed = event("activity.resumed", { id: activityId });
  return { kind: "continued", events: [event("continue.asked", { id: word, activityId }), resumed] };
}

function continuedBefore({ session, joined }: Row, id: SessionId): ContinueAnswer {
  if (session !== id) throw new CorralError("input.conflict", "this id belongs to a word to another session");
  return { kind: joined === 1 ? "joined" : "continued" };
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

/** What leaves everything in says nothing. */
function toolTerms({ tools: session }: CreateSession, { tools: agent, callLimit }: SessionDefaults) {
  const choice = {
    ...(agent === undefined || agent.join(" ") === "*" ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
  };
  return {
    ...(Object.keys(choice).length === 0 ? {} : { tools: choice }),
    ...(callLimit === undefined ? {} : { callLimit }),
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

function notWhole(artifact: string, { name }: Row): CorralError {
  return new CorralError("file.unsuitable", `${name} (${artifact}) is not kept as a whole, or no more.`, {
    hint: "Attach it again",
  });
}

function isThere(key: SessionId): Guard {
  return { table: "sessions", key, is: {} };
}

function isConflict(error: unknown): boolean {
  return error instanceof CorralError && error.code === "append.conflict";
}

/** Another session was made first, which may be the very one that was asked for. */
function isOutrun(error: unknown): boolean {
  return isConflict(error) || (error instanceof CorralError && error.code === "workspace.busy");
}

function busy(id: SessionId): CorralError {
  return new CorralError("session.busy", `${id} is in the middle of an activity.`, {
    retry: "later",
    hint: "Let it finish, or interrupt it first.",
  });
}

/** What is told of a session outside of its own row. */
interface More {
  /** So many inputs. */
  readonly waiting: number;
  readonly calls: readonly Row[];
  readonly questions: readonly Row[];
  readonly trouble: Row | undefined;
  readonly line: StateFacts["line"];
  readonly todo: Row | undefined;
}

function madeWith(row: Row): SessionMadeWith {
  return {
    id: row["key"] as SessionId,
    projectId: row["project"] as ProjectId,
    agent: row["agent"] as string,
    mode: row["mode"] as SessionView["mode"],
    environment: JSON.parse(row["environment"] as string) as SessionView["environment"],
    workspace: row["workspace"] as SessionView["workspace"],
  };
}

function toView(row: Row, more: More, seq: number): SessionView {
  return {
    ...madeWith(row),
    title: row["title"] as string,
    kind: row["kind"] as string,
    model: row["model"] as string,
    state: stateIn(row, more),
    inbox: { waiting: more.waiting, isParked: isParked(row) },
    isArchived: row["archived"] === 1,
    ...todoIn(more),
    seq,
  };
}

function todoIn({ todo }: More): Pick<SessionView, "todo"> {
  const items = todo === undefined ? [] : (JSON.parse(todo["items"] as string) as TodoItem[]);
  return items.length === 0 ? {} : { todo: items };
}

function lineIn(row: Row, standings: ReadonlyMap<SessionId, PlaceInLine> | undefined): StateFacts["line"] {
  const then = { limit: row["reached"], most: row["most"], position: row["position"] } as PlaceInLine;
  return { since: row["since"] as string, ...(standings?.get(row["key"] as SessionId) ?? then) };
}

function stateIn(row: Row, { waiting, calls, questions, trouble, line }: More): SessionState {
  return stateFrom({
    activity: activityIn(row),
    trouble:
      trouble === undefined ? undefined : { since: trouble["since"] as string, reason: trouble["reason"] as string },
    parkedByInterrupt: (row["parked_by_interrupt"] as string | null) ?? undefined,
    parkedByPerson: (row["parked_by_person"] as string | null) ?? undefined,
    waitingInputs: { length: waiting },
    unknownCalls: calls.map((each) => each["key"] as CallId),
    line,
    openQuestions: questions.map((each) => each["key"] as QuestionId),
  });
}

function activityIn(row: Row): ActivityState {
  return JSON.parse(row["state"] as string) as ActivityState;
}
