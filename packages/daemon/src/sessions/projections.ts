import type { SessionState, StoredEvent } from "@corral/protocol";
import type { Change, Projection } from "../log/index.ts";

/** `open`: 1 from the opening of an activity until it settles, so that start-up finds unfinished work. */
const sessions: Projection = {
  table: "sessions",
  version: 1,
  columns: {
    project: "text",
    title: "text",
    model: "text",
    mode: "text",
    environment: "text",
    workspace: "text",
    turn_limit: "integer",
    state: "text",
    open: "integer",
  },
  indexes: [["open"]],
  changes: (stored) => (stored.stream.startsWith("ses_") ? sessionChanges(stored) : []),
};

const inputs: Projection = {
  table: "inputs",
  version: 2,
  columns: {
    session: "text",
    text: "text",
    attachments: "text",
    delivery: "text",
    state: "text",
    activity: "text",
    trace_id: "text",
    seq: "integer",
  },
  indexes: [["session", "state", "seq"], ["state"]],
  changes: inputChanges,
};

/** Calls whose end nobody knows, until a person has decided. */
const unknownCalls: Projection = {
  table: "unknown_calls",
  version: 1,
  columns: { session: "text" },
  changes: (stored) => {
    if (stored.type === "call.unknown") return [{ key: stored.data.id, set: { session: stored.stream } }];
    if (stored.type === "call.decided") return [{ key: stored.data.id, delete: true }];
    return [];
  },
};

/** Environments that were opened and of which no end is recorded. */
const environments: Projection = {
  table: "environments",
  version: 1,
  columns: { session: "text", state: "text" },
  changes: (stored) => {
    if (stored.type === "environment.opened") {
      const { state } = stored.data;
      return [{ key: state.id, set: { session: stored.stream, state: JSON.stringify(state) } }];
    }
    return stored.type === "environment.closed" ? [{ key: stored.data.id, delete: true }] : [];
  },
};

/** Sessions that are no more, so that what is left of them outside of the log is found after a crash too. */
const removedSessions: Projection = {
  table: "removed_sessions",
  version: 1,
  columns: { how: "text" },
  changes: ({ stream, type }) => {
    const how = { "session.expired": "expired", "stream.erased": "erased" }[type as string];
    return how === undefined || !stream.startsWith("ses_") ? [] : [{ key: stream, set: { how } }];
  },
};

/** Sessions that work in their project's own folder. */
const inPlace: Projection = {
  table: "in_place",
  version: 1,
  columns: { project: "text" },
  indexes: [["project"]],
  changes: (stored) => {
    if (stored.type === "session.created" && stored.data.workspace === "in-place")
      return [{ key: stored.stream, set: { project: stored.data.projectId } }];
    return stored.type === "session.expired" ? [{ key: stored.stream, delete: true }] : [];
  },
};

export const sessionProjections: readonly Projection[] = [
  sessions,
  inputs,
  unknownCalls,
  environments,
  removedSessions,
  inPlace,
];

function sessionChanges(stored: StoredEvent): readonly Change[] {
  const key = stored.stream;
  const become = (state: SessionState, open: 0 | 1): Change[] => [{ key, set: { state: JSON.stringify(state), open } }];
  switch (stored.type) {
    case "session.created": {
      const { projectId, title, model, mode, environment, workspace, turnLimit } = stored.data;
      const row = { project: projectId, title, model, mode, environment: JSON.stringify(environment), workspace };
      const state = JSON.stringify({ state: "idle" } satisfies SessionState);
      return [{ key, set: { ...row, turn_limit: turnLimit, state, open: 0 } }];
    }
    case "session.expired":
      return [{ key, delete: true }];
    case "activity.opened":
      return become({ state: "thinking", activityId: stored.data.id }, 1);
    case "input.promoted":
      return become({ state: "thinking", activityId: stored.data.activityId }, 1);
    case "activity.waiting":
      return become({ state: "waiting", activityId: stored.data.id, on: stored.data.on }, 1);
    case "activity.resumed":
      return become({ state: "thinking", activityId: stored.data.id }, 1);
    case "activity.settled":
      return stored.data.outcome === "failed"
        ? become({ state: "failed", activityId: stored.data.id, message: stored.data.error?.message ?? "failed" }, 0)
        : become({ state: "idle" }, 0);
    default:
      return [];
  }
}

function inputChanges(stored: StoredEvent): readonly Change[] {
  switch (stored.type) {
    case "input.admitted": {
      const { id, text, attachments, delivery } = stored.data;
      const row = { session: stored.stream, text, attachments: JSON.stringify(attachments), delivery };
      return [
        {
          key: id,
          set: { ...row, state: "waiting", activity: null, trace_id: stored.traceId ?? null, seq: stored.seq },
        },
      ];
    }
    case "input.promoted":
      return [{ key: stored.data.id, set: { state: "promoted", activity: stored.data.activityId } }];
    case "session.expired":
      return stored.data.inputs.map((key) => ({ key, delete: true }));
    default:
      return [];
  }
}
