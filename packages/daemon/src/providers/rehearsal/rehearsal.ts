import { setTimeout as delay } from "node:timers/promises";
import type { RehearsedFailure, RehearsedPart, RehearsedTurn } from "@corral/protocol";
import { overflowed, type ProviderFailure, refused, unavailable } from "../failure.ts";
import type { ModelRequest, Provider, ReplyPiece } from "../port.ts";
import { jsonOf } from "../told.ts";
import { released } from "./release.ts";
import { readScript } from "./script.ts";

export interface RehearsalOptions {
  /** The folder of scripts that are named without a path. */
  readonly scripts: string;
  /** The folder whose files release holds. */
  readonly releases: string;
}

/**
 * A provider whose models are scripts. It remembers nothing: which turn of the script answers follows from the request's
 * place alone, so a session that is recovered in another process goes on where it was, and many may follow one script.
 */
export function openRehearsal({ scripts, releases }: RehearsalOptions): Provider {
  async function* ask(request: ModelRequest, signal: AbortSignal): AsyncIterable<ReplyPiece> {
    await request.mayLeave;
    signal.throwIfAborted();
    const { turns } = await readScript(scripts, request.model);
    const { turn: number, attempt } = request.place ?? { turn: repliesIn(request) + 1, attempt: 1 };
    const turn = turns[number - 1];
    if (turn === undefined) throw exhausted(request.model, turns.length, number);
    mustFit(turn, number, request);
    const failure = turn.failures?.[attempt - 1] ?? (turn.reply === undefined ? turn.failures?.at(-1) : undefined);
    const parts = failure === undefined ? (turn.reply ?? []) : (failure.after ?? []);
    let open: string | undefined;
    for (const [n, part] of parts.entries()) {
      if ("hold" in part) await released(releases, part.hold, signal);
      else if ("wait" in part) await pause(part.wait, signal);
      else {
        if (open !== undefined) yield { kind: "end", part: open };
        open = "call" in part ? undefined : String(n);
        yield* "call" in part ? called(part, `call_${number}_${n + 1}`, signal) : spoken(part, String(n), signal);
      }
    }
    if (failure !== undefined) throw await failed(failure, signal);
    if (open !== undefined) yield { kind: "end", part: open };
    yield { kind: "finish", reason: turn.finish ?? usualFinish(parts), usage: turn.usage ?? noUsage };
  }
  return { name: "rehearsal", ask };
}

const noUsage = { inputTokens: 0, outputTokens: 0 };

async function* called(
  part: Extract<RehearsedPart, { call: string }>,
  usualId: string,
  signal: AbortSignal,
): AsyncIterable<ReplyPiece> {
  if ("arguments" in part) await pause((part.everyMs ?? 0) * (part.pieces ?? 1), signal);
  const json = "malformed" in part ? part.malformed : jsonOf(part.arguments);
  yield { kind: "call", id: part.id ?? usualId, tool: part.call, json };
}

/** It ends when something else begins, or the reply ends whole. */
async function* spoken(
  part: Extract<RehearsedPart, { say: string } | { think: string }>,
  id: string,
  signal: AbortSignal,
): AsyncIterable<ReplyPiece> {
  const isText = "say" in part;
  yield { kind: "begin", part: id, of: isText ? "text" : "reasoning" };
  for (const text of split(isText ? part.say : part.think, part.pieces ?? 1)) {
    await pause(part.everyMs ?? 0, signal);
    yield { kind: "delta", part: id, text };
  }
}

async function failed(failure: RehearsedFailure, signal: AbortSignal): Promise<ProviderFailure> {
  const { fail, retryAfterMs, silentMs = 60_000, message } = failure;
  switch (fail) {
    case "refused":
      return refused(message ?? "The rehearsed provider refuses the request.", "The script wants it so");
    case "overflow":
      return overflowed(message ?? "The conversation is too long for the rehearsed model.");
    case "stalled":
      await pause(silentMs, signal);
      return unavailable(message ?? `The rehearsed provider said nothing for ${silentMs / 1000} s.`, { retryAfterMs });
    case "rate-limited":
    case "error":
    case "unreachable":
    case "cut":
      return unavailable(message ?? passing[fail], { retryAfterMs });
  }
}

const passing = {
  "rate-limited": "The rehearsed provider limits the rate.",
  error: "The rehearsed provider failed with status 500.",
  unreachable: "The rehearsed provider cannot be reached.",
  cut: "The rehearsed reply broke off before its end.",
} as const;

function exhausted(model: string, turns: number, asked: number): ProviderFailure {
  return refused(
    `The script "${model}" is over: it has ${turns === 1 ? "one turn" : `${turns} turns`}, and turn ${asked} is asked for.`,
    "Add a turn to the script, or begin a new session to rehearse it from the start",
  );
}

function mustFit({ expect, expectResult }: RehearsedTurn, number: number, { messages }: ModelRequest): void {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const users = messages.flatMap((message, at) => (message.role === "user" ? [{ at, text: message.text }] : []));
  const since = users.filter(({ at }) => at > last);
  const said = (since.length > 0 ? since : users.slice(-1)).map(({ text }) => text).join("\n");
  const results = messages.findLast((message) => message.role === "tool")?.results ?? [];
  mustHold(number, "what was last said to it", said, expect);
  mustHold(number, "the last results", results.map(({ text }) => text).join("\n"), expectResult);
}

function mustHold(number: number, where: string, text: string, expected: string | undefined): void {
  if (expected === undefined || text.includes(expected)) return;
  throw refused(
    `Turn ${number} of the script expects ${JSON.stringify(expected)} in ${where}, which is ${JSON.stringify(shortened(text))}.`,
    "Say what the script expects, or change what it expects",
  );
}

function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

function repliesIn({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === "assistant").length;
}

function usualFinish(parts: readonly RehearsedPart[]): string {
  return parts.some((part) => "call" in part) ? "tool-calls" : "stop";
}

/** The text in this many pieces of nearly the same length; no character is cut in two. */
function split(text: string, pieces: number): readonly string[] {
  const letters = Array.from(text);
  const size = Math.max(1, Math.ceil(letters.length / pieces));
  return Array.from({ length: Math.ceil(letters.length / size) }, (_, n) =>
    letters.slice(n * size, (n + 1) * size).join(""),
  );
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
