import { answerWords, CorralError, covers, type QuestionView } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import type { Log } from "../log/port.ts";
import {
  type Handlers,
  type KnowsWalls,
  missing,
  type Principal,
  principalOf,
  requireMayDrive,
  type Sight,
  tooNarrow,
} from "../routing/index.ts";
import type { Questions } from "./questions.ts";

interface Needs {
  readonly questions: Pick<Questions, "get" | "list" | "answer" | "cancel">;
  readonly sessions: KnowsWalls;
  readonly sight: Sight;
  readonly log: Pick<Log, "head">;
}

export function questionRoutes({ questions, sessions, sight, log }: Needs): Handlers<RoutesOf<"questions">> {
  return {
    async "questions.list"(request) {
      const who = principalOf(request);
      const { session, closed } = request.query;
      if (session !== undefined && !sight.session(who, session)) throw missing("session", session);
      const seq = await log.head();
      const all = await questions.list({ session, closed: closed === "1" });
      return { questions: all.filter((each) => sight.session(who, each.session)), seq };
    },

    "questions.get": (request) => known(request.params.id, principalOf(request)),

    async "questions.answer"(request) {
      const question = await mayAnswer(request.params.id, principalOf(request));
      const { kind, question: now } = await questions.answer(question.id, request.body, request.by);
      if (kind === "closed") throw hasEnded(now);
      return { kind, question: now };
    },

    async "questions.cancel"(request) {
      const question = await mayAnswer(request.params.id, principalOf(request));
      const { kind, question: now } = await questions.cancel(question.id, request.by, request.body.reason);
      if (kind === "closed") throw hasEnded(now);
      return { kind, question: now };
    },
  };

  /** Throws `not-found`, for one outside of the bounds, too. */
  async function known(id: QuestionView["id"], who: Principal): Promise<QuestionView> {
    const question = await questions.get(id);
    if (question === undefined || !sight.session(who, question.session)) throw missing("question", id);
    return question;
  }

  /** What an agent wants to know is for whoever may prompt it; what it may do is the operator's to say. */
  async function mayAnswer(id: QuestionView["id"], who: Principal): Promise<QuestionView> {
    const question = await known(id, who);
    if (question.about.kind !== "agent" && !covers(who.scope, "operate"))
      throw tooNarrow(`this needs the scope operate, yours is ${who.scope}`);
    await requireMayDrive(sessions, question.session, who);
    return question;
  }
}

function hasEnded(question: QuestionView): CorralError {
  return new CorralError("question.closed", howItEnded(question));
}

function howItEnded(question: QuestionView): string {
  const { state } = question;
  switch (state.state) {
    case "answered":
      return `${state.by} has answered it already: ${answerWords(question, state.answer)}`;
    case "defaulted":
      return `Its time is over, and this was taken for the answer: ${answerWords(question, state.answer)}`;
    case "expired":
      return "Its time is over.";
    case "cancelled":
      return `It was cancelled: ${state.reason}`;
    case "open":
      return "It could not be answered.";
  }
}
