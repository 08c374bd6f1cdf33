import { type CallEntry, emptyTranscript, type Entry, takeEvent, type TurnFacts } from "@corral/client/transcript";
import type { RehearsalScript, RehearsedFailure, RehearsedPart, RehearsedTurn, StoredEvent } from "@corral/protocol";

export interface RecordWish {
  /** Whether each turn expects what was said before it. */
  readonly expects: boolean;
}

/** What the model said in a session, from the session's events, as a script that says it again. */
export function recordScript(events: Iterable<StoredEvent>, { expects }: RecordWish): RehearsalScript {
  const transcript = emptyTranscript();
  for (const each of events) takeEvent(transcript, each);
  const entries = Map.groupBy(transcript.entries, (entry) => saidIn(entry)?.turn);
  return {
    turns: transcript.turns.flatMap((turn) => {
      const { failures, reply } = recorded(turn, entries.get(turn.id) ?? []);
      if (!turn.isWhole || (failures === undefined && reply === undefined)) return [];
      const expected = expects && turn.prompt !== undefined ? { expect: turn.prompt } : {};
      return [{ ...expected, ...(failures && { failures }), ...reply }];
    }),
  };
}

/** What was said in an attempt that a crash cut off was said to nobody. */
function recorded({ attempt, reply }: TurnFacts, entries: readonly Entry[]) {
  const partsOf = (of: number) => entries.flatMap((entry) => (saidIn(entry)?.attempt === of ? partIn(entry) : []));
  const failed = entries.flatMap((entry) => {
    const note = entry.kind === "note" ? entry.note : undefined;
    return note?.about === "attempt-failed" ? [{ of: note.saidIn.attempt, error: note.error }] : [];
  });
  const failures = failed.map(({ of, error }) => failureOf(error, partsOf(of)));
  const parts = failed.some(({ of }) => of === attempt) ? [] : partsOf(attempt);
  const finish = reply && { finish: finishOf(reply.finish), usage: reply.usage };
  return {
    failures: failures.length === 0 ? undefined : failures,
    reply: parts.length > 0 || finish !== undefined ? { reply: parts, ...finish } : undefined,
  };
}

function saidIn(entry: Entry) {
  if (entry.kind === "note") return entry.note.about === "attempt-failed" ? entry.note.saidIn : undefined;
  return "saidIn" in entry ? entry.saidIn : undefined;
}

function partIn(entry: Entry): RehearsedPart[] {
  switch (entry.kind) {
    case "text":
      return [{ say: entry.output.text }];
    case "reasoning":
      return [{ think: entry.output.text }];
    case "call":
      return [callOf(entry)];
    case "input":
    case "question":
    case "note":
      return [];
  }
}

/** Of arguments that were no JSON the log has the beginning, in the words for the model; of those that were no object, only that. */
function callOf({ tool, providerCallId, arguments: given, malformed }: CallEntry): RehearsedPart {
  const isNoObject = malformed === "The arguments must be a JSON object.";
  const [, json = isNoObject ? "null" : undefined] =
    /^The arguments were not valid JSON: (.*)$/s.exec(malformed ?? "") ?? [];
  const named = { call: tool, id: providerCallId };
  return json === undefined ? { ...named, arguments: given } : { ...named, malformed: json };
}

function failureOf({ code, message }: { code: string; message: string }, came: RehearsedPart[]): RehearsedFailure {
  const after = came.length === 0 ? {} : { after: came };
  if (code === "provider.refused") return { fail: "refused", message, ...after };
  if (code === "provider.overflow") return { fail: "overflow", message, ...after };
  return { fail: came.length === 0 ? "error" : "cut", message, ...after };
}

function finishOf(reason: string): NonNullable<RehearsedTurn["finish"]> {
  const known = ["stop", "length", "tool-calls", "content-filter"] as const;
  return known.find((each) => each === reason) ?? "other";
}
