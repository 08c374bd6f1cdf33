export { interrupted, questionProjections } from "./projection.ts";
export { openQuestions, type Questions } from "./questions.ts";
export { hostQuestion } from "./host-question.ts";
