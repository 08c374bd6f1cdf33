import type {
  CallId,
  Delta,
  EnvironmentKind,
  EventData,
  Gap,
  InputId,
  PartId,
  ProjectId,
  SessionState,
  SessionView,
  StoredEvent,
  TodoItem,
  TurnId,
  WireEvent,
} from "@corral/protocol";
import { type EventAbout, isAbout, isKnown } from "@corral/protocol/event-types";
import { noFacts, questionStateAfter, type StateFacts, stateFrom, takeIntoState } from "@corral/protocol/state-fold";
import { finishWords } from "@corral/protocol/words";
import type {
  CallEnd,
  CallEntry,
  Entry,
  InputEntry,
  Note,
  NoteEntry,
  PartEntry,
  QuestionEntry,
  SaidIn,
} from "./entry.ts";
import { emptyOutput, grow, wholeOutput } from "./output.ts";
import { commandIn, noteWords, resultText } from "./words.ts";

/**
 * A session as a person reads it, folded from its events and deltas. The fold changes it in place, so that a reactive store sees what
 * changed and nothing else, and tells what each piece of news changed, for whoever prints as it comes. It loads no schema.
 */
export interface Transcript {
  /** The seq of the last event in it. */
  cursor: number;
  state: SessionState;
  /** What the state is made of. */
  facts: StateFacts;
  /** The seq of the event that told the state. */
  stateSeq: number;
  isInterrupting: boolean;
  /** The model was asked, and its reply is not whole yet. */
  isAsking: boolean;
  projectId: ProjectId | undefined;
  environment: EnvironmentKind | undefined;
  model: string;
  branch: string | undefined;
  /** The agent's list of what is to be done. */
  todo: readonly TodoItem[];
  entries: Entry[];
  readonly turns: TurnFacts[];
  /** What was said last since the last turn was prepared. */
  prompt: string | undefined;
  /** Parts that grow: only these are looked for when an attempt is given up. */
  growing: readonly PartId[];
}

export interface TurnFacts {
  readonly id: TurnId;
  /** False: its beginning is no longer kept. */
  readonly isWhole: boolean;
  /** What was said last before it. */
  readonly prompt: string | undefined;
  attempt: number;
  reply: Pick<EventData<"turn.replied">, "finish" | "usage" | "costUsd"> | undefined;
}

/** What one piece of news changed. `fresh`: the text that was not there before. */
export type Change =
  | { readonly what: "added"; readonly entry: InputEntry | CallEntry | QuestionEntry | NoteEntry }
  | { readonly what: "promoted"; readonly entry: InputEntry }
  | { readonly what: "grown" | "closed"; readonly entry: PartEntry; readonly fresh: string }
  | { readonly what: "started"; readonly entry: CallEntry }
  | { readonly what: "ended"; readonly entry: CallEntry | QuestionEntry };

/** What the model's replies took. `unpriced`: of so many nobody knows the price. */
export function usedIn(turns: readonly TurnFacts[]) {
  const used = { requests: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unpriced: 0 };
  for (const { reply } of turns) {
    if (reply === undefined) continue;
    used.requests += 1;
    used.inputTokens += reply.usage.inputTokens;
    used.outputTokens += reply.usage.outputTokens;
    used.costUsd += reply.costUsd ?? 0;
    if (reply.costUsd === undefined) used.unpriced += 1;
  }
  return used;
}

export function emptyTranscript(): Transcript {
  return {
    cursor: 0,
    state: { state: "idle", since: "" },
    facts: noFacts(""),
    stateSeq: 0,
    isInterrupting: false,
    isAsking: false,
    projectId: undefined,
    environment: undefined,
    model: "",
    branch: undefined,
    todo: [],
    entries: [],
    turns: [],
    prompt: undefined,
    growing: [],
  };
}

/** Takes an event in. What was taken in before is skipped. */
export function takeEvent(transcript: Transcript, event: WireEvent): Change | undefined {
  if (event.seq <= transcript.cursor) return undefined;
  transcript.cursor = event.seq;
  if (!isKnown(event)) return undefined;
  takeState(transcript, event);
  if (isAbout("input", event)) return takeInputEvent(transcript, event);
  if (isAbout("turn", event)) return takeTurnEvent(transcript, event);
  if (isAbout("call", event)) return takeCallEvent(transcript, event);
  if (isAbout("question", event)) return takeQuestionEvent(transcript, event);
  if (isAbout("activity", event)) return takeActivityEvent(transcript, event);
  return takeOtherEvent(transcript, event);
}

