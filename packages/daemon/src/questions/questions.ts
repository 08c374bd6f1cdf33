import {
  type ActivityId,
  type AnswerGiven,
  type AnswerQuestion,
  type AskedQuestion,
  CorralError,
  event,
  isEndOf,
  type NewEvent,
  newId,
  type ProjectId,
  type QuestionId,
  type QuestionState,
  type QuestionView,
  type SessionId,
  type StoredEvent,
} from "@corral/protocol";
import { fault } from "../faults/index.ts";
import type { By, Guard, Log, Row } from "../log/index.ts";
import { Deadlines } from "./deadlines.ts";
import { interrupted, questionIn } from "./projection.ts";

/**
 * Questions for the operator. Whoever asks waits for an event, not for a promise: a question is a row, and its end another.
 *
 * 1. A question has one end. Answers, defaults and expiries are guarded, inside the transaction, by its row in `open_questions`, so the
 *    first one wins; cancellations by its own row, so that one which an interrupt has closed is cancelled by name, once.
 * 2. Time limits are kept by the clock: one that passed while nobody ran is applied at the beginning.
 * 3. Nothing is left open by an activity that is over, nor by an interrupt; what a crash leaves so is cancelled at the beginning.
 */
export interface Questions {
  /** Applies the time limits that have passed, and cancels what is left of activities that are over. */
  begin(): Promise<void>;
  get(id: QuestionId): Promise<QuestionView | undefined>;
  /** Those that are open, or all of a session, in the order in which they were asked. */
  list(which?: {
    readonly session?: SessionId | undefined;
    readonly closed?: boolean;
  }): Promise<readonly QuestionView[]>;
  /** Durable when it resolves. Throws `not-found`, and `request.invalid` for what is no answer to it. */
  answer(id: QuestionId, answer: AnswerQuestion, by: By): Promise<AnswerOutcome>;
  cancel(id: QuestionId, by: By, reason?: string): Promise<CancelOutcome>;
  /** The listener hears of every answer that was given, once it is durable and before whoever gave it is told; not again after a crash. */
  onAnswer(listener: AnswerListener): void;
  /** For those in the daemon that have somebody waiting anyway. Resolves with its end; the signal cancels it. */
  ask(session: SessionId, wish: Omit<AskedQuestion, "id">, signal: AbortSignal): Promise<EndedState>;
  /** Lets go of the log and of every timer; all questions stay as they are. */
  close(): void;
}

/** `closed`: it had another end before. */
export interface AnswerOutcome {
  readonly kind: "answered" | "duplicate" | "closed";
  readonly question: QuestionView;
}

export interface CancelOutcome {
  readonly kind: "cancelled" | "duplicate" | "closed";
  readonly question: QuestionView;
}

export type EndedState = Exclude<QuestionState, { state: "open" }>;

type AnswerListener = (question: QuestionView, answer: AnswerGiven, by: By) => Promise<void>;

export interface QuestionParts {
  readonly log: Pick<Log, "append" | "row" | "rows" | "head" | "onCommit">;
  readonly onDefect: (what: string, error: unknown) => void;
  readonly now?: () => number;
}

