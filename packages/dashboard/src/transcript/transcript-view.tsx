import type { Entry, InputEntry, NoteEntry, PartEntry, Transcript } from "@corral/client/transcript";
import type { AnswerGiven, CallId, QuestionId } from "@corral/protocol";
import { inputWords } from "@corral/protocol/words";
import { For, Match, Show, Switch } from "solid-js";
import { QuestionView } from "../questions/question-view.tsx";
import { CallView } from "./call-view.tsx";
import { noteOf } from "./note-of.ts";
import { visible } from "./visible.ts";

/** Everything that agents and commands say is put in as text, never as markup. */
export function TranscriptView(props: {
  readonly transcript: Transcript;
  onDecide(call: CallId, decision: "retry" | "abandon"): void;
  onAnswer(question: QuestionId, answer: AnswerGiven): void;
}) {
  const isThinking = () =>
    props.transcript.state.state === "thinking" && !props.transcript.entries.some((entry) => isLive(entry));
  return (
    <div class="transcript" role="log" aria-label="Transcript">
      <For each={props.transcript.entries}>
        {(entry) => (
          <Switch>
            <Match when={entry.kind === "input" && entry}>{(input) => <InputView input={input()} />}</Match>
            <Match when={isShown(entry, "text")}>{(part) => <TextView part={part()} />}</Match>
            <Match when={isShown(entry, "reasoning")}>{(part) => <ReasoningView part={part()} />}</Match>
            <Match when={entry.kind === "call" && entry}>
              {(call) => <CallView call={call()} onDecide={(decision) => props.onDecide(call().id, decision)} />}
            </Match>
            <Match when={entry.kind === "question" && entry}>
              {(question) => (
                <QuestionView question={question()} onAnswer={(answer) => props.onAnswer(question().id, answer)} />
              )}
            </Match>
            <Match when={entry.kind === "note" && entry}>{(note) => <NoteView entry={note()} />}</Match>
          </Switch>
        )}
      </For>
      <Show when={isThinking()}>
        <p class="quiet thinking">Thinking…</p>
      </Show>
    </div>
  );
}

/** What the model said without words is not shown. */
function isShown(entry: Entry, kind: PartEntry["kind"]): PartEntry | undefined {
  return (entry.kind === "text" || entry.kind === "reasoning") && entry.kind === kind && entry.output.text !== ""
    ? entry
    : undefined;
}

/** Whether the entry itself shows that something goes on. */
function isLive(entry: Entry): boolean {
  if (entry.kind === "call") return entry.isRunning;
  return (entry.kind === "text" || entry.kind === "reasoning") && entry.isGrowing;
}

function InputView(props: { readonly input: InputEntry }) {
  return (
    <article class="input" classList={{ waiting: props.input.isWaiting }} aria-label="You">
      <p class="said">{visible(inputWords(props.input))}</p>
      <Show when={props.input.isWaiting}>
        <p class="quiet">waiting to be taken up</p>
      </Show>
    </article>
  );
}

function TextView(props: { readonly part: PartEntry }) {
  return (
    <article class="text" classList={{ growing: props.part.isGrowing }} aria-label="Agent">
      <p class="said">{visible(props.part.output.text)}</p>
      <Show when={props.part.isCut}>
        <p class="quiet">the reply was cut here</p>
      </Show>
    </article>
  );
}

function ReasoningView(props: { readonly part: PartEntry }) {
  return (
    <details class="reasoning">
      <summary>{props.part.isGrowing ? "Reasoning…" : "Reasoning"}</summary>
      <p class="said">{visible(props.part.output.text)}</p>
    </details>
  );
}

function NoteView(props: { readonly entry: NoteEntry }) {
  return (
    <Show when={noteOf(props.entry.note)}>
      {(note) => (
        <p class={`note ${note().tone}`}>
          {visible(note().text)}
          <Show when={note().hint}>{(hint) => <span class="hint">{visible(hint())}</span>}</Show>
        </p>
      )}
    </Show>
  );
}