/** Tells of events that are no longer kept. What waited, grew or ran before them may have gone on meanwhile. */
export function takeGap(transcript: Transcript, { from, to }: Gap): Change | undefined {
  if (to <= transcript.cursor) return undefined;
  transcript.cursor = to;
  dropGrowing(transcript);
  for (const entry of transcript.entries) {
    if (entry.kind === "call") entry.isRunning = false;
    if (entry.kind === "input") entry.isWaiting = false;
  }
  return note(transcript, to, { about: "gap", from, to });
}

/** Takes in what the session is now, for what the gap has lost of it; what came behind the gap knows better. */
export function takeView(transcript: Transcript, view: SessionView, gap: Gap): void {
  transcript.projectId ??= view.projectId;
  transcript.model ||= view.model;
  if (transcript.todo.length === 0) transcript.todo = view.todo ?? [];
  if (transcript.stateSeq > gap.to) return;
  transcript.state = view.state;
  transcript.facts = {
    ...transcript.facts,
    activity: activityIn(view.state),
    trouble: undefined,
    line: lineIn(view.state),
  };
  transcript.isInterrupting &&= view.state.state === "thinking";
}

/** Takes a piece in of something that grows. What is closed already is not touched: its event had the whole. */
export function takeDelta(transcript: Transcript, delta: Delta): Change | undefined {
  if (delta.kind === "stdout" || delta.kind === "stderr") {
    const call = callOf(transcript, delta.part);
    if (call !== undefined && call.end === undefined) call[delta.kind] = grow(call[delta.kind], delta);
    return undefined;
  }
  const { kind, part: id } = delta;
  const part = partOf(transcript, id) ?? beginPart(transcript, { kind, id });
  if (!part.isGrowing) return undefined;
  const { end } = part.output;
  part.output = grow(part.output, delta);
  return { what: "grown", entry: part, fresh: delta.text.slice(Math.max(0, end - delta.offset)) };
}

/** Lets go of what nothing more happens to, for whoever has printed it. */
export function dropDone(transcript: Transcript): void {
  transcript.entries = transcript.entries.filter((entry) => {
    switch (entry.kind) {
      case "input":
        return entry.isWaiting;
      case "text":
      case "reasoning":
        return entry.isGrowing;
      case "call":
        return entry.end === undefined || entry.end.kind === "unknown";
      case "question":
        return entry.end === undefined;
      case "note":
        return false;
    }
  });
}

function takeState(transcript: Transcript, event: StoredEvent): void {
  const facts = { ...transcript.facts };
  takeIntoState(facts, event);
  const state = stateFrom(facts);
  if (JSON.stringify(facts) !== JSON.stringify(transcript.facts)) transcript.facts = facts;
  if (JSON.stringify(state) === JSON.stringify(transcript.state)) return;
  transcript.state = state;
  transcript.stateSeq = event.seq;
}

function lineIn(state: SessionState): StateFacts["line"] {
  return state.state === "waiting" && state.on === "place" ? state : undefined;
}

/** What of a state is its activity's. */
function activityIn(state: SessionState): StateFacts["activity"] {
  if (state.state === "recovering") return { state: "thinking", since: state.since, activityId: state.activityId };
  if (state.state === "parked" || (state.state === "waiting" && state.on === "place"))
    return { state: "idle", since: state.since };
  return state;
}

function takeInputEvent(transcript: Transcript, { type, data }: EventAbout<"input">): Change | undefined {
  switch (type) {
    case "input.admitted": {
      const { id, text, attachments } = data;
      return add(transcript, { kind: "input", id, text, attachments, isWaiting: true });
    }
    case "input.edited": {
      const input = inputOf(transcript, data.id);
      if (input !== undefined) input.text = data.text;
      return undefined;
    }
    case "input.flipped":
    case "input.advanced":
      // Its place in the queue is the inbox's to show.
      return undefined;
    case "input.cancelled":
      transcript.entries = transcript.entries.filter(
        (entry) => entry.kind !== "input" || entry.id !== data.id || !entry.isWaiting,
      );
      return undefined;
    case "input.promoted": {
      const input = inputOf(transcript, data.id);
      transcript.prompt = input?.text ?? "";
      if (input === undefined) return undefined;
      input.isWaiting = false;
      return { what: "promoted", entry: input };
    }
  }
}

