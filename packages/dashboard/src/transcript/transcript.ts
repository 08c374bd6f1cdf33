import {
  finishWords,
  answerWords,
  type AskedQuestion,
  type CallId,
  type CommandResult,
  commandResult,
  type Delta,
  type EnvironmentKind,
  type Gap,
  type InputId,
  isKnown,
  noFacts,
  type PartId,
  type ProjectId,
  type QuestionId,
  type SessionState,
  type SessionView,
  type StateFacts,
  stateFrom,
  type StoredEvent,
  takeIntoState,
  type WireEvent,
  resultWords,
  type TodoItem,
  toolWords,
  type Attachment,
  inputWords,
  heldBackWords,
} from "@corral/protocol";
import { emptyOutput, grow, type Output } from "./output.ts";

/** A session as a person reads it. */
export interface Transcript {
  /** The seq of the last event in it. */
  cursor: number;
  state: SessionState;
  /** What the state is made of. */
  facts: StateFacts;
  /** The seq of the event that told the state. */
  stateSeq: number;
  isInterrupting: boolean;
  projectId: ProjectId | undefined;
  environment: EnvironmentKind | undefined;
  model: string;
  branch: string | undefined;
  /** The agent's list of what is to be done. */
  todo: readonly TodoItem[];
  entries: Entry[];
}

export type Entry = InputEntry | PartEntry | CallEntry | QuestionEntry | NoteEntry;

export interface InputEntry {
  readonly kind: "input";
  readonly id: InputId;
  text: string;
  readonly attachments: readonly Attachment[];
  isWaiting: boolean;
}

export interface PartEntry {
  readonly kind: "text" | "reasoning";
  readonly id: PartId;
  output: Output;
  isGrowing: boolean;
  isCut: boolean;
}

export interface CallEntry {
  readonly kind: "call";
  readonly id: CallId;
  readonly tool: string;
  /** What was asked of the tool, in one text. */
  readonly request: string;
  isRunning: boolean;
  stdout: Output;
  stderr: Output;
  end: CallEnd | undefined;
}

export type CallEnd =
  | {
      readonly kind: "settled";
      readonly exitCode: number | undefined;
      readonly notes: readonly string[];
      /** The whole of what was cut. */
      readonly artifacts?: readonly { readonly stream: string; readonly id: string; readonly bytes: number }[];
    }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "declined"; readonly reason: string }
  | { readonly kind: "interrupted" }
  | { readonly kind: "unknown"; readonly reason: string; readonly decision: "retry" | "abandon" | undefined };

export interface QuestionEntry extends Pick<AskedQuestion, "about" | "text" | "choices" | "takesText" | "default"> {
  readonly kind: "question";
  readonly id: QuestionId;
  /** Milliseconds since 1970. */
  readonly deadline: number | undefined;
  /** How it ended, in words. */
  end: string | undefined;
}

/** What Corral has to say itself. */
export interface NoteEntry {
  readonly kind: "note";
  readonly id: string;
  readonly tone: "quiet" | "bad";
  readonly text: string;
  readonly hint: string | undefined;
}

export function emptyTranscript(): Transcript {
  return {
    cursor: 0,
    state: { state: "idle", since: "" },
    facts: noFacts(""),
    stateSeq: 0,
    isInterrupting: false,
    projectId: undefined,
    environment: undefined,
    model: "",
    branch: undefined,
    todo: [],
    entries: [],
  };
}

/**
 * Takes an event in. Changes the transcript in place, so that a reactive store sees what changed and nothing else.
 * What was taken in before is skipped.
 */
export function takeEvent(transcript: Transcript, event: WireEvent): void {
  if (event.seq <= transcript.cursor) return;
  transcript.cursor = event.seq;
  if (!isKnown(event)) return;
  takeState(transcript, event);
  takeSettings(transcript, event);
  if (event.type.startsWith("call.")) takeCallEvent(transcript, event);
  else if (event.type.startsWith("question.")) takeQuestionEvent(transcript, event);
  else takeTurnEvent(transcript, event);
}

