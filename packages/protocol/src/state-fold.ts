/** What a session is doing and how a question stands, made from events. It loads no schema. */
import type { StoredEvent } from "./event.ts";
import { type EndOf, isEndOf } from "./event-types.ts";
import type { ActivityId, CallId, InputId, QuestionId } from "./new-id.ts";
import type { PlaceInLine } from "./place.ts";
import type { QuestionState } from "./question.ts";
import type { SessionState, WaitingOn } from "./state.ts";

/** What activities alone tell. */
export type ActivityState = Extract<SessionState, { state: "idle" | "thinking" | "failed" }> | WaitingState;
type WaitingState = Omit<Extract<SessionState, { state: "waiting"; on: WaitingOn }>, "calls" | "questions">;

/** All that a state is made of. */
export interface StateFacts {
  activity: ActivityState;
  /** Why what it does is taken up again. */
  trouble: { readonly since: string; readonly reason: string } | undefined;
  /** Since when. */
  parkedByInterrupt: string | undefined;
  parkedByPerson: string | undefined;
  waitingInputs: readonly InputId[];
  unknownCalls: readonly CallId[];
  /** Where it stands in line for a place. */
  line: (PlaceInLine & { readonly since: string }) | undefined;
  openQuestions: readonly QuestionId[];
}

export function noFacts(since: string): StateFacts {
  return {
    activity: { state: "idle", since },
    trouble: undefined,
    parkedByInterrupt: undefined,
    parkedByPerson: undefined,
    waitingInputs: [],
    unknownCalls: [],
    line: undefined,
    openQuestions: [],
  };
}

/** Of the inputs that wait it takes their number. */
export function stateFrom(
  facts: Readonly<Omit<StateFacts, "waitingInputs">> & { readonly waitingInputs: { readonly length: number } },
): SessionState {
  const { trouble, waitingInputs, line } = facts;
  const { activity: told, openQuestions } = facts;
  const left = { question: openQuestions, recovery: facts.unknownCalls, continue: undefined };
  const isAnswered = told.state === "waiting" && left[told.on]?.length === 0;
  const activity = isAnswered ? thinkingOn(told) : told;
  if (line !== undefined && activity.state !== "waiting") return { ...line, state: "waiting", on: "place" };
  switch (activity.state) {
    case "thinking":
      return trouble === undefined ? activity : { ...activity, ...trouble, state: "recovering" };
    case "waiting":
      return {
        ...activity,
        calls: activity.on === "recovery" ? [...facts.unknownCalls] : [],
        questions: activity.on === "question" ? [...openQuestions] : [],
      };
    case "failed":
      return activity;
    case "idle": {
      const inputs = waitingInputs.length;
      const parkedSince = facts.parkedByPerson ?? facts.parkedByInterrupt;
      if (parkedSince === undefined || inputs === 0) return activity;
      return { state: "parked", since: parkedSince > activity.since ? parkedSince : activity.since, inputs };
    }
  }
}

/** What was waited for has come, and whoever waits has not looked yet. */
function thinkingOn({ since, activityId: id }: Pick<WaitingState, "since" | "activityId">): ActivityState {
  return { state: "thinking", since, activityId: id };
}

/** What the event says of the activity, without a look at anything else; undefined when it says nothing of it. */
export function activityTold(event: StoredEvent): ActivityState | undefined {
  const since = event.approximateCreationTime;
  const thinkingSince = (id: ActivityId) => thinkingOn({ since, activityId: id });
  switch (event.type) {
    case "session.created":
      return { state: "idle", since };
    case "activity.opened":
    case "activity.resumed":
      return thinkingSince(event.data.id);
    case "input.promoted":
      return thinkingSince(event.data.activityId);
    case "activity.waiting":
      return { state: "waiting", since, activityId: event.data.id, on: event.data.on };
    case "activity.settled": {
      const { id, outcome, error } = event.data;
      if (outcome !== "failed") return { state: "idle", since };
      return { state: "failed", since, activityId: id, message: error?.message ?? "failed" };
    }
    default:
      // Other events say nothing of the activity.
      return undefined;
  }
}

/** `over`: it goes on as before. */
export function troubleTold(event: StoredEvent): { readonly reason: string } | "over" | undefined {
  switch (event.type) {
    case "activity.recovering":
      return { reason: event.data.reason };
    case "turn.attempt-failed":
      return { reason: event.data.error.message };
    case "turn.settled":
    case "activity.waiting":
    case "activity.settled":
    case "session.expired":
      return "over";
    default:
      // Other events are no trouble and end none.
      return undefined;
  }
}

/** `over`: it is in line no more. */
export function lineTold(event: StoredEvent): PlaceInLine | "over" | undefined {
  switch (event.type) {
    case "place.awaited":
      return event.data;
    case "place.given":
    case "place.left":
    case "activity.opened":
    case "activity.waiting":
    case "activity.settled":
    case "session.expired":
      return "over";
    default:
      // Other events move nobody in the line.
      return undefined;
  }
}

/** Takes one event of a session in, for whoever follows it. */
export function takeIntoState(facts: StateFacts, event: StoredEvent): void {
  const since = event.approximateCreationTime;
  facts.activity = activityTold(event) ?? facts.activity;
  const trouble = troubleTold(event);
  if (trouble !== undefined) facts.trouble = trouble === "over" ? undefined : { since, ...trouble };
  const line = lineTold(event);
  if (line !== undefined) facts.line = line === "over" ? undefined : { since, ...line };
  if (isEndOf("input", event)) {
    facts.waitingInputs = without(facts.waitingInputs, event.data.id);
    return;
  }
  if (isEndOf("question", event)) {
    facts.openQuestions = without(facts.openQuestions, event.data.id);
    return;
  }
  switch (event.type) {
    case "input.admitted":
      facts.waitingInputs = [...without(facts.waitingInputs, event.data.id), event.data.id];
      return;
    case "call.unknown":
      facts.unknownCalls = [...without(facts.unknownCalls, event.data.id), event.data.id];
      return;
    case "call.decided":
      facts.unknownCalls = without(facts.unknownCalls, event.data.id);
      return;
    case "question.asked":
      facts.openQuestions = [...without(facts.openQuestions, event.data.id), event.data.id];
      return;
    case "activity.settled":
      facts.unknownCalls = [];
      return;
    case "queue.parked":
      facts.parkedByPerson = since;
      return;
    case "activity.interrupt-requested":
      facts.parkedByInterrupt = since;
      if (event.data.at !== "boundary") facts.openQuestions = [];
      return;
    case "queue.resumed":
      facts.parkedByPerson = undefined;
      facts.parkedByInterrupt = undefined;
      return;
    case "activity.opened":
      facts.parkedByInterrupt = undefined;
      return;
    default:
    // Other events are no part of the state.
  }
}

export type EndedQuestion = Exclude<QuestionState, { state: "open" }>;

export function questionStateAfter(stored: EndOf<"question">): EndedQuestion {
  const { actor: by, approximateCreationTime: at } = stored;
  switch (stored.type) {
    case "question.answered":
      return { state: "answered", answer: stored.data.answer, by, at };
    case "question.defaulted":
      return { state: "defaulted", answer: stored.data.answer, at };
    case "question.expired":
      return { state: "expired", at };
    case "question.cancelled":
      return { state: "cancelled", reason: stored.data.reason, by, at };
  }
}

function without<T>(list: readonly T[], item: T): readonly T[] {
  return list.filter((each) => each !== item);
}
