import { createHash } from "node:crypto";
import type { AssistantPart, ModelRequest, ToolResult } from "../../providers/index.ts";
import type { Call, Entry, History, Turn } from "../../sessions/index.ts";
import type { Toolbox } from "../../tools/index.ts";
import type { Draft, Shown } from "./attached-files.ts";
import { standingInstructions } from "./context/index.ts";

/** A request whose images and attachments are named, and not read yet. */
type DraftRequest = Omit<ModelRequest, "messages"> & { readonly messages: readonly Draft[] };

/** The conversation as a model request. Calls carry Corral's own ids, which never repeat. */
export function buildRequest(model: string, system: string, entries: readonly Entry[], toolbox: Toolbox): DraftRequest {
  return { model, system, tools: toolbox.offers, messages: entries.flatMap((entry) => messagesOf(entry, toolbox)) };
}

/** What the model is told before all else. */
export function systemOf({ context }: Pick<History, "context">): string {
  return context?.system ?? standingInstructions;
}

/**
 * Tells whether two requests ask the same. Each turn's hash takes in that of the turn before it, so
 * that only what came since has to be read.
 */
export function hashRequest(model: string, history: Pick<History, "context" | "entries">, toolbox: Toolbox): string {
  const { entries } = history;
  const last = entries.findLastIndex((entry) => entry.kind === "turn");
  const turn = entries[last];
  const earlier = turn?.kind === "turn" ? turn.requestHash : "";
  const since = entries.slice(Math.max(0, last)).flatMap((entry) => messagesOf(entry, toolbox));
  const before = [history.context === undefined ? "" : hashOf(history.context), hashOf(toolbox.offers)];
  return createHash("sha256")
    .update(JSON.stringify([model, earlier, ...before, since]))
    .digest("base64url");
}

/** Of what is the same in turn after turn: found out once. */
export function hashOf(what: NonNullable<History["context"]> | Toolbox["offers"]): string {
  const known = hashes.get(what);
  if (known !== undefined) return known;
  const hash = createHash("sha256")
    .update(JSON.stringify("system" in what ? what.system : what))
    .digest("base64url");
  hashes.set(what, hash);
  return hash;
}

const hashes = new WeakMap<object, string>();

/** Puts a turn that has settled into the words of its own tools, which may be others in the next. */
export function wordTurn(turn: Turn, toolbox: Toolbox): void {
  messagesOf(turn, toolbox);
}

/** What a settled turn or an input is in a request never changes. */
const settledMessages = new WeakMap<Entry, readonly Draft[]>();

function messagesOf(entry: Entry, toolbox: Toolbox): readonly Draft[] {
  const known = settledMessages.get(entry);
  if (known !== undefined) return known;
  const messages = entry.kind === "turn" ? turnMessages(entry, toolbox) : [said(entry)];
  if (entry.kind !== "turn" || entry.outcome !== undefined) settledMessages.set(entry, messages);
  return messages;
}

function said(entry: Exclude<Entry, Turn>): Draft {
  const attached = entry.kind === "input" ? entry.attached : undefined;
  return { role: "user", text: entry.text, ...(attached === undefined ? {} : { images: attached }) };
}

function turnMessages(turn: Turn, toolbox: Toolbox): Draft[] {
  const parts = [...spokenParts(turn), ...turn.calls.map(callPart)];
  if (parts.length === 0) return [];
  const reply: Draft = { role: "assistant", parts };
  if (turn.calls.length === 0) return [reply];
  const results: Draft = { role: "tool", results: turn.calls.map((call) => callResult(call, toolbox)) };
  if (turn.replied || turn.refusal === undefined) return [reply, results];
  return [reply, results, { role: "user", text: `Your last reply was cut off after these calls. ${turn.refusal}` }];
}

/**
 * What earlier attempts said was said to nobody; reasoning without its end cannot be sent back. A part without words may
 * still be one that the provider wants back.
 */
function spokenParts(turn: Turn): AssistantPart[] {
  return turn.said
    .filter((part) => part.attempt === turn.attempt && !(part.cut && part.kind === "reasoning"))
    .filter((part) => part.text.trim() !== "" || part.providerMetadata !== undefined)
    .map(({ kind, text, cut, providerMetadata }) => ({
      kind,
      text: cut ? beginningOf(text) : text,
      ...(providerMetadata && { providerMetadata }),
    }));
}

/** A reply that was given up because it had no end must not fill the model's context. */
function beginningOf(text: string): string {
  if (text.length <= mostCutText) return text;
  return `${text.slice(0, mostCutText).toWellFormed()}\n(… ${text.length - mostCutText} more characters of this reply are left out …)`;
}

const mostCutText = 32 * 1024;

function callPart(call: Call): AssistantPart {
  const { id, tool, arguments: args, providerMetadata } = call;
  return { kind: "call", id, tool, arguments: args, ...(providerMetadata && { providerMetadata }) };
}

function callResult(call: Call, toolbox: Toolbox): ToolResult<Shown> {
  const { id, tool, end } = call;
  const error = (text: string): ToolResult => ({ id, tool, outcome: "error", text });
  switch (end?.kind) {
    case "settled":
      return { id, tool, ...toolbox.describe(tool, end.result) };
    case "failed":
      return error(end.message);
    case "declined":
      return error(end.reason);
    case "interrupted":
      return error("The operator interrupted this call.");
    case "unknown":
      return error(`Nobody knows how this call ended. ${end.reason}`);
    case undefined:
      return error("This call has not ended.");
  }
}
