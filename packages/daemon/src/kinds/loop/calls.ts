import { type CallChange, CorralError, event } from "@corral/protocol";
import { shortageIn } from "../../descriptors/index.ts";
import { fault } from "../../faults/index.ts";
import { declinedFor } from "../../secrets/index.ts";
import type { Call } from "../../sessions/index.ts";
import { type Beside, type Recovered, seenIn, type Tool, type Toolbox, type ToolContext } from "../../tools/index.ts";
import { artifactPlace, keepImage } from "../artifact-place.ts";
import { type Desk, RunOver } from "../port.ts";
import type { Ticket } from "./call-order.ts";
import { leaveFor } from "./leave.ts";
import { findUse } from "./shell-history.ts";

/**
 * Every call recorded here comes to exactly one end.
 *
 * 1. The environment is open, and `call.started` is durable, before the tool starts: an environment that closes
 *    after a call started may have taken the call with it, and no other may.
 * 2. A call that had started before a crash is never simply run again: the tool is asked what is known.
 * 3. A call that can write waits until what earlier ones wrote is kept; that is asked for before it counts as running itself.
 * 4. Calls that say which files they will change take turns, and what they say is durable with their start.
 * 5. What a tool throws is the call's end, not the turn's.
 * 6. A call that waits for the operator is a record and no promise: it is taken up again when its question has an end,
 *    by whoever runs the session then. The others go on meanwhile.
 * 7. A call starts when its ticket lets it, and is judged once more if it had to wait: what ran meanwhile may have changed what it does.
 */
export interface CallTerms {
  readonly toolbox: Toolbox;
}

/** Takes a call on whose record says that it has no end: a new one, or one that a crash, a decision or an answer has left. */
export async function resumeCall(desk: Desk, terms: CallTerms, call: Call, ticket: Ticket): Promise<void> {
  if (call.attempt === 0 || call.retryDecided) return runCall(desk, terms, call, { attempt: call.attempt + 1, ticket });
  const tool = terms.toolbox.get(call.tool);
  if (tool === undefined) return fail(desk, call, unknownTool(call.tool));
  const context = contextFor(desk, call, { attempt: call.attempt, beside: call.beside });
  const known = await whatIsKnown(tool, call, context);
  switch (known.kind) {
    case "done":
      return desk.record(event("call.settled", { id: call.id, result: known.result, recovered: true }));
    case "unknown":
      return desk.record(event("call.unknown", { id: call.id, reason: known.reason }));
    case "join":
      if (tool.intend === undefined) return perform(desk, tool, call, context);
      return oneAtATime(desk, () => perform(desk, tool, call, context));
    case "run":
      return runCall(desk, terms, call, { attempt: call.attempt + 1, ticket });
  }
}

/** Of files the workspace can be asked, whatever became of the environment. */
async function whatIsKnown(tool: Tool, call: Call, context: ToolContext): Promise<Recovered<unknown>> {
  if (tool.recover === undefined || (call.environmentClosed && tool.intend === undefined)) return guess(tool);
  try {
    return await tool.recover(context);
  } catch (error) {
    if (error instanceof RunOver) throw error;
    return { kind: "unknown", reason: `It could not be found out: ${messageOf(error)}` };
  }
}

/** How a call is begun with. */
interface Beginning {
  readonly attempt: number;
  readonly ticket: Ticket;
}

async function runCall(desk: Desk, terms: CallTerms, call: Call, beginning: Beginning): Promise<void> {
  const tool = terms.toolbox.get(call.tool);
  if (tool === undefined) return fail(desk, call, unknownTool(call.tool));
  if (call.malformed !== undefined) return fail(desk, call, call.malformed);
  // One that was recorded before its secret was known.
  const secrets = desk.secretsIn(call.arguments);
  if (secrets.length > 0) return desk.record(declinedFor(secrets, call.id));
  const leave = await leaveFor(desk, { tool, call, turn: desk.history.activity?.turn });
  if (desk.signal.aborted) return desk.record(event("call.interrupted", { id: call.id }));
  switch (leave.kind) {
    case "given":
      if (await beginning.ticket.mayStart()) return runCall(desk, terms, call, beginning);
      return begin(desk, tool, call, beginning);
    case "asked":
      return desk.record(...leave.events);
    case "answered":
      return desk.record(event("call.settled", { id: call.id, result: leave.result }));
    case "declined":
      return desk.record(event("call.declined", { id: call.id, by: leave.by, reason: leave.reason }));
  }
}

