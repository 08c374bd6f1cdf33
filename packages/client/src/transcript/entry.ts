import type {
  AskedQuestion,
  Attachment,
  CallId,
  EventData,
  InputId,
  PartId,
  PlaceInLine,
  QuestionId,
  TurnId,
} from "@corral/protocol";
import type { EndedQuestion } from "@corral/protocol/state-fold";
import type { Output } from "./output.ts";

/** One thing that was said, done, asked or told in a session. It holds facts; `words.ts` has the words for them. */
export type Entry = InputEntry | PartEntry | CallEntry | QuestionEntry | NoteEntry;

export interface InputEntry {
  readonly kind: "input";
  readonly id: InputId;
  text: string;
  readonly attachments: readonly Attachment[];
  isWaiting: boolean;
}

/** In which attempt of which turn the model said it; undefined: the turn's beginning is no longer kept. */
export interface SaidIn {
  readonly turn: TurnId | undefined;
  readonly attempt: number;
}

export interface PartEntry {
  readonly kind: "text" | "reasoning";
  readonly id: PartId;
  readonly saidIn: SaidIn;
  output: Output;
  isGrowing: boolean;
  isCut: boolean;
}

export interface CallEntry extends Pick<
  EventData<"call.requested">,
  "tool" | "arguments" | "malformed" | "providerCallId"
> {
  /** `tool` is empty where the request came before all that was taken in. */
  readonly kind: "call";
  readonly id: CallId;
  readonly saidIn: SaidIn;
  isRunning: boolean;
  stdout: Output;
  stderr: Output;
  end: CallEnd | undefined;
}

export type CallEnd =
  | { readonly kind: "settled"; readonly result: unknown; readonly recovered: boolean }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "declined"; readonly reason: string }
  | { readonly kind: "interrupted" }
  | { readonly kind: "unknown"; readonly reason: string; readonly decision: "retry" | "abandon" | undefined };

export interface QuestionEntry extends Pick<AskedQuestion, "about" | "text" | "choices" | "takesText" | "default"> {
  readonly kind: "question";
  readonly id: QuestionId;
  /** Milliseconds since 1970. */
  readonly deadline: number | undefined;
  end: EndedQuestion | undefined;
}

/** What Corral has to say itself. */
export interface NoteEntry {
  readonly kind: "note";
  readonly id: string;
  readonly note: Note;
}

export type Note =
  | { readonly about: "gap"; readonly from: number; readonly to: number }
  /** What the user has and the agent's copy lacks. */
  | ({ readonly about: "lacking" } & Pick<EventData<"workspace.prepared">, "lacks" | "skipped">)
  | { readonly about: "line"; readonly place: PlaceInLine }
  | { readonly about: "breach"; readonly reason: string }
  | ({ readonly about: "attempt-failed"; readonly saidIn: SaidIn } & Pick<
      EventData<"turn.attempt-failed">,
      "error" | "againInMs"
    >)
  | { readonly about: "asked-again"; readonly attempt: number }
  | { readonly about: "finish"; readonly finish: string }
  | { readonly about: "continued" }
  | { readonly about: "recovering"; readonly reason: string }
  | { readonly about: "waiting"; readonly on: "continue" | "recovery" }
  | { readonly about: "interrupted" }
  | { readonly about: "failed"; readonly message: string | undefined; readonly hint: string | undefined }
  | { readonly about: "queue"; readonly is: "parked" | "resumed" };
