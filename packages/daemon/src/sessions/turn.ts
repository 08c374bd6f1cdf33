import {
  type AnswerGiven,
  type CallChange,
  type CallId,
  type EventAbout,
  type EventData,
  isAbout,
  type NewEvent,
  type PartId,
  type QuestionAbout,
  type QuestionId,
  type ToolOffer,
  type TurnId,
} from "@corral/protocol";

/** One model request as its events tell it, with its reply and the calls of that reply. */
export interface Turn {
  readonly kind: "turn";
  readonly id: TurnId;
  readonly requestHash: string;
  /** What the model was shown; undefined in records of a Corral that did not write it down. */
  readonly offers: readonly ToolOffer[] | undefined;
  /** 0: prepared and never dispatched. */
  attempt: number;
  /** Attempts known to have failed. */
  failedAttempt: number;
  /** What is to be waited before the next attempt. */
  pauseMs: number;
  /** Why the last attempt was refused, or its reply given up; asking again would not have helped. */
  refusal: string | undefined;
  readonly said: Said[];
  readonly calls: Call[];
  /** The reply came to its end. */
  replied: boolean;
  outcome: "replied" | "cut" | "failed" | undefined;
}

export interface Said {
  readonly part: PartId;
  readonly kind: "text" | "reasoning";
  readonly text: string;
  readonly cut: boolean;
  readonly attempt: number;
  readonly providerMetadata: Record<string, unknown> | undefined;
}

export interface Call {
  readonly id: CallId;
  readonly providerCallId: string;
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  readonly malformed: string | undefined;
  readonly providerMetadata: Record<string, unknown> | undefined;
  /** 0: requested and never started. */
  attempt: number;
  /** Its last attempt changed no file, as far as could be told. */
  reads: boolean;
  /** What its last attempt was about to change. */
  changes: readonly CallChange[];
  /** Where its last attempt ran, unless that was the session's own shell. */
  beside: { readonly shell: string; readonly folder?: string | undefined } | undefined;
  /** It had started, and the environment of that time is closed: nobody can ask how it ended any more, and its shell is gone. */
  environmentClosed: boolean;
  /** A person chose to run it again although its last attempt may have done something. */
  retryDecided: boolean;
  /** What the operator was asked on its behalf, the last time. */
  question: CallQuestion | undefined;
  end: CallEnd | undefined;
}

export interface CallQuestion {
  readonly id: QuestionId;
  readonly about: QuestionAbout;
  /** Undefined while it is open. */
  end: QuestionEnd | undefined;
}

/** `defaulted`: nobody answered in time, and this was to be taken for the answer. */
export type QuestionEnd =
  | { readonly kind: "answered" | "defaulted"; readonly answer: AnswerGiven }
  | { readonly kind: "expired" }
  | { readonly kind: "cancelled"; readonly reason: string };

export type CallEnd =
  | { readonly kind: "settled"; readonly result: unknown }
  | { readonly kind: "failed"; readonly message: string }
  /** It never ran. */
  | { readonly kind: "declined"; readonly reason: string }
  | { readonly kind: "interrupted"; readonly result: unknown }
  | { readonly kind: "unknown"; readonly reason: string };

export function newTurn(data: EventData<"turn.prepared">, offers: Turn["offers"]): Turn {
  return {
    kind: "turn",
    id: data.id,
    requestHash: data.requestHash,
    offers,
    attempt: 0,
    failedAttempt: 0,
    pauseMs: 0,
    refusal: undefined,
    said: [],
    calls: [],
    replied: false,
    outcome: undefined,
  };
}

/** Events of other subjects do not touch a turn. */
export function applyTurnEvent(turn: Turn, told: NewEvent): void {
  if (isAbout("call", told)) applyCallEvent(turn, told);
  else if (isAbout("question", told)) applyQuestionEvent(turn, told);
  else if (isAbout("turn", told)) applyOwnEvent(turn, told);
}

function applyOwnEvent(turn: Turn, { type, data }: EventAbout<"turn", NewEvent>): void {
  switch (type) {
    case "turn.prepared":
      // It was made from this one.
      return;
    case "turn.dispatched":
      turn.attempt = data.attempt;
      turn.pauseMs = 0;
      return;
    case "turn.attempt-failed":
      turn.failedAttempt = data.attempt;
      turn.pauseMs = data.againInMs ?? 0;
      turn.refusal = data.error.code === "provider.refused" ? data.error.message : undefined;
      return;
    case "turn.said":
      turn.said.push({
        part: data.part,
        kind: data.kind,
        text: data.text,
        cut: data.cut ?? false,
        attempt: turn.attempt,
        providerMetadata: data.providerMetadata,
      });
      return;
    case "turn.replied":
      turn.replied = true;
      return;
    case "turn.settled":
      turn.outcome = data.outcome;
      return;
  }
}

/** The first end counts. */
function applyQuestionEvent(turn: Turn, { type, data }: EventAbout<"question", NewEvent>): void {
  if (type === "question.asked") {
    const { id, about } = data;
    const call = "callId" in about ? turn.calls.find((each) => each.id === about.callId) : undefined;
    if (call !== undefined) call.question = { id, about, end: undefined };
    return;
  }
  const question = turn.calls.find((each) => each.question?.id === data.id)?.question;
  if (question === undefined || question.end !== undefined) return;
  switch (type) {
    case "question.answered":
      question.end = { kind: "answered", answer: data.answer };
      return;
    case "question.defaulted":
      question.end = { kind: "defaulted", answer: data.answer };
      return;
    case "question.expired":
      question.end = { kind: "expired" };
      return;
    case "question.cancelled":
      question.end = { kind: "cancelled", reason: data.reason };
      return;
  }
}

function applyCallEvent(turn: Turn, { type, data }: EventAbout<"call", NewEvent>): void {
  if (type === "call.requested") {
    turn.calls.push(newCall(data));
    return;
  }
  const call = turn.calls.find((each) => each.id === data.id);
  if (call === undefined) return;
  switch (type) {
    case "call.started":
      call.attempt = data.attempt;
      call.reads = data.reads ?? false;
      call.changes = data.changes ?? [];
      call.beside = data.beside;
      call.environmentClosed = false;
      call.retryDecided = false;
      return;
    case "call.settled":
      call.end = { kind: "settled", result: data.result };
      return;
    case "call.failed":
      call.end = { kind: "failed", message: data.error.message };
      return;
    case "call.declined":
      call.end = { kind: "declined", reason: data.reason };
      return;
    case "call.interrupted":
      call.end = { kind: "interrupted", result: data.result };
      return;
    case "call.unknown":
      call.end = { kind: "unknown", reason: data.reason };
      return;
    case "call.decided":
      call.end = data.decision === "abandon" ? { kind: "failed", message: abandoned } : undefined;
      call.retryDecided = data.decision === "retry";
      return;
  }
}

function newCall(data: EventData<"call.requested">): Turn["calls"][number] {
  return {
    id: data.id,
    providerCallId: data.providerCallId,
    tool: data.tool,
    arguments: data.arguments,
    malformed: data.malformed,
    providerMetadata: data.providerMetadata,
    attempt: 0,
    reads: false,
    changes: [],
    beside: undefined,
    environmentClosed: false,
    retryDecided: false,
    question: undefined,
    end: undefined,
  };
}

const abandoned = "Nobody knows how this call ended; the operator chose not to run it again.";