function takeTurnEvent(transcript: Transcript, { type, data, seq }: EventAbout<"turn">): Change | undefined {
  switch (type) {
    case "turn.prepared":
      transcript.turns.push({ id: data.id, isWhole: true, prompt: transcript.prompt, attempt: 0, reply: undefined });
      transcript.prompt = undefined;
      return undefined;
    case "turn.dispatched":
      transcript.isAsking = true;
      turnOf(transcript, data.id).attempt = data.attempt;
      if (data.attempt === 1) return undefined;
      dropGrowing(transcript);
      return note(transcript, seq, { about: "asked-again", attempt: data.attempt });
    case "turn.attempt-failed": {
      transcript.isAsking = false;
      const saidIn = { turn: data.id, attempt: data.attempt };
      return note(transcript, seq, { about: "attempt-failed", saidIn, error: data.error, againInMs: data.againInMs });
    }
    case "turn.said":
      return say(transcript, data);
    case "turn.replied": {
      const { finish, usage, costUsd } = data;
      transcript.isAsking = false;
      turnOf(transcript, data.id).reply = { finish, usage, costUsd };
      return finishWords({ finish }) === undefined ? undefined : note(transcript, seq, { about: "finish", finish });
    }
    case "turn.settled":
      transcript.isAsking = false;
      dropGrowing(transcript);
      return undefined;
  }
}

function say(transcript: Transcript, { part: id, kind, text, cut }: EventData<"turn.said">): Change {
  const part = partOf(transcript, id) ?? beginPart(transcript, { kind, id });
  const fresh = text.slice(part.output.end);
  Object.assign(part, { output: wholeOutput(text), isGrowing: false, isCut: cut === true });
  transcript.growing = transcript.growing.filter((each) => each !== id);
  return { what: "closed", entry: part, fresh };
}

function takeCallEvent(transcript: Transcript, event: EventAbout<"call">): Change | undefined {
  if (event.type === "call.requested") {
    const { id, turnId, tool, arguments: given, malformed, providerCallId } = event.data;
    const saidIn = { turn: turnId, attempt: turnOf(transcript, turnId).attempt };
    return add(transcript, { ...newCall, id, saidIn, tool, arguments: given, malformed, providerCallId });
  }
  const known = callOf(transcript, event.data.id);
  if (event.type === "call.decided") {
    if (known?.end?.kind === "unknown") known.end = { ...known.end, decision: event.data.decision };
    return undefined;
  }
  const call = known ?? earlierCall(transcript, event.data.id);
  switch (event.type) {
    case "call.started":
      if (event.data.attempt > 1) Object.assign(call, { stdout: emptyOutput, stderr: emptyOutput });
      Object.assign(call, { isRunning: true, end: undefined });
      return { what: "started", entry: call };
    case "call.settled": {
      const { result, recovered = false } = event.data;
      takeResult(call, result);
      return end(call, { kind: "settled", result, recovered });
    }
    case "call.failed":
      return end(call, { kind: "failed", message: event.data.error.message });
    case "call.declined":
      return end(call, { kind: "declined", reason: event.data.reason });
    case "call.interrupted":
      if (event.data.result !== undefined) takeResult(call, event.data.result);
      return end(call, { kind: "interrupted" });
    case "call.unknown":
      return end(call, { kind: "unknown", reason: event.data.reason, decision: undefined });
  }
}

const newCall = { kind: "call", isRunning: false, stdout: emptyOutput, stderr: emptyOutput, end: undefined } as const;

/** One whose request came before all that was taken in. */
function earlierCall(transcript: Transcript, id: CallId): CallEntry {
  const unknown = { tool: "", arguments: {}, malformed: undefined, providerCallId: "" };
  transcript.entries.push({ ...newCall, ...unknown, id, saidIn: { turn: undefined, attempt: 0 } });
  return transcript.entries.at(-1) as CallEntry;
}

function takeResult(call: CallEntry, result: unknown): void {
  const { stdout, stderr } = commandIn(result) ?? { stdout: resultText(call.tool, result), stderr: "" };
  call.stdout = wholeOutput(stdout);
  call.stderr = wholeOutput(stderr);
}

function end(call: CallEntry, how: CallEnd): Change {
  call.isRunning = false;
  call.end = how;
  return { what: "ended", entry: call };
}

function takeQuestionEvent(transcript: Transcript, event: EventAbout<"question">): Change | undefined {
  if (event.type === "question.asked") {
    const { id, about, text, choices, takesText, timeLimitMs, default: usual } = event.data;
    const deadline = timeLimitMs === undefined ? undefined : Date.parse(event.approximateCreationTime) + timeLimitMs;
    const asked = { id, about, text, choices, takesText, default: usual, deadline };
    return add(transcript, { kind: "question", ...asked, end: undefined });
  }
  const { id } = event.data;
  const question = transcript.entries.findLast((entry) => entry.kind === "question" && entry.id === id);
  if (question?.kind !== "question") return undefined;
  question.end = questionStateAfter(event);
  return { what: "ended", entry: question };
}

