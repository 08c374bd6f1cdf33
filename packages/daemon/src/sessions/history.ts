import {
  type ActivityId,
  type AnswerGiven,
  type ArtifactId,
  artifactOf,
  type CallChange,
  type CallId,
  type EnvironmentState,
  type EventData,
  type InputId,
  type InputView,
  type NewEvent,
  type PartId,
  type QuestionAbout,
  type QuestionId,
  type TerminalId,
  type ToolOffer,
  type TurnId,
  type WaitingOn,
} from "@corral/protocol";
import { wordsOf } from "./inbox.ts";

/**
 * A session as its events tell it. The same fold serves a run in progress (each event is applied as
 * it is recorded) and a recovery (all are applied at once), so that both see one truth and the
 * question "what is next" has one answer.
 */
export interface History {
  settings: EventData<"session.created"> | undefined;
  workspace: EventData<"workspace.prepared"> | undefined;
  /** Where earlier work was left whose folder was removed; the next workspace begins there. */
  leftAt: string | undefined;
  /** Of a workspace that is to be set up before any work. */
  setup: Setup | undefined;
  environment: EnvironmentState | undefined;
  /** People's, in its environment. */
  readonly terminals: Set<TerminalId>;
  /** What the model is told before all else, and which version of what it has been told by now. */
  context: ToldContext | undefined;
  /** The tools that the model may call. */
  offers: readonly ToolOffer[] | undefined;
  readonly entries: Entry[];
  /** Images and attachments, by their ids. */
  readonly files: Map<ArtifactId, KeptFile>;
  activity: OpenActivity | undefined;
  /** Inputs admitted and not yet promoted. */
  readonly inbox: Map<InputId, Pick<InputView, "text" | "attachments">>;
}

/** `due`: it is to be run before the next work. */
export interface Setup {
  readonly command: string;
  readonly onFailure: "stop" | "go-on";
  state: "due" | "running" | "done" | "failed" | "skipped";
  attempt: number;
  /** While it runs. */
  cancelRequested: boolean;
}

export interface ToldContext {
  readonly system: string;
  readonly topics: Map<string, string>;
}

/** What the conversation consists of, in order. `told`: by Corral, of a topic that is another now. `attached`: what is shown with it. */
export type Entry =
  | { readonly kind: "input"; readonly text: string; readonly attached?: readonly AttachedFile[] }
  | { readonly kind: "told"; readonly topic: string; readonly text: string }
  | Turn;

/** What came along with an input, or with the result of a call, and is one of the session's artifacts. */
export interface AttachedFile {
  readonly artifact: ArtifactId;
  readonly name: string;
  readonly mediaType: string;
}

/** Where the bytes of an artifact are, and how they are known to be the ones. */
export interface KeptFile {
  readonly url: string;
  /** SHA-256; undefined until it is kept. */
  digest: string | undefined;
}

export interface OpenActivity {
  readonly id: ActivityId;
  /** Turns since a person last said something. */
  turns: number;
  /** An input or a call's result that no turn has answered yet. */
  unanswered: boolean;
  /** It is to end, with the turn under way at the latest. */
  endRequested: boolean;
  /** It is to end at once. */
  interruptRequested: boolean;
  waitingOn: WaitingOn | undefined;
  /** The turn in progress. */
  turn: Turn | undefined;
}

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

function emptyHistory(): History {
  return {
    settings: undefined,
    workspace: undefined,
    leftAt: undefined,
    setup: undefined,
    environment: undefined,
    terminals: new Set(),
    context: undefined,
    offers: undefined,
    entries: [],
    files: new Map(),
    activity: undefined,
    inbox: new Map(),
  };
}

export function foldHistory(events: Iterable<NewEvent>): History {
  const history = emptyHistory();
  for (const each of events) applyEvent(history, each);
  return history;
}

