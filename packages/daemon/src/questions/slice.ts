import { defectsOf, defineSlice } from "../assembly/index.ts";
import { questionProjections } from "./projection.ts";
import { openQuestions, type Questions } from "./questions.ts";
import { questionRoutes } from "./routes.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly questions: Questions;
  }
}

export const questions = defineSlice({
  name: "questions",
  needs: ["machine", "log"],
  projections: questionProjections,
  routes: [questionRoutes],
  open: ({ machine, log }) => openQuestions({ log, onDefect: defectsOf(machine, "questions"), now: machine.now }),
  mend: (own) => own.begin(),
  close: (own) => own.close(),
});
