import type { AnswerGiven, AskedQuestion, HeldBackName } from "@corral/protocol";
import { answerWords, reasonOf } from "@corral/protocol/words";
import { UsageError } from "../flags.ts";
import { shownInLine } from "../terminal/output.ts";
import { callHeading } from "../transcript/transcript.ts";

type Question = Pick<AskedQuestion, "about" | "text" | "choices" | "takesText" | "default">;

/** An approval is for all of a call, so all of it is shown. */
const wholeCall = 100_000;

/** What is asked, in lines: what it is about, the choices by their numbers, what is taken without an answer. */
export function questionLines(question: Question, remainingMs?: number): readonly string[] {
  const { about, text, choices } = question;
  // Said once where several choices say the same.
  const notes = choices.flatMap(({ note }) => note ?? []);
  const shared = notes.find((note, at) => notes.indexOf(note) !== at);
  const limit = remainingMs === undefined ? [] : [`(${remaining(remainingMs)} left)`];
  const usual =
    question.default === undefined ? [] : [`(without an answer: ${answerWords(question, question.default)})`];
  return [
    ...(about.kind === "approval"
      ? [callHeading(about.tool, about.arguments, wholeCall), `  ${shownInLine(reasonOf(about))}`]
      : []),
    ...(about.kind === "held-back"
      ? about.names.map(({ path, was, restored, why }) =>
          shownInLine(`held back: ${path} (${heldBackHow({ was, restored })}; ${why})`),
        )
      : []),
    ...("diff" in about && about.diff !== undefined ? about.diff.trimEnd().split("\n") : []),
    text,
    ...choices.map(({ label, note }, at) =>
      shownInLine(`  ${at + 1}  ${label}${note === undefined || note === shared ? "" : `  (${note})`}`),
    ),
    ...(shared === undefined ? [] : [`  (always: ${shownInLine(shared)})`]),
    ...usual,
    ...limit,
  ];
}

function heldBackHow({ was, restored }: Pick<HeldBackName, "was" | "restored">): string {
  if (was === "made") return "a command made it";
  return restored === true
    ? "a command changed it, and it is again what it was"
    : "a command changed it, and it is gone: what it was is not known";
}

/** What one can type, for a prompt. */
export function answerHint({ about, choices, takesText }: Question): string {
  const numbers = choices.length === 0 ? "" : choices.length === 1 ? "1" : `1-${choices.length}`;
  const words = !takesText ? "" : about.kind === "agent" ? "words" : "words to deny it with";
  return [numbers, words].filter((each) => each !== "").join(", or ");
}

/**
 * The answer that somebody means: a choice by its number, its id or its label, words after a choice, or words alone. Words alone
 * say no to what is to be allowed.
 */
export function answerMeant(question: Question, said: string): AnswerGiven {
  const text = said.trim();
  const [first = "", ...rest] = text.split(/\s+/);
  const more = rest.length === 0 ? {} : { text: text.slice(first.length).trim() };
  const whole = choiceCalled(question, text);
  if (whole !== undefined) return { choice: whole };
  const begun = choiceCalled(question, first);
  if (begun !== undefined && question.takesText) return { choice: begun, ...more };
  // A number was meant for a choice.
  const isWords = text !== "" && (question.choices.length === 0 || !/^\d+$/.test(text));
  if (isWords && question.takesText && question.about.kind === "agent") return { text };
  if (isWords && question.takesText && question.choices.some(({ id }) => id === "deny"))
    return { choice: "deny", text };
  throw new UsageError(
    `${JSON.stringify(text)} is none of its choices`,
    `They are: ${question.choices.map(({ id, label }) => `${id} (${label})`).join(", ")}`,
  );
}

function choiceCalled({ choices }: Question, word: string): string | undefined {
  const small = word.toLowerCase();
  const found =
    choices.find(({ id, label }) => id === word || label.toLowerCase() === small) ??
    (/^[1-9]\d?$/.test(word) ? choices[Number(word) - 1] : undefined);
  return found?.id;
}

function remaining(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
