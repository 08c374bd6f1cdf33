import { setTimeout as delay } from "node:timers/promises";
import { CorralError, event, newId, usualAgent } from "@corral/protocol";
import { type Found, type ModelRequest, ProviderFailure } from "../../providers/index.ts";
import type { History, OpenActivity, Turn } from "../../sessions/index.ts";
import type { Toolbox, ToolRegistry } from "../../tools/index.ts";
import type { Context } from "./context/index.ts";
import { type AgentKind, type Desk, RunOver, type TurnEnd } from "../port.ts";
import { showFiles } from "./attached-files.ts";
import type { CallTerms } from "./calls.ts";
import { FurtherShells } from "./further-shells.ts";
import { buildRequest, hashOf, hashRequest, systemOf, wordTurn } from "./request.ts";
import { listen } from "./reply.ts";
import { TurnCalls } from "./turn-calls.ts";

export interface LoopParts extends Omit<CallTerms, "toolbox"> {
  /** The provider of a model named `provider/model`; throws what a person can act on. */
  findModel(named: string): Promise<Found>;
  readonly tools: ToolRegistry;
  /** What is told besides what is said. */
  readonly context: Context;
  /** Requests made for one turn before it is given up, crashes included. */
  readonly attempts?: number;
  /** The pause before a further attempt after a failed one. */
  readonly backoffMs?: (attempt: number) => number;
}

/** Corral's own agent: ask the model, run the calls of its reply as they come, and settle the turn. */
export function openLoop(parts: LoopParts): AgentKind {
  /** What was shown to the model is what its calls run, also when the registry changes meanwhile. */
  const toolboxes = new WeakMap<Turn, Toolbox>();
  return {
    async turn(desk, activity) {
      const now = toolsOf(desk, parts.tools);
      const isNew = activity.turn === undefined;
      const turn = activity.turn ?? (await prepare(desk, activity, parts.context, now));
      const toolbox = isNew
        ? now
        : (toolboxes.get(turn) ?? (turn.offers === undefined ? now : now.asOffered(turn.offers)));
      toolboxes.set(turn, toolbox);
      using calls = new TurnCalls(desk, turn, { ...parts, toolbox });
      if (mayAsk(turn)) {
        const failure = await ask(desk, turn, parts, { calls, toolbox });
        if (failure !== undefined) return settleFailed(desk, turn, failure);
      }
      await calls.rest();
      const waits = desk.signal.aborted ? undefined : calls.waitOn();
      if (waits !== undefined) return { kind: "waits", on: waits };
      desk.record(event("turn.settled", { id: turn.id, outcome: turn.replied ? "replied" : "cut" }));
      wordTurn(turn, toolbox);
      // Nothing follows that could use them, and what they wrote down is no longer needed when the ends of their calls are durable.
      if (turn.calls.length === 0) desk.afterDurable(() => FurtherShells.of(desk).close());
      return { kind: "settled" };
    },
  };
}

function toolsOf({ session, history }: Desk, tools: ToolRegistry): Toolbox {
  return tools.toolbox({ agent: history.settings?.agent ?? usualAgent, session }, history.settings?.tools);
}

/** Fixes what will be asked: what is told, which tools are shown, and what was said. */
async function prepare(desk: Desk, activity: OpenActivity, context: Context, toolbox: Toolbox): Promise<Turn> {
  const { history } = desk;
  await context.refresh(desk);
  if (!isOffered(history.offers, toolbox)) desk.record(event("tools.offered", { tools: [...toolbox.offers] }));
  const model = history.settings?.model ?? "";
  const requestHash = hashRequest(model, history, toolbox);
  const id = newId("turn");
  desk.record(event("turn.prepared", { id, activityId: activity.id, model, requestHash }));
  if (activity.turn === undefined) throw new CorralError("internal", "a turn was prepared in an activity that is over");
  return activity.turn;
}

function isOffered(offers: Turn["offers"], toolbox: Toolbox): boolean {
  return offers !== undefined && (offers === toolbox.offers || hashOf(offers) === hashOf(toolbox.offers));
}

/** A reply that already made calls is never asked for again: their results enter the next request. */
function mayAsk(turn: Turn): boolean {
  return !turn.replied && turn.calls.length === 0;
}

