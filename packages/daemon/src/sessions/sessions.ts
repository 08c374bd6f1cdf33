import {
  type AdmitInput,
  CorralError,
  type CreateSession,
  type DecideRecovery,
  type EnvironmentWish,
  event,
  newId,
  type ProjectId,
  type SessionId,
  type SessionState,
  type SessionView,
} from "@corral/protocol";
import type { Log, Row } from "../log/index.ts";
import { type Admission, admit } from "./inbox.ts";

/** What people and programs may do with sessions. Running them is somebody else's work: it follows the events. */
export interface Sessions {
  /**
   * Throws `not-found` for an unknown project, `jail.unavailable` where no jail can be had. With the id of a session
   * that was made before, it is that one.
   */
  create(wish: CreateSession, actor: string, id?: SessionId): Promise<SessionView>;
  get(id: SessionId): Promise<SessionView | undefined>;
  list(): Promise<readonly SessionView[]>;
  /** Durable when it resolves. Throws `not-found`. */
  admit(id: SessionId, input: AdmitInput, actor: string): Promise<Admission>;
  /** Asks the running activity to end now; what it has said and done so far is kept. */
  interrupt(id: SessionId, actor: string): Promise<{ readonly kind: "requested" | "nothing-running" }>;
  /** A person's word on a call whose end nobody knows. The first one counts. */
  decide(
    id: SessionId,
    decision: DecideRecovery,
    actor: string,
  ): Promise<{ readonly kind: "decided" | "nothing-to-decide" }>;
}

export interface SessionTerms {
  readonly defaultModel: string;
  /** Throws with the fix when environments of this kind cannot be opened here. */
  mayOpen(environment: EnvironmentWish): Promise<void>;
}

export function openSessions(log: Log, terms: SessionTerms): Sessions {
  return {
    async create(wish, actor, id = newId("session")) {
      await mustExist("projects", wish.projectId, "project");
      if ((await log.row("sessions", id)) !== undefined) return view(id);
      const { projectId, mode, environment, workspace, turnLimit } = wish;
      const model = wish.model ?? terms.defaultModel;
      await terms.mayOpen(environment);
      await log.append({
        stream: id,
        actor,
        expectedVersion: 0,
        events: [event("session.created", { projectId, title: "", model, mode, environment, workspace, turnLimit })],
      });
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

    async admit(id, input, actor) {
      await mustExist("sessions", id, "session");
      return admit(log, id, input, actor);
    },

    async interrupt(id, actor) {
      const { state } = await view(id);
      if (state.state !== "thinking" && state.state !== "waiting") return { kind: "nothing-running" };
      await log.append({
        stream: id,
        actor,
        events: [event("activity.interrupt-requested", { id: state.activityId })],
      });
      return { kind: "requested" };
    },

    async decide(id, { call, decision }, actor) {
      const { state } = await view(id);
      if (state.state !== "waiting") return { kind: "nothing-to-decide" };
      try {
        await log.append({
          stream: id,
          actor,
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

  async function view(id: SessionId): Promise<SessionView> {
    const seq = await log.head();
    const row = await log.row("sessions", id);
    if (row === undefined) throw missing("session", id);
    return toView(row, seq);
  }

  async function mustExist(table: string, key: string, noun: string): Promise<void> {
    if ((await log.row(table, key)) === undefined) throw missing(noun, key);
  }
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
    state: JSON.parse(row["state"] as string) as SessionState,
    seq,
  };
}