/** Tells of events that are no longer kept. What waited, grew or ran before them may have gone on meanwhile. */
export function takeGap(transcript: Transcript, { from, to }: Gap): void {
  if (to <= transcript.cursor) return;
  transcript.cursor = to;
  dropGrowing(transcript);
  for (const entry of transcript.entries) {
    if (entry.kind === "call") entry.isRunning = false;
    if (entry.kind === "input") entry.isWaiting = false;
  }
  const text = `Events ${from} to ${to} are no longer kept`;
  transcript.entries.push({ kind: "note", id: `note-${to}`, tone: "quiet", text, hint: undefined });
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
export function takeDelta(transcript: Transcript, delta: Delta): void {
  if (delta.kind === "stdout" || delta.kind === "stderr") {
    const call = callOf(transcript, delta.part);
    if (call !== undefined && call.end === undefined) call[delta.kind] = grow(call[delta.kind], delta);
    return;
  }
  const { kind, part: id } = delta;
  const part = partOf(transcript, id);
  if (part === undefined) {
    transcript.entries.push({ kind, id, output: grow(emptyOutput, delta), isGrowing: true, isCut: false });
  } else if (part.isGrowing) part.output = grow(part.output, delta);
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

function takeSettings(transcript: Transcript, event: StoredEvent): void {
  switch (event.type) {
    case "session.created":
      transcript.projectId = event.data.projectId;
      transcript.environment = event.data.environment.kind;
      transcript.model = event.data.model;
      return;
    case "workspace.prepared":
      transcript.branch = event.data.branch;
      return;
    case "todo.changed":
      transcript.todo = event.data.items;
      return;
    case "activity.interrupt-requested":
      transcript.isInterrupting = true;
      return;
    case "activity.settled":
      transcript.isInterrupting = false;
      return;
    default:
      return;
  }
}

function inputOf(transcript: Transcript, id: InputId): InputEntry | undefined {
  const entry = transcript.entries.findLast((each) => each.kind === "input" && each.id === id);
  return entry?.kind === "input" ? entry : undefined;
}

function takeTurnEvent(transcript: Transcript, event: StoredEvent): void {
  const note = (tone: NoteEntry["tone"], text: string, hint?: string) =>
    transcript.entries.push({ kind: "note", id: `note-${event.seq}`, tone, text, hint });
  switch (event.type) {
    case "input.admitted":
      transcript.entries.push({
        kind: "input",
        id: event.data.id,
        text: inputWords(event.data),
        attachments: event.data.attachments,
        isWaiting: true,
      });
      return;
    case "input.promoted": {
      const input = inputOf(transcript, event.data.id);
      if (input !== undefined) input.isWaiting = false;
      return;
    }
    case "input.edited": {
      const input = inputOf(transcript, event.data.id);
      if (input !== undefined) input.text = inputWords({ text: event.data.text, attachments: input.attachments });
      return;
    }
    case "input.cancelled":
      transcript.entries = transcript.entries.filter(
        (entry) => entry.kind !== "input" || entry.id !== event.data.id || !entry.isWaiting,
      );
      return;
    case "turn.dispatched":
      if (event.data.attempt === 1) return;
      dropGrowing(transcript);
      note("quiet", `Asked the model again (attempt ${event.data.attempt})`);
      return;
    case "turn.attempt-failed":
      note("quiet", `The model did not answer: ${event.data.error.message}`);
      return;
    case "environment.closed":
      if (event.data.breach === true) note("bad", `The environment was ended: ${event.data.reason}.`);
      return;
    case "turn.said":
      return say(transcript, event.data);
    case "turn.replied": {
      const words = finishWords(event.data);
      if (words !== undefined) note("quiet", `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}`);
      return;
    }
    case "turn.settled":
      return dropGrowing(transcript);
    case "activity.opened":
      if (event.data.continued !== undefined) note("quiet", "Asked to go on");
      return;
    case "activity.waiting":
      if (event.data.on === "continue") note("quiet", "It took many turns and waits. Write to it and it goes on.");
      return;
    case "activity.settled": {
      const { outcome, error } = event.data;
      dropGrowing(transcript);
      if (outcome === "interrupted") note("quiet", "Interrupted");
      if (outcome === "failed") note("bad", error?.message ?? "It failed.", error?.hint);
      return;
    }
    default:
      return;
  }
}

function say(
  transcript: Transcript,
  said: { part: PartId; kind: "text" | "reasoning"; text: string; cut?: boolean | undefined },
): void {
  const whole = { output: wholeOutput(said.text), isGrowing: false, isCut: said.cut === true };
  const part = partOf(transcript, said.part);
  if (part !== undefined) Object.assign(part, whole);
  else if (said.text !== "") transcript.entries.push({ kind: said.kind, id: said.part, ...whole });
}

/** What grew and was never closed belongs to an attempt that was given up. */
function dropGrowing(transcript: Transcript): void {
  const isGrowing = (entry: Entry) => (entry.kind === "text" || entry.kind === "reasoning") && entry.isGrowing;
  if (transcript.entries.some(isGrowing)) transcript.entries = transcript.entries.filter((entry) => !isGrowing(entry));
}

function takeQuestionEvent(transcript: Transcript, event: StoredEvent): void {
  if (event.type === "question.asked") {
    const { id, about, text, choices, takesText, timeLimitMs, default: usual } = event.data;
    const deadline = timeLimitMs === undefined ? undefined : Date.parse(event.approximateCreationTime) + timeLimitMs;
    transcript.entries.push({
      kind: "question",
      id,
      about,
      text,
      choices,
      takesText,
      default: usual,
      deadline,
      end: undefined,
    });
    return;
  }
  const id = "id" in event.data ? event.data.id : undefined;
  const question = transcript.entries.find((entry) => entry.kind === "question" && entry.id === id);
  if (question?.kind === "question") question.end = questionEnd(question, event);
}

function questionEnd(question: QuestionEntry, event: StoredEvent): string {
  switch (event.type) {
    case "question.answered":
      return `${event.actor.replace(/^person:/, "")} answered: ${answerWords(question, event.data.answer)}`;
    case "question.defaulted":
      return `Nobody answered in time; taken for the answer: ${answerWords(question, event.data.answer)}`;
    case "question.cancelled":
      return `Cancelled: ${event.data.reason}`;
    default:
      return "Nobody answered in time";
  }
}

function takeCallEvent(transcript: Transcript, event: StoredEvent): void {
  if (event.type === "call.requested") {
    const { id, tool, arguments: given } = event.data;
    transcript.entries.push({ ...newCall, id, tool, request: requestText(tool, given) });
    return;
  }
  const call = "id" in event.data ? callOf(transcript, event.data.id) : undefined;
  if (call === undefined) return;
  switch (event.type) {
    case "call.started":
      if (event.data.attempt > 1) Object.assign(call, { stdout: emptyOutput, stderr: emptyOutput });
      Object.assign(call, { isRunning: true, end: undefined });
      return;
    case "call.settled":
      return settle(call, event.data.result, event.data.recovered === true);
    case "call.failed":
      return end(call, { kind: "failed", message: event.data.error.message });
    case "call.declined":
      return end(call, { kind: "declined", reason: event.data.reason });
    case "call.interrupted":
      if (event.data.result !== undefined) settle(call, event.data.result, false);
      return end(call, { kind: "interrupted" });
    case "call.unknown":
      return end(call, { kind: "unknown", reason: event.data.reason, decision: undefined });
    case "call.decided":
      if (call.end?.kind === "unknown") call.end = { ...call.end, decision: event.data.decision };
      return;
    default:
      return;
  }
}

const newCall = { kind: "call", isRunning: false, stdout: emptyOutput, stderr: emptyOutput, end: undefined } as const;

function settle(call: CallEntry, result: unknown, recovered: boolean): void {
  const kept = recovered ? ["ended while nobody watched; its result was kept"] : [];
  const command = commandResult.safeParse(result);
  if (!command.success) {
    const words = resultWords(call.tool, result) ?? JSON.stringify(result, undefined, 2) ?? "";
    call.stdout = wholeOutput(typeof result === "string" ? result : words);
    return end(call, { kind: "settled", exitCode: undefined, notes: kept });
  }
  const { exitCode, stdout, stderr } = command.data;
  call.stdout = wholeOutput(stdout);
  call.stderr = wholeOutput(stderr);
  const artifacts = artifactsOf(command.data);
  end(call, {
    kind: "settled",
    exitCode,
    notes: [...notesOn(command.data), ...kept],
    ...(artifacts.length === 0 ? {} : { artifacts }),
  });
}

function artifactsOf({ artifacts }: CommandResult) {
  return Object.entries(artifacts ?? {}).flatMap(([stream, kept]) =>
    kept === undefined ? [] : [{ stream, id: kept.id, bytes: kept.bytes }],
  );
}

function notesOn({ timedOut, shellRespawned, heldBack }: CommandResult): string[] {
  const notes = [timedOut ? "ran out of time" : "", shellRespawned ? "the shell was started anew" : ""];
  return [...notes, heldBackWords(heldBack) ?? ""].filter((note) => note !== "");
}

function end(call: CallEntry, how: CallEnd): void {
  call.isRunning = false;
  call.end = how;
}

export function requestText(tool: string, given: Readonly<Record<string, unknown>>): string {
  const command = given["command"];
  if (tool === "shell" && typeof command === "string") return command.trimEnd();
  return toolWords(tool, given) ?? JSON.stringify(given, undefined, 2);
}

function wholeOutput(text: string): Output {
  return { text, end: text.length };
}

function partOf(transcript: Transcript, id: string): PartEntry | undefined {
  const found = transcript.entries.findLast(
    (entry) => (entry.kind === "text" || entry.kind === "reasoning") && entry.id === id,
  );
  return found as PartEntry | undefined;
}

function callOf(transcript: Transcript, id: string): CallEntry | undefined {
  return transcript.entries.findLast((entry) => entry.kind === "call" && entry.id === id) as CallEntry | undefined;
}
