import { type Note, noteWords, sentence } from "@corral/client/transcript";

/** How a note is shown; undefined: the state of the session, beside the transcript, says it already. */
export function noteOf(
  note: Note,
): { readonly tone: "quiet" | "bad"; readonly text: string; readonly hint?: string | undefined } | undefined {
  const text = sentence(noteWords(note));
  switch (note.about) {
    case "gap":
    case "attempt-failed":
    case "asked-again":
    case "finish":
    case "continued":
    case "interrupted":
      return { tone: "quiet", text };
    case "waiting":
      return note.on === "continue" ? { tone: "quiet", text: `${text}. Write to it and it goes on.` } : undefined;
    case "breach":
      return { tone: "bad", text: `${text}.` };
    case "failed":
      return { tone: "bad", text, hint: note.hint };
    case "lacking":
    case "line":
    case "recovering":
    case "queue":
      return undefined;
  }
}
