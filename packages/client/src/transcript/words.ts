import type { CommandResult } from "@corral/protocol";
import { finishWords, heldBackWords, resultWords, toolWords } from "@corral/protocol/words";
import type { CallEnd, CallEntry, Note } from "./entry.ts";

/** What was asked of a tool, in one text. `isLine`: what is no built-in tool's stays on one line. */
export function requestText(
  tool: string,
  given: Readonly<Record<string, unknown>>,
  { isLine = false }: { readonly isLine?: boolean } = {},
): string {
  const command = given["command"];
  if (tool === "shell" && typeof command === "string") return command.trimEnd();
  return toolWords(tool, given) ?? JSON.stringify(given, undefined, isLine ? undefined : 2);
}

/** What came of a call that ran no command. */
export function resultText(tool: string, result: unknown): string {
  if (typeof result === "string") return result;
  return resultWords(tool, result) ?? JSON.stringify(result, undefined, 2) ?? "";
}

/** What a command ended with; undefined: it is another tool's result. Looked at by hand, for the schemas take long to load. */
export function commandIn(result: unknown): CommandResult | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  const { exitCode, stdout, stderr } = result as Partial<CommandResult>;
  const isCommand = Number.isSafeInteger(exitCode) && typeof stdout === "string" && typeof stderr === "string";
  return isCommand ? (result as CommandResult) : undefined;
}

/** Of a command that came to its end. */
export function exitCodeOf(end: CallEnd | undefined): number | undefined {
  return end?.kind === "settled" ? commandIn(end.result)?.exitCode : undefined;
}

/** How a call stands, in a word or two; `why`: what there is to say about it. */
export function callWords({ end, isRunning }: Pick<CallEntry, "end" | "isRunning">): {
  readonly word: string;
  readonly why?: string;
} {
  switch (end?.kind) {
    case undefined:
      return { word: isRunning ? "running" : "waiting" };
    case "settled": {
      const exitCode = exitCodeOf(end);
      return { word: exitCode === undefined ? "done" : `exit ${exitCode}` };
    }
    case "failed":
      return { word: "failed", why: end.message };
    case "declined":
      return { word: "declined", why: end.reason };
    case "interrupted":
      return { word: "interrupted" };
    case "unknown": {
      const decided = { retry: "to be retried", abandon: "abandoned" } as const;
      return { word: end.decision === undefined ? "end unknown" : decided[end.decision], why: end.reason };
    }
  }
}

/** What else there is to know of a call that came to its end. */
export function callNotes(end: CallEnd | undefined): readonly string[] {
  if (end?.kind !== "settled") return [];
  const { timedOut, shellRespawned, heldBack } = commandIn(end.result) ?? {};
  const aside = heldBackWords(heldBack);
  return [
    ...(timedOut === true ? ["ran out of time"] : []),
    ...(shellRespawned === true ? ["the shell was started anew"] : []),
    ...(aside === undefined ? [] : [aside]),
    ...(end.recovered ? ["ended while nobody watched; its result was kept"] : []),
  ];
}

/** The whole of each output that was cut. */
export function callArtifacts(end: CallEnd | undefined) {
  const { artifacts = {} } = (end?.kind === "settled" ? commandIn(end.result) : undefined) ?? {};
  return Object.entries(artifacts).flatMap(([stream, kept]) => (kept === undefined ? [] : [{ stream, ...kept }]));
}

/** What Corral has to say, without capital and full stop: `sentence` adds the capital, and the CLI sets it in parentheses. */
export function noteWords(note: Note): string {
  switch (note.about) {
    case "gap":
      return `events ${note.from} to ${note.to} are no longer kept`;
    case "lacking":
      return lackingWords(note).join("\n");
    case "line":
      return "waited for a free place";
    case "breach":
      return `the environment was ended: ${note.reason}`;
    case "attempt-failed":
      return `request failed: ${note.error.message}${againIn(note.againInMs)}`;
    case "asked-again":
      return `asked the model again (attempt ${note.attempt})`;
    case "finish":
      return finishWords(note) ?? note.finish;
    case "continued":
      return "asked to go on";
    case "recovering":
      return `taken up again: ${note.reason}`;
    case "waiting":
      return note.on === "continue" ? "it did as many turns as it may" : "a person has to decide";
    case "interrupted":
      return "interrupted";
    case "failed":
      return `failed: ${note.message ?? "no reason is known"}`;
    case "queue":
      return `the queue is ${note.is}`;
  }
}

/** For a line of its own. */
export function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

function lackingWords({ lacks, skipped = [] }: Extract<Note, { about: "lacking" }>): readonly string[] {
  const { submodules = [], lfs = false } = lacks ?? {};
  const left = skipped.map(({ path, why }) => `${path} (${why})`);
  return [
    ...(submodules.length > 0 ? [`submodules are not in the copy: ${listed(submodules)}`] : []),
    ...(lfs ? ["files kept by Git LFS are in the copy as pointers, without their content"] : []),
    ...(left.length > 0 ? [`uncommitted files that did not come along: ${listed(left)}`] : []),
  ];
}

function listed(all: readonly string[]): string {
  return all.length > 5 ? `${all.slice(0, 5).join(", ")} and ${all.length - 5} more` : all.join(", ");
}

function againIn(ms: number | undefined): string {
  return ms === undefined ? "" : ` (asked again in ${Math.max(1, Math.round(ms / 1000))} s)`;
}
