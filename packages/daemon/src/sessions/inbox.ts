import {
  type ActivityId,
  type AdmitInput,
  artifactOf,
  type Attachment,
  type ChangeInput,
  type ContinueId,
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
import { bodyHash } from "./projections.ts";
import { titleFrom } from "./title.ts";

/**
 * The inbox: inputs admitted and not yet part of an activity.
 *
 * 1. An input is acknowledged only after `input.admitted` is durable.
 * 2. An id is admitted once, whatever the number of retries; another body under it is a conflict. Only one that was
 *    cancelled may be admitted anew, in the same session.
 * 3. An input is promoted once, as it is then: promotion and every change are guarded by the version of its row inside the
 *    transaction, so that of those that meet exactly one wins, and the others look again.
 * 4. What may be promoted is decided by the log alone: whether the queue is parked, whether the session is archived.
 * 5. A person's word to go on opens an activity where nothing else does; what does open one takes it along.
 */

export type Admission =
  | { readonly kind: "admitted" | "duplicate"; readonly input: InputView; readonly seq: number }
  | { readonly kind: "conflict"; readonly reason: string };

/** What was promoted: the events as stored, and the inputs they speak of. */
export interface Promotion {
  readonly events: readonly StoredEvent[];
  readonly inputs: readonly InputView[];
}

/** Throws `not-found` for a session that is not there. */
export async function admit(log: Log, session: SessionId, input: AdmitInput, by: By): Promise<Admission> {
  return untilItHolds(async () => {
    const known = await log.row("inputs", input.id);
    const isFree = known === undefined || (known["state"] === "cancelled" && known["session"] === session);
    if (!isFree) return again(known, session, input);
    const row = await log.row("sessions", session);
    if (row === undefined) throw missingSession(session);
    const { id, text, attachments, delivery } = input;
    const admitted = { id, text, attachments, delivery, ...(row["title"] === "" && { title: titleFrom(text) }) };
    fault("inbox.admitting");
    const stored = await log.append({
      stream: session,
      ...by,
      events: [event("input.admitted", admitted), ...(row["archived"] === 1 ? [event("session.unarchived", {})] : [])],
      guards: [
        { table: "inputs", key: id, is: known === undefined ? null : seenAs(known) },
        { table: "sessions", key: session, is: { title: row["title"]!, archived: row["archived"]! } },
      ],
    });
    fault("inbox.admitted");
    const seq = stored[0]?.seq ?? 0;
    const view: InputView = { id, text, attachments, delivery, state: "waiting", activityId: null, version: seq };
    return { kind: "admitted", seq, input: view };
  });
}

/** What admits the first input of a session, in the append that creates it. Refused where the id is taken. */
export function firstAdmission({ id, text, attachments, delivery }: AdmitInput): {
  readonly events: readonly NewEvent[];
  readonly guards: readonly Guard[];
} {
  return {
    events: [event("input.admitted", { id, text, attachments, delivery, title: titleFrom(text) })],
    guards: [{ table: "inputs", key: id, is: null }],
  };
}

/** Which session has an input of this id and body, whatever has become of it since. */
export async function admittedBefore(
  log: Log,
  input: AdmitInput,
): Promise<
  | {
      readonly kind: "admitted";
      readonly session: SessionId;
      /** Of its admission. */
      readonly seq: number;
      readonly isWaiting: boolean;
    }
  | { readonly kind: "conflict"; readonly reason: string }
  | undefined
> {
  const row = await log.row("inputs", input.id);
  if (row === undefined) return undefined;
  if (row["body"] !== bodyHash(input)) return { kind: "conflict", reason: anotherBody };
  const { session, seq, state } = row;
  return {
    kind: "admitted",
    session: session as SessionId,
    seq: seq as number,
    isWaiting: state === "waiting",
  };
}

/**
 * Changes an input that is not promoted yet. Asked for what is so already, it does nothing. Throws `not-found`,
 * `input.promoted`, `input.cancelled`, and `input.changed` when it is no longer as it was seen.
 */
export async function change(
  log: Log,
  session: SessionId,
  id: InputId,
  wish: ChangeInput,
  by: By,
): Promise<{ readonly kind: "changed" | "unchanged"; readonly input: InputView; readonly seq: number }> {
  return untilItHolds(async () => {
    const row = await log.row("inputs", id);
    if (row?.["session"] !== session) throw missingInput(id, session);
    const already = { kind: "unchanged", input: toView(row), seq: row["version"] as number } as const;
    if (wish.change === "cancel" && row["state"] === "cancelled") return already;
    requireWaiting(row);
    const told = toldBy(wish, row, await firstQueued(log, session));
    if (told === undefined) return already;
    if (wish.version !== undefined && wish.version !== row["version"]) throw changedSince(row);
    const [stored] = await log.append({
      stream: session,
      ...by,
      events: [told],
      guards: [{ table: "inputs", key: id, is: seenAs(row) }],
    });
    const seq = stored?.seq ?? 0;
    return { kind: "changed", seq, input: { ...toView(row), ...changesIn(told), version: seq } };
  });
}

/** What waits, in the order in which it will be promoted: steers, then the queue. */
export async function waitingIn(log: Log, session: SessionId): Promise<readonly InputView[]> {
  const [steers, queue] = await Promise.all([steersOf(log, session), queueOf(log, session)]);
  return [...steers, ...queue].map(toView);
}

/** How many wait. */
export async function countWaiting(log: Log, session: SessionId): Promise<number> {
  const counted = await log.counts("inputs", { where: { session, state: "waiting" }, by: "delivery" });
  return counted.values().reduce((sum, count) => sum + count, 0);
}

/** How many wait in each session in which some do. */
export async function countWaitingInAll(log: Log): Promise<ReadonlyMap<SessionId, number>> {
  return (await log.counts("inputs", { where: { state: "waiting" }, by: "session" })) as ReadonlyMap<SessionId, number>;
}

/** The open activity that promoted inputs join; undefined: they open one. */
export interface PromotionPlace {
  readonly activity: ActivityId | undefined;
}

/**
 * Promotes what may run now, under the session's lease. Inside an open activity: all waiting steers.
 * Otherwise an activity is opened by all waiting steers together, or else by the first of a queue that is not parked, or else by a person's word to go on.
 * Nothing eligible: both lists are empty, and nothing is written. What is written is of the trace of the
 * input that came last.
 */
export async function promote(log: Log, lease: Lease, { activity: open }: PromotionPlace): Promise<Promotion> {
  return untilItHolds(async () => {
    const session = await log.row("sessions", lease.stream);
    const eligible = await eligibleIn(log, session, { mayOpen: open === undefined });
    const wanted = open === undefined && eligible.length === 0 ? await wantedContinue(log, session) : undefined;
    if (session === undefined || (eligible.length === 0 && wanted === undefined)) return { events: [], inputs: [] };
    const activityId = open ?? newId("activity");
    const ids = eligible.map((row) => row["key"] as InputId);
    const traceId = (eligible.at(-1) ?? wanted)?.["trace_id"] as string | null | undefined;
    const continued = wanted === undefined ? {} : { continued: wanted["id"] as ContinueId };
    fault("inbox.promoting");
    const opening: NewEvent[] = open === undefined ? [event("activity.opened", { id: activityId, ...continued })] : [];
    const events = await log.append({
      stream: lease.stream,
      actor: "corral",
      ...(typeof traceId === "string" && { traceId }),
      fence: lease.fence,
      tentative: true,
      events: [...opening, ...ids.map((id) => event("input.promoted", { id, activityId }))],
      guards: [
        ...eligible.map((row): Guard => ({ table: "inputs", key: row["key"] as string, is: seenAs(row) })),
        ...(wanted === undefined
          ? []
          : [{ table: "wanted_continues", key: lease.stream, is: { id: wanted["id"]! } } satisfies Guard]),
        { table: "sessions", key: lease.stream, is: asItRuns(session) },
      ],
    });
    fault("inbox.promoted");
    return { events, inputs: eligible.map(toView) };
  });
}

/** Whether something waits that may open an activity. */
export async function hasEligible(log: Log, session: SessionId): Promise<boolean> {
  const row = await log.row("sessions", session);
  if ((await eligibleIn(log, row, { mayOpen: true })).length > 0) return true;
  return (await wantedContinue(log, row)) !== undefined;
}

/** The sessions that are to go on without anything new being said. */
export async function continuesWanted(log: Log): Promise<readonly SessionId[]> {
  return (await log.rows("wanted_continues")).map((row) => row["key"] as SessionId);
}

async function wantedContinue(log: Log, session: Row | undefined): Promise<Row | undefined> {
  if (session === undefined || session["archived"] === 1) return undefined;
  return log.row("wanted_continues", session["key"] as SessionId);
}

async function eligibleIn(
  log: Log,
  session: Row | undefined,
  { mayOpen }: { readonly mayOpen: boolean },
): Promise<readonly Row[]> {
  if (session === undefined || session["archived"] === 1) return [];
  const id = session["key"] as SessionId;
  const steers = await steersOf(log, id);
  if (steers.length > 0 || !mayOpen || isParked(session)) return steers;
  const first = await firstQueued(log, id);
  return first === undefined ? [] : [first];
}

export function isParked(session: Row): boolean {
  return session["parked_by_person"] !== null || session["parked_by_interrupt"] !== null;
}

/** What the agent reads of an input: its words, and where what came with it lies. */
export function wordsOf({ text, attachments }: { text: string; attachments: readonly Attachment[] }): string {
  const files = attachments
    .filter((each) => artifactOf(each) === undefined)
    .map(
      ({ name, mediaType, reference }) => `[attached: ${name} (${mediaType}), in ${reference.replace(/^file:/, "")}]`,
    );
  return [text, ...files].join("\n");
}

/** More often than this nobody is outrun; then it is no longer bad luck. */
const mostAttempts = 50;

/** Decides anew whenever somebody else was quicker. */
export async function untilItHolds<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const wasOutrun = error instanceof CorralError && error.code === "append.conflict";
      if (!wasOutrun || tries === mostAttempts) throw error;
    }
  }
}

