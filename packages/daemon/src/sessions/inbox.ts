import {
  type ActivityId,
  type AdmitInput,
  CorralError,
  event,
  type InputId,
  type InputView,
  newId,
  type NewEvent,
  type SessionId,
  type StoredEvent,
} from "@corral/protocol";
import { fault } from "../faults/index.ts";
import type { By, Guard, Lease, Log, Row } from "../log/index.ts";

/**
 * The inbox: inputs admitted and not yet part of an activity.
 *
 * 1. An input is acknowledged only after `input.admitted` is durable.
 * 2. An id is admitted once, whatever the number of retries; another body under it is a conflict.
 * 3. An input is promoted once: promotion is guarded by its row inside the transaction.
 */

export type Admission =
  | { readonly kind: "admitted" | "duplicate"; readonly input: InputView; readonly seq: number }
  | { readonly kind: "conflict"; readonly reason: string };

/** What was promoted: the events as stored, and the inputs they speak of. */
export interface Promotion {
  readonly events: readonly StoredEvent[];
  readonly inputs: readonly InputView[];
}

export async function admit(log: Log, session: SessionId, input: AdmitInput, by: By): Promise<Admission> {
  const known = await log.row("inputs", input.id);
  if (known !== undefined) return again(known, session, input);
  const { id, text, attachments, delivery } = input;
  fault("inbox.admitting");
  try {
    const [stored] = await log.append({
      stream: session,
      ...by,
      events: [event("input.admitted", { id, text, attachments, delivery })],
      guards: [
        { table: "inputs", key: id, is: null },
        { table: "sessions", key: session, is: {} },
      ],
    });
    fault("inbox.admitted");
    return {
      kind: "admitted",
      seq: stored?.seq ?? 0,
      input: { id, text, attachments, delivery, state: "waiting", activityId: null },
    };
  } catch (error) {
    if (!isConflict(error)) throw error;
    const winner = await log.row("inputs", id);
    if (winner === undefined) throw (await isThere(log, session)) ? error : missing(session);
    return again(winner, session, input);
  }
}

/** Where promoted inputs go: into the open activity, or into a new one, which a parked queue does not open. */
export interface PromotionPlace {
  readonly activity: ActivityId | undefined;
  readonly queueParked: boolean;
}

/**
 * Promotes what may run now, under the session's lease. Inside an open activity: all waiting steers.
 * Otherwise an activity is opened by all waiting steers together, or else by the first queued input.
 * Nothing eligible: both lists are empty, and nothing is written. What is written is of the trace of the
 * input that came last.
 */
export async function promote(log: Log, lease: Lease, place: PromotionPlace): Promise<Promotion> {
  const waiting = await log.rows("inputs", { where: { session: lease.stream, state: "waiting" }, orderBy: "seq" });
  const steers = waiting.filter((row) => row["delivery"] === "steer");
  const { activity: open, queueParked } = place;
  const eligible = steers.length > 0 || open !== undefined || queueParked ? steers : waiting.slice(0, 1);
  if (eligible.length === 0) return { events: [], inputs: [] };
  const activityId = open ?? newId("activity");
  const ids = eligible.map((row) => row["key"] as InputId);
  const traceId = eligible.at(-1)?.["trace_id"] as string | null | undefined;
  fault("inbox.promoting");
  const opening: NewEvent[] = open === undefined ? [event("activity.opened", { id: activityId })] : [];
  const events = await log.append({
    stream: lease.stream,
    actor: "corral",
    ...(typeof traceId === "string" && { traceId }),
    fence: lease.fence,
    events: [...opening, ...ids.map((id) => event("input.promoted", { id, activityId }))],
    guards: ids.map((id): Guard => ({ table: "inputs", key: id, is: { state: "waiting" } })),
  });
  fault("inbox.promoted");
  return { events, inputs: eligible.map(toView) };
}

function again(row: Row, session: SessionId, input: AdmitInput): Admission {
  if (row["session"] !== session) return { kind: "conflict", reason: "this id belongs to an input of another session" };
  const same =
    row["text"] === input.text &&
    row["delivery"] === input.delivery &&
    row["attachments"] === JSON.stringify(input.attachments);
  if (!same) return { kind: "conflict", reason: "this id was admitted before with another body" };
  return { kind: "duplicate", input: toView(row), seq: row["seq"] as number };
}

function toView(row: Row): InputView {
  return {
    id: row["key"] as InputId,
    text: row["text"] as string,
    attachments: JSON.parse(row["attachments"] as string) as InputView["attachments"],
    delivery: row["delivery"] as InputView["delivery"],
    state: row["state"] as InputView["state"],
    activityId: row["activity"] as ActivityId | null,
  };
}

async function isThere(log: Log, session: SessionId): Promise<boolean> {
  return (await log.row("sessions", session)) !== undefined;
}

/** It was removed in the same moment. */
function missing(session: SessionId): CorralError {
  return new CorralError("not-found", `There is no session ${session}.`);
}

function isConflict(error: unknown): boolean {
  return error instanceof CorralError && error.code === "append.conflict";
}
