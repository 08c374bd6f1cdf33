import { z } from "zod";
import type { QuestionEnd } from "../sessions/index.ts";
import type { Tool } from "./tool.ts";

const parameters = z.object({
  question: z.string().min(1).max(4_000).describe("What you need to know, with all that is needed to decide it."),
  choices: z
    .array(z.string().min(1).max(300))
    .max(9)
    .optional()
    .describe("Answers to choose from. The operator may also answer in words of their own."),
  default: z
    .string()
    .min(1)
    .max(4_000)
    .optional()
    .describe("What to take for the answer when the time is over: one of the choices, or words."),
  timeLimitSeconds: z.int().min(1).max(604_800).optional().describe("How long to wait; for ever unless given."),
});

type AskArguments = z.infer<typeof parameters>;

/** What came of a question. */
export interface Asked {
  readonly how: QuestionEnd["kind"];
  /** Null: there is none. */
  readonly answer: string | null;
  readonly reason?: string;
}

export const askTool: Tool<AskArguments, Asked> = {
  name: "ask",
  description:
    "Asks the operator, who may be away for long: ask only what you can neither find out nor decide by yourself.",
  parameters,
  effect: "reads",
  operator: {
    question({ question, choices = [], default: usual, timeLimitSeconds }) {
      const offered = choices.map((label, at) => ({ id: String(at + 1), label }));
      return {
        text: question,
        choices: offered,
        takesText: true,
        ...(usual === undefined ? {} : { default: chosen(offered, usual) }),
        ...(timeLimitSeconds === undefined ? {} : { timeLimitMs: timeLimitSeconds * 1000 }),
      };
    },
    result({ choices = [] }, end) {
      switch (end.kind) {
        case "answered":
        case "defaulted": {
          const { choice, text } = end.answer;
          const label = choice === undefined ? undefined : choices[Number(choice) - 1];
          return { how: end.kind, answer: [label, text].filter((each) => each !== undefined).join(": ") };
        }
        case "expired":
          return { how: end.kind, answer: null };
        case "cancelled":
          return { how: end.kind, answer: null, reason: end.reason };
      }
    },
  },
  run: () => Promise.reject(new Error("the operator answers it")),
  describe({ how, answer, reason }) {
    switch (how) {
      case "answered":
        return { outcome: "ok", text: `The operator answers: ${answer}` };
      case "defaulted":
        return { outcome: "ok", text: `The operator did not answer in time; take this for the answer: ${answer}` };
      case "expired":
        return { outcome: "ok", text: "The operator did not answer in time. Go on as you think best." };
      case "cancelled":
        return { outcome: "ok", text: `The question was cancelled: ${reason}. Go on as you think best.` };
    }
  },
};

function chosen(offered: readonly { readonly id: string; readonly label: string }[], words: string) {
  const choice = offered.find(({ label }) => label === words)?.id;
  return choice === undefined ? { text: words } : { choice };
}