export function applyEvent(history: History, { type, data }: NewEvent): void {
  switch (type) {
    case "session.created":
      history.settings = data;
      return;
    case "workspace.prepared":
    case "workspace.discarded":
    case "workspace.cleared":
    case "setup.started":
    case "setup.ended":
    case "setup.decided":
      applyWorkspaceEvent(history, { type, data } as NewEvent);
      return;
    case "environment.opened":
      history.environment = data.state;
      return;
    case "environment.closed":
      if (history.environment?.id !== data.id) return;
      history.environment = undefined;
      for (const entry of history.entries)
        for (const call of entry.kind === "turn" ? entry.calls : []) call.environmentClosed ||= call.attempt > 0;
      return;
    case "terminal.opened":
      history.terminals.add(data.id);
      return;
    case "terminal.closed":
      history.terminals.delete(data.id);
      return;
    case "context.set":
      history.context = { system: data.system, topics: new Map(Object.entries(data.topics)) };
      return;
    case "context.told":
      history.context?.topics.set(data.topic, data.version);
      history.entries.push({ kind: "told", topic: data.topic, text: data.text });
      return;
    case "tools.offered":
      history.offers = data.tools;
      return;
    case "input.admitted":
      history.inbox.set(data.id, data);
      return;
    case "input.edited":
      history.inbox.set(data.id, { attachments: [], ...history.inbox.get(data.id), text: data.text });
      return;
    case "input.cancelled":
      history.inbox.delete(data.id);
      return;
    case "artifact.announced":
      if (data.kind === "image" || data.kind === "attachment")
        history.files.set(data.id, { url: data.url, digest: undefined });
      return;
    case "artifact.kept": {
      const file = history.files.get(data.id);
      if (file !== undefined) file.digest = data.digest;
      return;
    }
    case "artifact.expired":
      history.files.delete(data.id);
      return;
    case "input.promoted":
      history.entries.push(inputEntry(history.inbox.get(data.id) ?? { text: "", attachments: [] }));
      history.inbox.delete(data.id);
      heard(history);
      return;
    default:
      applyActivityEvent(history, { type, data } as NewEvent);
  }
}

function inputEntry(input: Pick<InputView, "text" | "attachments">): Entry {
  const attached = input.attachments.flatMap((each): AttachedFile[] => {
    const artifact = artifactOf(each);
    return artifact === undefined ? [] : [{ artifact, name: each.name, mediaType: each.mediaType }];
  });
  return { kind: "input", text: wordsOf(input), ...(attached.length === 0 ? {} : { attached }) };
}

function applyWorkspaceEvent(history: History, { type, data }: NewEvent): void {
  const { setup } = history;
  switch (type) {
    case "workspace.prepared": {
      const wanted = data.way === "in place" ? undefined : history.settings?.setup;
      // One that is prepared, or restored, a second time under the same name is set up already.
      if (history.workspace === undefined && wanted !== undefined)
        history.setup = { ...wanted, state: "due", attempt: setup?.attempt ?? 0, cancelRequested: false };
      history.workspace = data;
      return;
    }
    case "workspace.discarded":
    case "workspace.cleared":
      history.workspace = undefined;
      history.leftAt = type === "workspace.cleared" && data.commit !== "" ? data.commit : undefined;
      return;
    case "setup.started":
      if (setup !== undefined)
        Object.assign(setup, { state: "running", attempt: data.attempt, cancelRequested: false });
      return;
    case "setup.ended":
      if (setup !== undefined)
        Object.assign(setup, { state: data.outcome === "cancelled" ? "due" : data.outcome, cancelRequested: false });
      return;
    case "setup.decided":
      if (setup === undefined) return;
      if (data.decision === "cancel") setup.cancelRequested = setup.state === "running";
      else setup.state = data.decision === "again" ? "due" : "skipped";
      return;
    default:
  }
}

