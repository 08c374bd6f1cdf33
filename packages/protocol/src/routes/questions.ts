import type { RouteTable } from "./route.ts";

export const questions = {
  "questions.list": {
    route: "GET /api/questions",
    about: "Lists the questions that wait for an answer, oldest first; with `closed` those that have had one, too.",
    scope: "read",
    reach: "route",
    query: "listQuestions",
    answer: "questionList",
    unwrap: "questions",
  },
  "questions.get": {
    route: "GET /api/questions/:id",
    about: "Tells how a question stands.",
    scope: "read",
    reach: "route",
    params: { id: "questionId" },
    answer: "questionView",
  },
  "questions.answer": {
    route: "POST /api/questions/:id/answer",
    about:
      "Answers a question, by one of its choices, in words, or both; the first answer counts, by its id it counts once, and approvals, and hosts to be " +
      "reached, need the scope operate.",
    scope: "prompt",
    reach: "route",
    repeatable: true,
    params: { id: "questionId" },
    body: "answerQuestion",
    answer: "questionAnswered",
  },
  "questions.cancel": {
    route: "POST /api/questions/:id/cancel",
    about:
      "Closes a question without an answer: whoever asked is told so and goes on; a call that needed it is declined.",
    scope: "prompt",
    reach: "route",
    repeatable: true,
    params: { id: "questionId" },
    body: "cancelQuestion",
    answer: "questionCancelled",
  },
} as const satisfies RouteTable;