async function begin(desk: Desk, tool: Tool, call: Call, { attempt, ticket }: Beginning): Promise<void> {
  const trouble = await desk.surroundings
    .environment()
    .then((environment) => ticket.makeReady(environment))
    .catch((error: unknown) => error);
  if (desk.signal.aborted) return desk.record(event("call.interrupted", { id: call.id }));
  // It passes, and the call starts then.
  if (shortageIn(trouble) !== undefined) throw trouble;
  if (trouble !== undefined) return fail(desk, call, messageOf(trouble), codeOf(trouble));
  const { beside } = ticket;
  if (tool.intend === undefined) return start(desk, tool, call, { attempt, ...(beside && { beside }) });
  await oneAtATime(desk, () => startIntended(desk, tool, call, attempt));
}

async function start(
  desk: Desk,
  tool: Tool,
  call: Call,
  begin: { readonly attempt: number; readonly changes?: CallChange[]; readonly beside?: Beside },
): Promise<void> {
  const reads = changesNothing(desk, tool, call);
  const kept = reads ? undefined : desk.surroundings.kept();
  desk.record(event("call.started", { id: call.id, ...begin, ...(reads ? { reads } : {}) }));
  await desk.durable();
  await kept;
  // What was stopped by then has done nothing, and does nothing.
  if (desk.signal.aborted) return desk.record(event("call.interrupted", { id: call.id }));
  await perform(desk, tool, call, contextFor(desk, call, begin));
}

async function startIntended(desk: Desk, tool: Tool, call: Call, attempt: number): Promise<void> {
  if (desk.signal.aborted) return desk.record(event("call.interrupted", { id: call.id }));
  let changes: CallChange[] | undefined;
  try {
    changes = [...((await tool.intend?.(call.arguments, contextFor(desk, call, { attempt }))) ?? [])];
  } catch (error) {
    return ended(desk, call, error);
  }
  await start(desk, tool, call, { attempt, changes });
}

/** Calls of one session that say what they will change: each sees what the one before it did. */
const lastIntended = new WeakMap<Desk, Promise<void>>();

async function oneAtATime(desk: Desk, work: () => Promise<void>): Promise<void> {
  const mine = (lastIntended.get(desk) ?? Promise.resolve()).then(work);
  lastIntended.set(
    desk,
    mine.catch(() => undefined),
  );
  await mine;
}

function changesNothing(desk: Desk, tool: Tool, call: Call): boolean {
  const isReadOnly = desk.history.settings?.environment.access === "read";
  return isReadOnly || tool.effect === "reads" || tool.onlyReads?.(call.arguments) === true;
}

async function perform(desk: Desk, tool: Tool, call: Call, context: ToolContext): Promise<void> {
  try {
    fault("call.performing");
    findUse(call);
    const result = await tool.run(call.arguments, context);
    fault("call.performed");
    desk.record(event(desk.signal.aborted ? "call.interrupted" : "call.settled", { id: call.id, result }));
    desk.afterDurable(() => void tool.forget?.(context).catch(() => undefined));
  } catch (error) {
    ended(desk, call, error);
  }
}

function ended(desk: Desk, call: Call, error: unknown): void {
  if (desk.signal.aborted) desk.record(event("call.interrupted", { id: call.id }));
  else fail(desk, call, messageOf(error), codeOf(error));
}

function fail(desk: Desk, call: Call, message: string, code = "call.refused"): void {
  desk.record(event("call.failed", { id: call.id, error: { code, message } }));
}

function contextFor(
  desk: Desk,
  call: Call,
  { attempt, beside }: { readonly attempt: number; readonly beside?: Beside | undefined },
): ToolContext {
  const offsets = { stdout: 0, stderr: 0 };
  const id = attempt === 1 ? call.id : `${call.id}-${attempt}`;
  return {
    id,
    signal: desk.signal,
    call: (name, ask, how) => desk.call(name, ask, how),
    surroundings: desk.surroundings,
    beside,
    seen: seenIn(desk.history.entries),
    intended: call.changes,
    record: (...events) => desk.record(...events),
    place: (stream) => artifactPlace(desk, { of: id, name: id, stream, callId: call.id }),
    keepImage: (bytes, mediaType) => keepImage(desk, { of: id, callId: call.id }, bytes, mediaType),
    onOutput(stream, text) {
      desk.emit({ kind: stream, session: desk.session, part: call.id, offset: offsets[stream], text });
      offsets[stream] += text.length;
    },
  };
}

function guess(tool: Tool): Recovered<never> {
  if (tool.effect === "reads") return { kind: "run" };
  return { kind: "unknown", reason: `The ${tool.name} tool cannot tell whether it was done.` };
}

function unknownTool(name: string): string {
  return `There is no tool called ${name}.`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string {
  return error instanceof CorralError ? error.code : "call.defect";
}
