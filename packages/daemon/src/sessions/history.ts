import {
  type ActivityId,
  type ArtifactId,
  artifactOf,
  type EnvironmentState,
  type EventAbout,
  type EventData,
  type InputId,
  type InputView,
  isAbout,
  isEndOf,
  type NewEvent,
  type TerminalId,
  type ToolOffer,
  type WaitingOn,
} from "@corral/protocol";
import { wordsOf } from "./inbox.ts";
import { applyTurnEvent, newTurn, type Turn } from "./turn.ts";

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

export function applyEvent(history: History, told: NewEvent): void {
  if (isAbout("input", told)) return applyInputEvent(history, told);
  if (isAbout("artifact", told)) return applyArtifactEvent(history, told);
  if (isAbout("setup", told)) return applySetupEvent(history, told);
  if (isAbout("activity", told)) return applyActivityEvent(history, told);
  switch (told.type) {
    case "session.created":
      history.settings = told.data;
      return;
    case "workspace.prepared":
      return prepared(history, told.data);
    case "workspace.discarded":
    case "workspace.cleared":
      history.workspace = undefined;
      history.leftAt = told.type === "workspace.cleared" && told.data.commit !== "" ? told.data.commit : undefined;
      return;
    case "environment.opened":
      history.environment = told.data.state;
      return;
    case "environment.closed":
      if (history.environment?.id !== told.data.id) return;
      history.environment = undefined;
      for (const entry of history.entries)
        for (const call of entry.kind === "turn" ? entry.calls : []) call.environmentClosed ||= call.attempt > 0;
      return;
    case "terminal.opened":
      history.terminals.add(told.data.id);
      return;
    case "terminal.closed":
      history.terminals.delete(told.data.id);
      return;
    case "context.set":
      history.context = { system: told.data.system, topics: new Map(Object.entries(told.data.topics)) };
      return;
    case "context.told":
      history.context?.topics.set(told.data.topic, told.data.version);
      history.entries.push({ kind: "told", topic: told.data.topic, text: told.data.text });
      return;
    case "tools.offered":
      history.offers = told.data.tools;
      return;
    default:
      // Calls, questions and turns are of the activity; no other event tells what comes next.
      if (history.activity !== undefined) applyToActivity(history, history.activity, told);
  }
}

function applyInputEvent(history: History, { type, data }: EventAbout<"input", NewEvent>): void {
  switch (type) {
    case "input.admitted":
      history.inbox.set(data.id, data);
      return;
    case "input.edited":
      history.inbox.set(data.id, { attachments: [], ...history.inbox.get(data.id), text: data.text });
      return;
    case "input.flipped":
    case "input.advanced":
      // When it is promoted is for the inbox to say.
      return;
    case "input.cancelled":
      history.inbox.delete(data.id);
      return;
    case "input.promoted":
      history.entries.push(inputEntry(history.inbox.get(data.id) ?? { text: "", attachments: [] }));
      history.inbox.delete(data.id);
      heard(history);
      return;
  }
}

function applyArtifactEvent(history: History, { type, data }: EventAbout<"artifact", NewEvent>): void {
  switch (type) {
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
  }
}

function inputEntry(input: Pick<InputView, "text" | "attachments">): Entry {
  const attached = input.attachments.flatMap((each): AttachedFile[] => {
    const artifact = artifactOf(each);
    return artifact === undefined ? [] : [{ artifact, name: each.name, mediaType: each.mediaType }];
  });
  return { kind: "input", text: wordsOf(input), ...(attached.length === 0 ? {} : { attached }) };
}

function prepared(history: History, data: EventData<"workspace.prepared">): void {
  const wanted = data.way === "in place" ? undefined : history.settings?.setup;
  // One that is prepared, or restored, a second time under the same name is set up already.
  if (history.workspace === undefined && wanted !== undefined)
    history.setup = { ...wanted, state: "due", attempt: history.setup?.attempt ?? 0, cancelRequested: false };
  history.workspace = data;
}

function applySetupEvent({ setup }: History, { type, data }: EventAbout<"setup", NewEvent>): void {
  if (setup === undefined) return;
  switch (type) {
    case "setup.started":
      Object.assign(setup, { state: "running", attempt: data.attempt, cancelRequested: false });
      return;
    case "setup.ended":
      Object.assign(setup, { state: data.outcome === "cancelled" ? "due" : data.outcome, cancelRequested: false });
      return;
    case "setup.decided":
      if (data.decision === "cancel") setup.cancelRequested = setup.state === "running";
      else setup.state = data.decision === "again" ? "due" : "skipped";
      return;
  }
}

function applyActivityEvent(history: History, { type, data }: EventAbout<"activity", NewEvent>): void {
  if (type === "activity.opened") {
    history.activity = newActivity(data.id);
    if (data.continued === undefined) return;
    if (!isUnanswered(history.entries)) history.entries.push({ kind: "told", topic: "continue", text: askedToGoOn });
    history.activity.unanswered = true;
    return;
  }
  const { activity } = history;
  if (activity?.id !== data.id) return;
  switch (type) {
    case "activity.interrupt-requested":
      activity.endRequested = true;
      activity.interruptRequested ||= data.at !== "boundary";
      return;
    case "activity.recovering":
      // The record says by itself where to go on.
      return;
    case "activity.waiting":
      activity.waitingOn = data.on;
      return;
    case "activity.resumed":
      if (activity.waitingOn === "continue") activity.turns = 0;
      activity.waitingOn = undefined;
      return;
    case "activity.settled":
      history.activity = undefined;
      return;
  }
}

function applyToActivity(history: History, activity: OpenActivity, told: NewEvent): void {
  if (told.type === "turn.prepared") {
    const turn = newTurn(told.data, history.offers);
    activity.turn = turn;
    activity.turns += 1;
    activity.unanswered = false;
    history.entries.push(turn);
    return;
  }
  if (activity.turn === undefined) return;
  applyTurnEvent(activity.turn, told);
  if (isEndOf("turn", told)) settleTurn(activity, activity.turn);
}

/** What the model reads where nothing new was said: providers take no conversation that ends with its own words. */
const askedToGoOn = "The operator asks you to go on.";

/** Whether the model has not replied to what was said last, as after a failure: it is asked the same once more. */
function isUnanswered(entries: readonly Entry[]): boolean {
  const last = entries.findLast((entry) => entry.kind !== "turn" || entry.said.length > 0 || entry.calls.length > 0);
  return last !== undefined && (last.kind !== "turn" || last.calls.length > 0);
}

function settleTurn(activity: OpenActivity, { calls }: Turn): void {
  activity.turn = undefined;
  activity.unanswered ||= calls.length > 0;
}

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
