import { createHash } from "node:crypto";
import {
  activityTold,
  type AdmitInput,
  isAbout,
  isEndOf,
  lineTold,
  type StoredEvent,
  troubleTold,
  usualAgent,
  usualKind,
} from "@corral/protocol";
import type { Change, Projection } from "../log/index.ts";
import { textChanges } from "./texts.ts";

/**
 * `open`: 1 from the opening of an activity until it settles, so that start-up finds unfinished work. `activity`: the one
 * that is open. `ending`: 1 where that was interrupted. `parked_by_…`: since when, null when not.
 */
const sessions: Projection = {
  table: "sessions",
  version: 5,
  columns: {
    project: "text",
    title: "text",
    agent: "text",
    kind: "text",
    model: "text",
    mode: "text",
    environment: "text",
    workspace: "text",
    turn_limit: "integer",
    state: "text",
    open: "integer",
    activity: "text",
    ending: "integer",
    parked_by_interrupt: "text",
    parked_by_person: "text",
    archived: "integer",
  },
  indexes: [["open"]],
  changes: (stored) => (stored.stream.startsWith("ses_") ? sessionChanges(stored) : []),
};

/** `body`: a hash of what was admitted, whatever was made of it since. `place`: in the queue. `version`: the seq of the last change. */
const inputs: Projection = {
  table: "inputs",
  version: 4,
  columns: {
    session: "text",
    text: "text",
    attachments: "text",
    delivery: "text",
    state: "text",
    activity: "text",
    trace_id: "text",
    seq: "integer",
    body: "text",
    place: "integer",
    version: "integer",
  },
  indexes: [
    ["session", "state", "delivery", "place"],
    ["state", "session"],
  ],
  changes: inputChanges,
};

/** Calls whose end nobody knows, until a person has decided or their activity is over. */
const unknownCalls: Projection = {
  table: "unknown_calls",
  version: 3,
  columns: { session: "text" },
  indexes: [["session"]],
  changes: (stored) => {
    switch (stored.type) {
      case "call.unknown":
        return [{ key: stored.data.id, set: { session: stored.stream } }];
      case "call.decided":
        return [{ key: stored.data.id, delete: true }];
      case "activity.settled":
      case "session.expired":
        return [{ deleteAll: true }];
      default:
        // Other events do not touch this table.
        return [];
    }
  },
};

/**
 * Questions that may be answered. An interrupt closes all of its session's, in the very moment that it is on record; who
 * cancels them by name follows.
 */
const openQuestions: Projection = {
  table: "open_questions",
  version: 1,
  columns: { session: "text" },
  indexes: [["session"]],
  changes: (stored) => {
    if (isEndOf("question", stored)) return [{ key: stored.data.id, delete: true }];
    switch (stored.type) {
      case "question.asked":
        return [{ key: stored.data.id, set: { session: stored.stream } }];
      case "activity.interrupt-requested":
        return stored.data.at === "boundary" ? [] : [{ deleteAll: true }];
      case "session.expired":
        return [{ deleteAll: true }];
      default:
        // Other events do not touch this table.
        return [];
    }
  },
};

/** Sessions whose activity is taken up again after it was cut off or failed, until a turn of it has settled. */
const troubles: Projection = {
  table: "troubles",
  version: 1,
  columns: { since: "text", reason: "text" },
  changes: (stored) => {
    const told = troubleTold(stored);
    if (told === undefined) return [];
    const key = stored.stream;
    return told === "over"
      ? [{ key, delete: true }]
      : [{ key, set: { since: stored.approximateCreationTime, reason: told.reason } }];
  },
};

/** Sessions that wait for a place, in the order in which they came; where each one stood then. */
const line: Projection = {
  table: "line",
  version: 1,
  columns: { seq: "integer", since: "text", reached: "text", most: "integer", position: "integer" },
  indexes: [["seq"]],
  changes: (stored) => {
    const told = lineTold(stored);
    if (told === undefined) return [];
    const key = stored.stream;
    if (told === "over") return [{ key, delete: true }];
    const { limit, most, position } = told;
    const since = stored.approximateCreationTime;
    return [{ key, set: { seq: stored.seq, since, reached: limit, most, position } }];
  },
};

/** What was said in sessions and what they are called, to be looked for. */
const texts: Projection = {
  table: "texts",
  version: 1,
  columns: { session: "text", kind: "text", text: "text", seq: "integer" },
  fullText: "text",
  changes: textChanges,
};

