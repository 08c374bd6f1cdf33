import * as z from "zod";
import { flag } from "./query.ts";
import { activityId, answerId, callId, projectId, questionId, sessionId, turnId } from "./id.ts";
import { heldBackName } from "./held-back.ts";
import { type AlwaysFor, ruleMatch } from "./rule.ts";

/** One of the answers that are offered. */
export const choice = z.object({
  id: z.string().min(1).max(60),
  label: z.string().min(1).max(300),
  /** What it comes to. */
  note: z.string().max(2_000).optional(),
});
export type Choice = z.infer<typeof choice>;

/** What was said: one of the choices, words, or words besides a choice. */
export const answerGiven = z.object({
  choice: z.string().max(60).optional(),
  text: z.string().max(20_000).optional(),
});
export type AnswerGiven = z.infer<typeof answerGiven>;

/** What is asked about. An approval is for the very call shown: its hash covers session, turn, call, tool and arguments. */
export const questionAbout = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("approval"),
    callId,
    turnId,
    tool: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    hash: z.string(),
    /** Why it is asked. */
    because: z.string(),
    /** What is allowed from then on by the choices that are for more than this once, which are called as in `alwaysFor`. */
    always: z.array(ruleMatch).optional(),
    /** What it would change, where that can be told before. */
    diff: z.string().optional(),
  }),
  /** The agent's own, by its tool `ask`. */
  z.object({ kind: z.literal("agent"), callId, turnId }),
  /** Somebody in the session's environment wants to reach a host that is on no list. */
  z.object({
    kind: z.literal("host"),
    host: z.string(),
    port: z.int().nonnegative(),
    always: z.array(ruleMatch).optional(),
  }),
  /** What a command made or changed in the user's own folder and others obey. It was taken aside, and an approval puts exactly that in place. */
  z.object({
    kind: z.literal("held-back"),
    names: z.array(heldBackName),
    /** All of its content, where it can be shown. */
    diff: z.string(),
    /** Where it lies meanwhile. */
    folder: z.string(),
  }),
]);
export type QuestionAbout = z.infer<typeof questionAbout>;

export const askedQuestion = z.object({
  id: questionId,
  /** It ends with this activity at the latest. */
  activityId: activityId.optional(),
  about: questionAbout,
  text: z.string(),
  /** Empty: words are the answer. */
  choices: z.array(choice),
  takesText: z.boolean(),
  /** What is taken for the answer when the time is over. */
  default: answerGiven.optional(),
  /** Counted from the asking, whoever runs meanwhile. */
  timeLimitMs: z.int().positive().optional(),
});
export type AskedQuestion = z.infer<typeof askedQuestion>;

/** How a question stands. `expired`: its time is over, and there was no default. `by`: who said so. */
export const questionState = z.discriminatedUnion("state", [
  z.object({ state: z.literal("open") }),
  z.object({ state: z.literal("answered"), answer: answerGiven, by: z.string(), at: z.string() }),
  z.object({ state: z.literal("defaulted"), answer: answerGiven, at: z.string() }),
  z.object({ state: z.literal("expired"), at: z.string() }),
  z.object({ state: z.literal("cancelled"), reason: z.string(), by: z.string(), at: z.string() }),
]);
export type QuestionState = z.infer<typeof questionState>;

export const questionView = askedQuestion.extend({
  session: sessionId,
  projectId: projectId.optional(),
  state: questionState,
  /** By the clock of that time. */
  askedAt: z.string(),
  /** What is left of its time, while it is open. */
  remainingMs: z.int().nonnegative().optional(),
  /** The seq of the event this view is true for. */
  seq: z.int(),
});
export type QuestionView = z.infer<typeof questionView>;

export const questionList = z.object({ questions: z.array(questionView), seq: z.int() });
export type QuestionList = z.infer<typeof questionList>;

/** What a client sends. The id is the client's, so that sending it again is harmless. */
export const answerQuestion = answerGiven.extend({ id: answerId.optional() });
export type AnswerQuestion = z.infer<typeof answerQuestion>;

/** `duplicate`: the same answer was given before, and nothing was done. */
export const questionAnswered = z.object({ kind: z.enum(["answered", "duplicate"]), question: questionView });
export type QuestionAnswered = z.infer<typeof questionAnswered>;

export const cancelQuestion = z.object({ reason: z.string().trim().min(1).max(1_000).optional() });
export type CancelQuestion = z.infer<typeof cancelQuestion>;

export const questionCancelled = z.object({ kind: z.enum(["cancelled", "duplicate"]), question: questionView });
export type QuestionCancelled = z.infer<typeof questionCancelled>;

/** The choices that are for more than this once. `note`: what they allow. */
export function alwaysChoices(agent: string, note: string): Choice[] {
  return [
    { id: "session", label: "Always for this session", note },
    { id: "agent", label: `Always for the agent ${agent} in this project`, note },
    { id: "project", label: "Always for this project", note },
  ] satisfies (Choice & { readonly id: AlwaysFor })[];
}

/** Which questions are listed. */
export const listQuestions = z.object({ session: sessionId.optional(), closed: flag.default("0") });
