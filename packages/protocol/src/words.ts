/** Words for people that the CLI and the dashboard share. They load no schema. */
import type { EventData } from "./event.ts";
import type { HeldBackNote } from "./held-back.ts";
import type { Attachment } from "./input.ts";
import type { AnswerGiven, AskedQuestion, QuestionAbout, QuestionState } from "./question.ts";
import type { TodoItem } from "./todo.ts";

/** The name of the agent in sessions that were begun without one. */
export const usualAgent = "main";

/** What was said, with the names of what came along. */
export function inputWords({
  text,
  attachments,
}: {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}): string {
  return attachments.length === 0 ? text : `${text}\n[attached: ${attachments.map(({ name }) => name).join(", ")}]`;
}

/** Of a reply that is over without being whole, which looks as if it were: what became of the rest. */
export function finishWords({ finish }: Pick<EventData<"turn.replied">, "finish">): string | undefined {
  switch (finish) {
    case "length":
      return "the reply is cut here: it is as long as the model may answer; say that it is to go on";
    case "content-filter":
      return "the provider held back the rest of the reply";
    default:
      return undefined;
  }
}

/** What a call of a built-in tool asks for, in a line; undefined: of another tool, or not in its shape. */
export function toolWords(tool: string, given: Readonly<Record<string, unknown>>): string | undefined {
  const word = (name: string) => (typeof given[name] === "string" ? given[name] : undefined);
  const path = word("path");
  switch (tool) {
    case "read":
      return path === undefined || typeof given["from"] !== "number" ? path : `${path}:${given["from"]}`;
    case "write":
    case "edit":
      return path;
    case "patch":
      return patchedFiles(word("patch") ?? "").join(", ");
    case "search":
      return [word("pattern"), word("in") ?? "", word("glob") ?? ""].filter((part) => part !== "").join(" ");
    case "list":
      return [path ?? ".", word("pattern") ?? ""].filter((part) => part !== "").join(" ");
    case "todo":
      return "";
    case "ask":
      return word("question");
    default:
      return undefined;
  }
}

/** What came of a call of a built-in tool, for people, who see more than enough text; undefined: of another tool. */
export function resultWords(tool: string, result: unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  const facts = result as Readonly<Record<string, unknown>>;
  const list = (name: string) => (Array.isArray(facts[name]) ? (facts[name] as unknown[]) : []);
  switch (tool) {
    case "read":
      return typeof facts["mediaType"] === "string"
        ? facts["mediaType"]
        : `${list("text").length} of ${String(facts["of"])} lines`;
    case "write":
      return `${facts["isNew"] === true ? "new, " : ""}${String(facts["bytes"])} bytes`;
    case "edit":
      return `at line ${list("lines").map(String).join(", ")}`;
    case "patch":
      return (list("files") as { did: string; path: string }[]).map(({ did, path }) => `${did} ${path}`).join("\n");
    case "search":
      return `${counted(facts["matches"], "line")} in ${counted(facts["files"], "file")}`;
    case "list":
      return `${String(facts["count"])} entries`;
    case "ask":
      return typeof facts["answer"] === "string" ? facts["answer"] : "no answer";
    case "todo":
      return todoLines(list("items") as TodoItem[]).join("\n");
    default:
      return undefined;
  }
}

function counted(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function patchedFiles(patch: string): readonly string[] {
  return [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$/gm)].map((found) => found[1] ?? "");
}

/** A list as a person reads it. */
export function todoLines(items: readonly TodoItem[]): readonly string[] {
  return items.map(({ text, state }) => `${marks[state]} ${text}`);
}

const marks = { open: "[ ]", doing: "[>]", done: "[x]" } as const;

/** Why a call is asked about, without the call itself: that stands beside it. */
export function reasonOf({ because, arguments: given }: Extract<QuestionAbout, { kind: "approval" }>): string {
  const { command, path } = given;
  const whole = [command, path].find((each) => typeof each === "string" && because.startsWith(`${each}: `));
  return typeof whole === "string" ? because.slice(whole.length + 2) : because;
}

/** The answer in words. */
export function answerWords({ choices }: Pick<AskedQuestion, "choices">, { choice: id, text }: AnswerGiven): string {
  const label = choices.find((each) => each.id === id)?.label ?? id;
  return [label, text].filter((each) => each !== undefined && each !== "").join(": ");
}

/** How a question came to its end, in a sentence that may follow another word. */
export function questionEndWords(question: Pick<AskedQuestion, "choices">, state: QuestionState): string {
  switch (state.state) {
    case "open":
      return "it waits for an answer";
    case "answered":
      return `${state.by.replace(/^person:/, "")} answered: ${answerWords(question, state.answer)}`;
    case "defaulted":
      return `nobody answered in time; taken for the answer: ${answerWords(question, state.answer)}`;
    case "expired":
      return "nobody answered in time";
    case "cancelled":
      return `cancelled: ${state.reason}`;
  }
}

/** 1st, 2nd, 3rd, 4th… */
export function ordinal(position: number): string {
  const last = Math.floor(position / 10) % 10 === 1 ? 0 : position % 10;
  return `${position}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

/** What was held back after a command; undefined: nothing. In an agent's session the operator is asked, in a person's own shell nobody is. */
export function heldBackWords(
  notes: readonly HeldBackNote[] = [],
  whose: "agent" | "person" = "agent",
): string | undefined {
  const named = (state: HeldBackNote["state"]) =>
    notes.filter((each) => each.state === state).map(({ path }) => path.replaceAll("\n", "⏎"));
  const [aside, there] = [named("aside"), named("there")];
  const folders = [...new Set(notes.flatMap(({ folder }) => folder ?? []))];
  const then = whose === "agent" ? "and the operator is asked about them" : `into ${folders.join(", ")}`;
  const sentences = [
    ...(aside.length === 0
      ? []
      : [`held back: ${aside.join(", ")}. Others obey these names, so they were taken out of the folder, ${then}`]),
    ...(there.length === 0 ? [] : [`could not be taken out of the folder: ${there.join(", ")}. Remove them`]),
  ];
  return sentences.length === 0 ? undefined : sentences.join("; ");
}