function applyActivityEvent(history: History, { type, data }: NewEvent): void {
  const activity = history.activity;
  switch (type) {
    case "activity.opened":
      history.activity = newActivity(data.id);
      return;
    case "activity.interrupt-requested":
      if (activity?.id !== data.id) return;
      activity.endRequested = true;
      activity.interruptRequested ||= data.at !== "boundary";
      return;
    case "activity.waiting":
      if (activity?.id === data.id) activity.waitingOn = data.on;
      return;
    case "activity.resumed":
      if (activity?.id !== data.id) return;
      if (activity.waitingOn === "continue") activity.turns = 0;
      activity.waitingOn = undefined;
      return;
    case "activity.settled":
      if (activity?.id === data.id) history.activity = undefined;
      return;
    case "turn.prepared": {
      if (activity === undefined) return;
      const turn = newTurn(data, history.offers);
      activity.turn = turn;
      activity.turns += 1;
      activity.unanswered = false;
      history.entries.push(turn);
      return;
    }
    default:
      if (activity?.turn !== undefined) applyTurnEvent(activity, activity.turn, { type, data } as NewEvent);
  }
}

function applyTurnEvent(activity: OpenActivity, turn: Turn, { type, data }: NewEvent): void {
  switch (type) {
    case "turn.dispatched":
      turn.attempt = data.attempt;
      turn.pauseMs = 0;
      return;
    case "turn.attempt-failed":
      turn.failedAttempt = data.attempt;
      turn.pauseMs = data.againInMs ?? 0;
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
      activity.turn = undefined;
      activity.unanswered ||= turn.calls.length > 0;
      return;
    case "call.requested":
      turn.calls.push({
        id: data.id,
        providerCallId: data.providerCallId,
        tool: data.tool,
        arguments: data.arguments,
        malformed: data.malformed,
        providerMetadata: data.providerMetadata,
        attempt: 0,
        reads: false,
        changes: [],
        environmentClosed: false,
        retryDecided: false,
        question: undefined,
        end: undefined,
      });
      return;
    case "question.asked": {
      const { id, about } = data;
      const call = about.kind === "host" ? undefined : turn.calls.find((each) => each.id === about.callId);
      if (call !== undefined) call.question = { id, about, end: undefined };
      return;
    }
    case "question.answered":
    case "question.defaulted":
    case "question.expired":
    case "question.cancelled":
      applyQuestionEnd(turn, { type, data } as NewEvent);
      return;
    default:
      applyCallEvent(turn, { type, data } as NewEvent);
  }
}

/** The first end counts. */
function applyQuestionEnd(turn: Turn, { type, data }: NewEvent): void {
  const question = "id" in data ? turn.calls.find((each) => each.question?.id === data.id)?.question : undefined;
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
    default:
  }
}

function applyCallEvent(turn: Turn, { type, data }: NewEvent): void {
  const call = "id" in data ? turn.calls.find((each) => each.id === data.id) : undefined;
  if (call === undefined) return;
  switch (type) {
    case "call.started":
      call.attempt = data.attempt;
      call.reads = data.reads ?? false;
      call.changes = data.changes ?? [];
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
    default:
  }
}

const abandoned = "Nobody knows how this call ended; the operator chose not to run it again.";

/** A person has spoken: an activity that waits goes on, with a fresh count of turns. */
function heard(history: History): void {
  const activity = history.activity;
  if (activity === undefined) return;
  activity.unanswered = true;
  activity.turns = 0;
  if (activity.waitingOn === "continue") activity.waitingOn = undefined;
}

function newActivity(id: ActivityId): OpenActivity {
  return {
    id,
    turns: 0,
    unanswered: false,
    endRequested: false,
    interruptRequested: false,
    waitingOn: undefined,
    turn: undefined,
  };
}

function newTurn(data: EventData<"turn.prepared">, offers: Turn["offers"]): Turn {
  return {
    kind: "turn",
    id: data.id,
    requestHash: data.requestHash,
    offers,
    attempt: 0,
    failedAttempt: 0,
    pauseMs: 0,
    said: [],
    calls: [],
    replied: false,
    outcome: undefined,
  };
}