/** In the order in which they came. */
async function steersOf(log: Log, session: SessionId): Promise<readonly Row[]> {
  const steers = await log.rows("inputs", {
    where: { session, state: "waiting", delivery: "steer" },
    orderBy: "place",
  });
  return steers.toSorted((a, b) => (a["seq"] as number) - (b["seq"] as number));
}

/** One that was advanced comes first. */
async function queueOf(log: Log, session: SessionId, limit?: number): Promise<readonly Row[]> {
  const where = { session, state: "waiting", delivery: "queue" };
  return log.rows("inputs", { where, orderBy: "place", ...(limit === undefined ? {} : { limit }) });
}

/** A queue may be long, and nobody reads all of it to take one. */
async function firstQueued(log: Log, session: SessionId): Promise<Row | undefined> {
  return (await queueOf(log, session, 1))[0];
}

/** Undefined: it is so already. */
function toldBy(wish: ChangeInput, row: Row, first: Row | undefined): NewEvent | undefined {
  const id = row["key"] as InputId;
  switch (wish.change) {
    case "cancel":
      return event("input.cancelled", { id });
    case "edit":
      return wish.text === row["text"] ? undefined : event("input.edited", { id, text: wish.text });
    case "flip":
      return flipped(row, wish.delivery);
    case "promote":
      if (wish.to === "now" || row["delivery"] === "steer") return flipped(row, "steer");
      return first?.["key"] === id ? undefined : event("input.advanced", { id });
  }
}

