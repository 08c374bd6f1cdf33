import {
  answerQuestion,
  answerWords,
  cancelQuestion,
  CorralError,
  covers,
  questionAnswered,
  questionCancelled,
  questionId,
  questionList,
  type QuestionView,
  questionView,
  sessionId,
} from "@corral/protocol";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Principal } from "../tokens/index.ts";
import { tooNarrow } from "./access.ts";
import { missing } from "./bounds.ts";
import type { RouteParts, Routes } from "./routes.ts";
import { requireMayDrive } from "./sessions.ts";
import { principalOf } from "./tokens.ts";

const params = z.object({ id: questionId });

export const questionRoutes: Routes = (app, parts) => {
  const { questions, sight, log } = parts;
  const tags = ["questions"];

  app.get(
    "/api/questions",
    {
      schema: {
        tags,
        description: "Questions that wait for an answer; with `closed` those that have had one, too.",
        querystring: z.object({ session: sessionId.optional(), closed: z.enum(["0", "1"]).default("0") }),
        response: { 200: questionList },
      },
    },
    async (request) => {
      const who = principalOf(request);
      const { session, closed } = request.query;
      if (session !== undefined && !sight.session(who, session)) throw missing("session", session);
      const seq = await log.head();
      const all = await questions.list({ session, closed: closed === "1" });
      return { questions: all.filter((each) => sight.session(who, each.session)), seq };
    },
  );

  app.get("/api/questions/:id", { schema: { tags, params, response: { 200: questionView } } }, (request) =>
    knownQuestion(parts, request),
  );

  app.post(
    "/api/questions/:id/answer",
    {
      schema: {
        tags,
        description:
          "Answers a question, by one of its choices, in words, or both. The first answer counts: a later one is refused " +
          "and told whose that was. Sent again with its id, it is the same answer. Approvals need the scope operate.",
        params,
        body: answerQuestion,
        response: { 200: questionAnswered },
      },
      config: { repeatable: true },
    },
    async (request) => {
      const question = await knownQuestion(parts, request);
      await requireMayAnswer(parts, principalOf(request), question);
      const { kind, question: now } = await questions.answer(question.id, request.body, request.by);
      if (kind === "closed") throw closed(now);
      return { kind, question: now };
    },
  );

  app.post(
    "/api/questions/:id/cancel",
    {
      schema: {
        tags,
        description:
          "Closes a question without an answer: whoever asked is told so and goes on; a call that needed it is declined.",
        params,
        body: cancelQuestion,
        response: { 200: questionCancelled },
      },
      config: { repeatable: true },
    },
    async (request) => {
      const question = await knownQuestion(parts, request);
      await requireMayAnswer(parts, principalOf(request), question);
      const { kind, question: now } = await questions.cancel(question.id, request.by, request.body.reason);
      if (kind === "closed") throw closed(now);
      return { kind, question: now };
    },
  );
};

/** Throws `not-found`, for one outside of the bounds, too. */
async function knownQuestion(
  { questions, sight }: RouteParts,
  request: FastifyRequest<{ Params: z.infer<typeof params> }>,
): Promise<QuestionView> {
  const { id } = request.params;
  const question = await questions.get(id);
  if (question === undefined || !sight.session(principalOf(request), question.session)) throw missing("question", id);
  return question;
}

/** What an agent wants to know is for whoever may prompt it; what it may do is the operator's to say. */
async function requireMayAnswer({ sessions }: RouteParts, who: Principal, { session, about }: QuestionView) {
  if (about.kind !== "agent" && !covers(who.scope, "operate"))
    throw tooNarrow(`this needs the scope operate, yours is ${who.scope}`);
  await requireMayDrive(sessions, session, who);
}

function closed(question: QuestionView): CorralError {
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