/** Asks until a reply has come, the budget is used up, or asking again is of no use. */
async function ask(
  desk: Desk,
  turn: Turn,
  parts: LoopParts,
  { calls, toolbox }: { readonly calls: TurnCalls; readonly toolbox: Toolbox },
): Promise<CorralError | undefined> {
  const { attempts = 5, backoffMs = (attempt: number) => Math.min(500 * 2 ** attempt, 30_000) } = parts;
  if (desk.signal.aborted) return undefined;
  const target = await resolveModel(desk, parts);
  if (target instanceof CorralError) return target;
  const thinks = effortOf(target, desk.history.settings);
  const request = { ...(await requestFor(desk, turn, target, toolbox)), ...thinks };
  let failure = new CorralError("provider.unavailable", `The model was asked ${turn.attempt} times without a reply.`);
  for (let attempt = turn.attempt + 1; attempt <= attempts; attempt++) {
    // A pause that a crash cut short is taken anew: whoever asked for it still wants it.
    const pauseMs = Math.min(turn.pauseMs, longestPauseMs);
    if (pauseMs > 0) await delay(pauseMs, undefined, { signal: desk.signal }).catch(() => undefined);
    if (desk.signal.aborted) return undefined;
    desk.record(event("turn.dispatched", { id: turn.id, attempt, ...thinks }));
    // The request is made ready while the disk is waited for.
    const mayLeave = desk.durable();
    mayLeave.catch(() => undefined);
    try {
      const place = { turn: turnNumber(desk.history, turn), attempt };
      await listen(desk, turn, target, { ...request, place, mayLeave }, calls);
      return undefined;
    } catch (error) {
      await mayLeave;
      if (error instanceof RunOver) throw error;
      // The reply is whole and paid for: what failed behind its end is no reason to ask for another.
      if (desk.signal.aborted || turn.replied) return undefined;
      failure = asFailure(error);
    }
    const asked = askedPause(failure);
    if (asked > longestPauseMs) failure = wantsTime(failure, asked);
    const error = { code: failure.code, message: failure.message };
    const hasSpoken = turn.said.some((part) => part.attempt === attempt && part.kind === "text" && part.text !== "");
    if (hasSpoken) failure = brokenOff(failure);
    const isLast = turn.calls.length > 0 || failure.retry === "never" || attempt === attempts;
    const again = isLast ? {} : { againInMs: Math.ceil(Math.max(backoffMs(attempt), asked)) };
    desk.record(event("turn.attempt-failed", { id: turn.id, attempt, error, ...again }));
    if (turn.calls.length > 0) return undefined;
    if (isLast) break;
  }
  return failure;
}

/** What was said and done before the turn, as its model can be told it. */
async function requestFor(
  desk: Desk,
  turn: Turn,
  { model, facts = {} }: Found,
  toolbox: Toolbox,
): Promise<ModelRequest> {
  const { history, session } = desk;
  const { images, context } = facts;
  const earlier = history.entries.slice(0, history.entries.lastIndexOf(turn));
  const asked = buildRequest(model, systemOf(history), earlier, toolbox);
  const messages = await showFiles(asked.messages, { files: history.files, images });
  return { ...asked, messages, conversation: session, ...(context === undefined ? {} : { context }) };
}

/** 1-based index of this turn in its session. */
function turnNumber({ entries }: History, turn: Turn): number {
  return entries.filter(({ kind }) => kind === "turn").indexOf(turn) + 1;
}

/** What the session says, else what is said of the model; nothing to one that is not known to think. */
function effortOf({ facts = {} }: Found, settings: History["settings"]): Pick<ModelRequest, "effort"> {
  const wanted = settings?.effort ?? facts.effort;
  return facts.reasoning === true && wanted !== undefined ? { effort: wanted } : {};
}

/** Whoever heard the beginning would hear it twice: a reply that broke off after words is not asked for again. */
function brokenOff({ code, message, hint }: CorralError): CorralError {
  const kept = 'The partial reply was saved. Send "continue" to resume.';
  return new CorralError(code, message, { hint: hint === undefined ? kept : `${hint} ${kept}` });
}

/** What a provider can ask for and get. For longer no activity waits: a person may want another model, or the work later. */
const longestPauseMs = 5 * 60_000;

function askedPause(failure: CorralError): number {
  return failure instanceof ProviderFailure ? (failure.retryAfterMs ?? 0) : 0;
}

function wantsTime({ code, message }: CorralError, ms: number): CorralError {
  const said = /[.!?]$/.test(message) ? message : `${message}.`;
  return new CorralError(code, `${said} The provider asks to wait ${timeInWords(ms)}.`, {
    retry: "never",
    hint: "Go on after that time with `corral continue`, or use another model.",
  });
}

/** Rounded up, so that whoever waits so long does not come too early. */
function timeInWords(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  const hours = Math.ceil(ms / 3_600_000);
  return hours < 72 ? `${hours} hours` : `${Math.ceil(ms / 86_400_000)} days`;
}

function settleFailed(desk: Desk, turn: Turn, failure: CorralError): TurnEnd {
  desk.record(event("turn.settled", { id: turn.id, outcome: "failed" }));
  return { kind: "failed", code: failure.code, message: failure.message, hint: failure.hint };
}

async function resolveModel(
  desk: Desk,
  parts: LoopParts,
): Promise<Awaited<ReturnType<LoopParts["findModel"]>> | CorralError> {
  try {
    return await parts.findModel(desk.history.settings?.model ?? "");
  } catch (error) {
    return asFailure(error);
  }
}

function asFailure(error: unknown): CorralError {
  if (error instanceof CorralError) return error;
  return new CorralError("provider.unavailable", error instanceof Error ? error.message : String(error), {
    cause: error,
    retry: "later",
  });
}