export function openQuestions({ log, onDefect, now = Date.now }: QuestionParts): Questions {
  const deadlines = new Deadlines(now, (id) => void runOut(id));
  const waiters = new Map<QuestionId, () => void>();
  const listeners: AnswerListener[] = [];
  const unlisten = log.onCommit((events) => {
    for (const stored of events) notice(stored);
  });

  return {
    async begin() {
      const open = await openIds();
      for (const row of await log.rows("questions", { where: { state: "open" } })) {
        const over = open.has(row["key"] as QuestionId) ? await isOver(row) : interrupted;
        if (over === undefined) watch(row["key"] as QuestionId, row["deadline"] as number | null);
        else await ended(row, event("question.cancelled", { id: row["key"] as QuestionId, reason: over }), corral);
      }
    },

    get: view,
    onAnswer: (listener) => void listeners.push(listener),

    async list({ session, closed = false } = {}) {
      const seq = await log.head();
      const open = await openIds();
      const rows = await rowsOf(session, closed);
      const wanted = closed ? rows : rows.filter((row) => open.has(row["key"] as QuestionId));
      return Promise.all(wanted.map((row) => viewOf(row, open.has(row["key"] as QuestionId), seq)));
    },

    async answer(id, { id: answerId, ...answer }, by) {
      const row = await known(id);
      mustFit(JSON.parse(row["asked"] as string) as AskedQuestion, answer);
      const told = event("question.answered", { id, ...(answerId === undefined ? {} : { answerId }), answer });
      fault("question.answering");
      const isDone = await ended(row, told, by);
      fault("question.answered");
      const question = await mustView(id);
      if (!isDone)
        return { kind: isSame(await known(id), question, answerId, answer) ? "duplicate" : "closed", question };
      for (const listener of listeners) await listener(question, answer, by);
      return { kind: "answered", question };
    },

    async cancel(id, by, reason = "the operator gives no answer") {
      const isDone = await ended(await known(id), event("question.cancelled", { id, reason }), by);
      const question = await mustView(id);
      if (isDone) return { kind: "cancelled", question };
      return { kind: question.state.state === "cancelled" ? "duplicate" : "closed", question };
    },

    async ask(session, wish, signal) {
      const id = newId("question");
      const over = Promise.withResolvers<void>();
      waiters.set(id, over.resolve);
      const leave = () => void cancelled(id, "whoever asked is gone").catch(defectOf(id));
      try {
        signal.throwIfAborted();
        const guards = [{ table: "sessions", key: session, is: {} }];
        await log.append({ stream: session, ...corral, events: [event("question.asked", { id, ...wish })], guards });
        signal.addEventListener("abort", leave, { once: true });
        if (signal.aborted) leave();
        await over.promise;
        return (await mustView(id)).state as EndedState;
      } finally {
        signal.removeEventListener("abort", leave);
        waiters.delete(id);
      }
    },

    close() {
      unlisten();
      deadlines.close();
    },
  };

  function notice(stored: StoredEvent): void {
    if (isEndOf("question", stored)) {
      deadlines.forget(stored.data.id);
      return waiters.get(stored.data.id)?.();
    }
    switch (stored.type) {
      case "question.asked": {
        const { id, timeLimitMs } = stored.data;
        return watch(id, timeLimitMs === undefined ? null : Date.parse(stored.approximateCreationTime) + timeLimitMs);
      }
      case "activity.interrupt-requested":
        if (stored.data.at === "boundary") return;
        return background(cancelAll(stored, interrupted, () => true));
      case "activity.settled": {
        const { id } = stored.data;
        return background(cancelAll(stored, activityOver, (row) => row["activity"] === id));
      }
      default:
      // Other events neither ask nor end a question.
    }
  }

  function watch(id: QuestionId, deadline: number | null): void {
    if (deadline !== null) deadlines.watch(id, deadline);
  }

  /** Its time is over. When that cannot be recorded it is tried again, for whoever asked waits for it. */
  async function runOut(id: QuestionId): Promise<void> {
    try {
      const row = await log.row("questions", id);
      if (row === undefined) return;
      const { default: answer } = JSON.parse(row["asked"] as string) as AskedQuestion;
      const told =
        answer === undefined ? event("question.expired", { id }) : event("question.defaulted", { id, answer });
      fault("question.running-out");
      await ended(row, told, corral);
    } catch (error) {
      if (error instanceof CorralError && error.code === "log.closed") return;
      defectOf(id)(error);
      deadlines.watch(id, now() + retryMs);
    }
  }

  async function cancelAll({ stream, actor }: StoredEvent, reason: string, which: (row: Row) => boolean) {
    const rows = await log.rows("questions", { where: { session: stream, state: "open" } });
    for (const row of rows.filter(which))
      await ended(row, event("question.cancelled", { id: row["key"] as QuestionId, reason }), { actor });
  }

  async function cancelled(id: QuestionId, reason: string): Promise<void> {
    await ended(await known(id), event("question.cancelled", { id, reason }), corral);
  }

  /** False when it had an end before. */
  async function ended(row: Row, end: NewEvent, by: By): Promise<boolean> {
    const key = row["key"] as string;
    const isOpen: Guard =
      end.type === "question.cancelled"
        ? { table: "questions", key, is: { state: "open" } }
        : { table: "open_questions", key, is: {} };
    try {
      await log.append({ stream: row["session"] as string, ...by, events: [end], guards: [isOpen] });
      return true;
    } catch (error) {
      if (error instanceof CorralError && error.code === "append.conflict") return false;
      throw error;
    }
  }

  /** Why nobody waits for it any more. */
  async function isOver(row: Row): Promise<string | undefined> {
    const activity = row["activity"] as ActivityId | null;
    const session = await log.row("sessions", row["session"] as string);
    return activity !== null && session?.["activity"] !== activity ? activityOver : undefined;
  }

  async function openIds(): Promise<ReadonlySet<QuestionId>> {
    return new Set((await log.rows("open_questions")).map((row) => row["key"] as QuestionId));
  }

  function rowsOf(session: SessionId | undefined, closed: boolean): Promise<readonly Row[]> {
    if (session !== undefined) return log.rows("questions", { where: { session }, orderBy: "seq" });
    return closed ? log.rows("questions") : log.rows("questions", { where: { state: "open" } });
  }

  async function known(id: QuestionId): Promise<Row> {
    const row = await log.row("questions", id);
    if (row === undefined) throw new CorralError("not-found", `There is no question ${id}.`);
    return row;
  }

  async function mustView(id: QuestionId): Promise<QuestionView> {
    const found = await view(id);
    if (found === undefined) throw new CorralError("not-found", `There is no question ${id}.`);
    return found;
  }

  async function view(id: QuestionId): Promise<QuestionView | undefined> {
    const seq = await log.head();
    const row = await log.row("questions", id);
    if (row === undefined) return undefined;
    return viewOf(row, (await log.row("open_questions", id)) !== undefined, seq);
  }

  async function viewOf(row: Row, isOpen: boolean, seq: number): Promise<QuestionView> {
    const session = await log.row("sessions", row["session"] as string);
    const projectId = (session?.["project"] as ProjectId | null | undefined) ?? undefined;
    return questionIn(row, { isOpen, projectId, seq, now: now() });
  }

  function background(work: Promise<void>): void {
    work.catch((error: unknown) => onDefect("questions were not cancelled", error));
  }

  function defectOf(id: QuestionId): (error: unknown) => void {
    return (error) => onDefect(`the end of ${id} was not recorded`, error);
  }
}