function takeActivityEvent(transcript: Transcript, { type, data, seq }: EventAbout<"activity">): Change | undefined {
  switch (type) {
    case "activity.opened":
      return data.continued === undefined ? undefined : note(transcript, seq, { about: "continued" });
    case "activity.interrupt-requested":
      transcript.isInterrupting = true;
      return undefined;
    case "activity.recovering":
      return note(transcript, seq, { about: "recovering", reason: data.reason });
    case "activity.waiting":
      // The question itself is an entry.
      return data.on === "question" ? undefined : note(transcript, seq, { about: "waiting", on: data.on });
    case "activity.resumed":
      return undefined;
    case "activity.settled": {
      const { outcome, error } = data;
      transcript.isInterrupting = false;
      dropGrowing(transcript);
      if (outcome === "interrupted") return note(transcript, seq, { about: "interrupted" });
      if (outcome === "done") return undefined;
      return note(transcript, seq, { about: "failed", message: error?.message, hint: error?.hint });
    }
  }
}

function takeOtherEvent(transcript: Transcript, { type, data, seq }: StoredEvent): Change | undefined {
  switch (type) {
    case "session.created":
      transcript.projectId = data.projectId;
      transcript.environment = data.environment.kind;
      transcript.model = data.model;
      return undefined;
    case "workspace.prepared": {
      const lacking = { about: "lacking", lacks: data.lacks, skipped: data.skipped } as const;
      transcript.branch = data.branch;
      return noteWords(lacking) === "" ? undefined : note(transcript, seq, lacking);
    }
    case "todo.changed":
      transcript.todo = data.items;
      return undefined;
    case "environment.closed":
      return data.breach === true ? note(transcript, seq, { about: "breach", reason: data.reason }) : undefined;
    case "place.awaited":
      return note(transcript, seq, { about: "line", place: data });
    case "queue.parked":
      return note(transcript, seq, { about: "queue", is: "parked" });
    case "queue.resumed":
      return note(transcript, seq, { about: "queue", is: "resumed" });
    default:
      // Other events tell nothing that was said, done or asked.
      return undefined;
  }
}

function note(transcript: Transcript, seq: number, told: Note): Change {
  return add(transcript, { kind: "note", id: `note-${seq}`, note: told });
}

function add(transcript: Transcript, entry: Extract<Change, { what: "added" }>["entry"]): Change {
  transcript.entries.push(entry);
  return { what: "added", entry };
}

/** What is changed afterwards is the entry as the transcript has it: a reactive store sees no other. */
function beginPart(transcript: Transcript, { kind, id }: Pick<PartEntry, "kind" | "id">): PartEntry {
  const turn = transcript.turns.at(-1);
  const saidIn: SaidIn = { turn: turn?.id, attempt: turn?.attempt ?? 0 };
  transcript.entries.push({ kind, id, saidIn, output: emptyOutput, isGrowing: true, isCut: false });
  transcript.growing = [...transcript.growing, id];
  return transcript.entries.at(-1) as PartEntry;
}

/** What grew and was never closed belongs to an attempt that was given up. */
function dropGrowing(transcript: Transcript): void {
  if (transcript.growing.length === 0) return;
  transcript.growing = [];
  transcript.entries = transcript.entries.filter((entry) => !("isGrowing" in entry) || !entry.isGrowing);
}

/** The beginning may be trimmed. */
function turnOf(transcript: Transcript, id: TurnId): TurnFacts {
  const known = transcript.turns.findLast((turn) => turn.id === id);
  if (known !== undefined) return known;
  transcript.turns.push({ id, isWhole: false, prompt: undefined, attempt: 0, reply: undefined });
  return transcript.turns.at(-1)!;
}

// What is looked for is among the last, so each of these ends soon.

function inputOf(transcript: Transcript, id: InputId): InputEntry | undefined {
  return transcript.entries.findLast((entry) => entry.kind === "input" && entry.id === id) as InputEntry | undefined;
}

/** Most parts that are looked for are new, so the turn's own entries are all that is gone through. */
function partOf({ entries, turns }: Transcript, id: PartId): PartEntry | undefined {
  const turn = turns.at(-1)?.id;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (entry === undefined || !("saidIn" in entry)) continue;
    if (entry.kind !== "call" && entry.id === id) return entry;
    if (turn !== undefined && entry.saidIn.turn !== undefined && entry.saidIn.turn !== turn) return undefined;
  }
  return undefined;
}

function callOf(transcript: Transcript, id: string): CallEntry | undefined {
  return transcript.entries.findLast((entry) => entry.kind === "call" && entry.id === id) as CallEntry | undefined;
}
