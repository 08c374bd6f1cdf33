import {
  type AskedQuestion,
  isEndOf,
  type ProjectId,
  questionStateAfter,
  type QuestionState,
  type QuestionView,
  type SessionId,
  type StoredEvent,
} from "@corral/protocol";
import type { Change, Projection, Row } from "../log/index.ts";

/**
 * Every question with how it stands. `asked`: the event's data; `deadline`: milliseconds since 1970; `state`: that word alone, `ended`: all
 * of it. Whether one may still be answered is for `open_questions` to say.
 */
const questions: Projection = {
  table: "questions",
  version: 1,
  columns: {
    session: "text",
    activity: "text",
    asked: "text",
    asked_at: "text",
    deadline: "integer",
    state: "text",
    ended: "text",
    answer_id: "text",
    seq: "integer",
  },
  indexes: [["session", "seq"], ["session", "state"], ["state"]],
  changes: questionChanges,
};

export const questionProjections: readonly Projection[] = [questions];

function questionChanges(stored: StoredEvent): readonly Change[] {
  if (stored.type === "session.expired") return [{ deleteAll: true }];
  if (stored.type === "question.asked") return [asked(stored.data, stored)];
  if (!isEndOf("question", stored)) return [];
  const ended = questionStateAfter(stored);
  const answerId = stored.type === "question.answered" ? (stored.data.answerId ?? null) : null;
  return [{ key: stored.data.id, set: { state: ended.state, ended: JSON.stringify(ended), answer_id: answerId } }];
}

function asked(data: AskedQuestion, { stream, seq, approximateCreationTime }: StoredEvent): Change {
  const begun = { session: stream, activity: data.activityId ?? null, asked: JSON.stringify(data), seq };
  const deadline = data.timeLimitMs === undefined ? null : Date.parse(approximateCreationTime) + data.timeLimitMs;
  const state = { state: "open", ended: null, answer_id: null };
  return { key: data.id, set: { ...begun, asked_at: approximateCreationTime, deadline, ...state } };
}

/** A row in words. `isOpen`: it may still be answered. */
export function questionIn(
  row: Row,
  { isOpen, projectId, seq, now }: { isOpen: boolean; projectId: ProjectId | undefined; seq: number; now: number },
): QuestionView {
  const deadline = row["deadline"] as number | null;
  return {
    ...(JSON.parse(row["asked"] as string) as AskedQuestion),
    session: row["session"] as SessionId,
    ...(projectId === undefined ? {} : { projectId }),
    state: stateIn(row, isOpen),
    askedAt: row["asked_at"] as string,
    ...(isOpen && deadline !== null ? { remainingMs: Math.max(0, Math.round(deadline - now)) } : {}),
    seq,
  };
}

function stateIn(row: Row, isOpen: boolean): QuestionState {
  if (isOpen) return { state: "open" };
  const ended = row["ended"] as string | null;
  if (ended !== null) return JSON.parse(ended) as QuestionState;
  return { state: "cancelled", reason: interrupted, by: "corral", at: row["asked_at"] as string };
}

export const interrupted = "the session was interrupted";