const corral: By = { actor: "corral" };
const activityOver = "its activity is over";
const retryMs = 5_000;

function isSame(row: Row, { state }: QuestionView, answerId: string | undefined, answer: AnswerGiven): boolean {
  if (answerId === undefined || row["answer_id"] !== answerId || state.state !== "answered") return false;
  return state.answer.choice === answer.choice && state.answer.text === answer.text;
}

/** Throws unless it is an answer that the question takes. */
function mustFit({ about, choices, takesText }: AskedQuestion, { choice, text }: AnswerGiven): void {
  const ids = choices.map(({ id }) => id);
  if (choice !== undefined && !ids.includes(choice))
    throw unfit(`${JSON.stringify(choice)} is none of its choices`, `They are: ${ids.join(", ") || "none"}`);
  if (text !== undefined && !takesText) throw unfit("it takes one of its choices and no words", ids.join(", "));
  const isWords = text !== undefined && text.trim() !== "";
  if (choice === undefined && !isWords) throw unfit("nothing was said", ids.join(", ") || "Say it in words");
  if (choice === undefined && about.kind !== "agent") throw unfit("it needs one of its choices", ids.join(", "));
}

function unfit(why: string, hint: string): CorralError {
  return new CorralError("request.invalid", `This is no answer to the question: ${why}.`, { hint });
}