/** Environments that were opened and of which no end is recorded. */
const environments: Projection = {
  table: "environments",
  version: 1,
  columns: { session: "text", state: "text" },
  changes: (stored) => {
    if (!isAbout("environment", stored)) return [];
    if (isEndOf("environment", stored)) return [{ key: stored.data.id, delete: true }];
    const { state } = stored.data;
    return [{ key: state.id, set: { session: stored.stream, state: JSON.stringify(state) } }];
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

/** Who was asked to go on, by the id of the word, so that it counts once. `joined`: 1 where it was at work already. */
const continues: Projection = {
  table: "continues",
  version: 1,
  columns: { session: "text", joined: "integer" },
  changes: ({ stream, type, data }) => {
    if (type === "continue.asked") return [{ key: data.id, set: { session: stream, joined: data.joined ? 1 : 0 } }];
    return type === "session.expired" ? [{ deleteAll: true }] : [];
  },
};

/** Sessions that are to open an activity without anything new being said: the word of a person that nothing came of yet. A later stop takes it back. */
const wantedContinues: Projection = {
  table: "wanted_continues",
  version: 1,
  columns: { id: "text", trace_id: "text" },
  changes: (stored) => {
    const key = stored.stream;
    switch (stored.type) {
      case "continue.asked":
        if (stored.data.activityId !== undefined) return [];
        return [{ key, set: { id: stored.data.id, trace_id: stored.traceId ?? null } }];
      case "continue.withdrawn":
      case "activity.opened":
      case "activity.interrupt-requested":
      case "session.expired":
        return [{ key, delete: true }];
      default:
        // Other events do not touch this table.
        return [];
    }
  },
};

/** Agents' lists of what is to be done. */
const todos: Projection = {
  table: "todos",
  version: 1,
  columns: { items: "text" },
  changes: ({ stream, type, data }) => {
    if (type === "todo.changed") return [{ key: stream, set: { items: JSON.stringify(data.items) } }];
    return type === "session.expired" ? [{ key: stream, delete: true }] : [];
  },
};

export const sessionProjections: readonly Projection[] = [
  sessions,
  inputs,
  unknownCalls,
  openQuestions,
  troubles,
  line,
  texts,
  environments,
  removedSessions,
  inPlace,
  todos,
  continues,
  wantedContinues,
];

function sessionChanges(stored: StoredEvent): readonly Change[] {
  const key = stored.stream;
  if (stored.type === "session.expired") return [{ key, delete: true }];
  const set = { ...activityColumns(stored), ...ownColumns(stored) };
  return Object.keys(set).length === 0 ? [] : [{ key, set }];
}

function activityColumns(stored: StoredEvent) {
  const told = activityTold(stored);
  if (told === undefined) return {};
  const activity = told.state === "thinking" || told.state === "waiting" ? told.activityId : null;
  return { state: JSON.stringify(told), open: activity === null ? 0 : 1, activity };
}

function ownColumns(stored: StoredEvent): Record<string, string | number | null> {
  const since = stored.approximateCreationTime;
  switch (stored.type) {
    case "session.created": {
      const { projectId, title, agent = usualAgent, kind = usualKind, model, mode, environment } = stored.data;
      const { workspace, turnLimit } = stored.data;
      const row = {
        project: projectId,
        title,
        agent,
        kind,
        model,
        mode,
        environment: JSON.stringify(environment),
        workspace,
      };
      return { ...row, turn_limit: turnLimit, archived: 0, ending: 0 };
    }
    case "session.renamed":
      return { title: stored.data.title };
    case "session.archived":
      return { archived: 1 };
    case "session.unarchived":
      return { archived: 0 };
    case "input.admitted":
      return stored.data.title === undefined ? {} : { title: stored.data.title };
    case "activity.opened":
      return { parked_by_interrupt: null, ending: 0 };
    case "activity.interrupt-requested":
      return { parked_by_interrupt: since, ending: 1 };
    case "queue.parked":
      return { parked_by_person: since };
    case "queue.resumed":
      return { parked_by_person: null, parked_by_interrupt: null };
    default:
      // Other events do not touch these columns.
      return {};
  }
}

function inputChanges(stored: StoredEvent): readonly Change[] {
  const change = (key: string, set: Record<string, string | number | null>): Change[] => [
    { key, set: { ...set, version: stored.seq } },
  ];
  if (stored.type === "session.expired") return stored.data.inputs.map((key) => ({ key, delete: true }));
  if (!isAbout("input", stored)) return [];
  switch (stored.type) {
    case "input.admitted": {
      const { id, text, attachments, delivery } = stored.data;
      const row = { session: stored.stream, text, attachments: JSON.stringify(attachments), delivery };
      const place = { seq: stored.seq, place: stored.seq, trace_id: stored.traceId ?? null };
      return change(id, { ...row, ...place, body: bodyHash(stored.data), state: "waiting", activity: null });
    }
    case "input.cancelled":
      return change(stored.data.id, { state: "cancelled" });
    case "input.edited":
      return change(stored.data.id, { text: stored.data.text });
    case "input.flipped":
      return change(stored.data.id, { delivery: stored.data.delivery });
    case "input.advanced":
      // Before all that came or were advanced earlier.
      return change(stored.data.id, { place: -stored.seq });
    case "input.promoted":
      return change(stored.data.id, { state: "promoted", activity: stored.data.activityId });
  }
}

/** Tells whether an input is the one that was admitted under its id. */
export function bodyHash({ text, attachments, delivery }: Omit<AdmitInput, "id">): string {
  return createHash("sha256")
    .update(JSON.stringify([text, delivery, attachments]))
    .digest("base64url");
}