function flipped(row: Row, delivery: InputView["delivery"]): NewEvent | undefined {
  return row["delivery"] === delivery ? undefined : event("input.flipped", { id: row["key"] as InputId, delivery });
}

function changesIn(told: NewEvent): Partial<InputView> {
  if (told.type === "input.cancelled") return { state: "cancelled" };
  if (told.type === "input.edited") return { text: told.data.text };
  return told.type === "input.flipped" ? { delivery: told.data.delivery } : {};
}

function requireWaiting(row: Row): void {
  const id = row["key"] as string;
  if (row["state"] === "promoted")
    throw new CorralError("input.promoted", `${id} was taken up already, in ${row["activity"]}.`, {
      hint: "Interrupt the session, or steer it with another input",
    });
  if (row["state"] === "cancelled")
    throw new CorralError("input.cancelled", `${id} was cancelled.`, { hint: "Admit it anew" });
}

function changedSince(row: Row): CorralError {
  const now = `it is now a ${row["delivery"]} of version ${row["version"]}: ${JSON.stringify(row["text"]).slice(0, 200)}`;
  return new CorralError("input.changed", `${row["key"]} was changed meanwhile; ${now}`, {
    hint: "Look at it again (`corral queue`), then decide anew",
  });
}

/** A row that nobody has changed since it was read. */
function seenAs(row: Row): Record<string, string | number | null> {
  return { state: row["state"]!, version: row["version"]! };
}

/** Whether what was said of the queue and of the session still holds. */
function asItRuns(session: Row): Record<string, string | number | null> {
  const { parked_by_person, parked_by_interrupt, archived } = session;
  return { parked_by_person: parked_by_person!, parked_by_interrupt: parked_by_interrupt!, archived: archived! };
}

function again(row: Row, session: SessionId, input: AdmitInput): Admission {
  if (row["session"] !== session) return { kind: "conflict", reason: "this id belongs to an input of another session" };
  if (row["body"] !== bodyHash(input)) return { kind: "conflict", reason: anotherBody };
  return { kind: "duplicate", input: toView(row), seq: row["seq"] as number };
}

const anotherBody = "this id was admitted before with another body";

function toView(row: Row): InputView {
  return {
    id: row["key"] as InputId,
    text: row["text"] as string,
    attachments: JSON.parse(row["attachments"] as string) as InputView["attachments"],
    delivery: row["delivery"] as InputView["delivery"],
    state: row["state"] as InputView["state"],
    activityId: row["activity"] as ActivityId | null,
    version: row["version"] as number,
  };
}

function missingSession(session: SessionId): CorralError {
  return new CorralError("not-found", `There is no session ${session}.`);
}

function missingInput(id: InputId, session: SessionId): CorralError {
  return new CorralError("not-found", `There is no input ${id} in ${session}.`, {
    hint: "`corral queue SESSION` lists what waits",
  });
}
