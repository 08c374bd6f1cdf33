import { type QuestionEntry, requestText, sentence } from "@corral/client/transcript";
import type { AlwaysFor, AnswerGiven } from "@corral/protocol";
import { answerWords, questionEndWords, reasonOf } from "@corral/protocol/words";
import { createSignal, For, onCleanup, Show } from "solid-js";
import { visible } from "../transcript/visible.ts";
import { timeLeft } from "./time-left.ts";

/** What the operator is asked, with a button for each choice; once it has an end, how that came. */
export function QuestionView(props: { readonly question: QuestionEntry; onAnswer(answer: AnswerGiven): void }) {
  const [words, setWords] = createSignal("");
  const given = () => (words().trim() === "" ? {} : { text: words().trim() });
  const isOpen = () => props.question.end === undefined;
  const isForAgent = () => props.question.about.kind === "agent";
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (words().trim() !== "") props.onAnswer(isForAgent() ? given() : { choice: "deny", ...given() });
  };
  return (
    <article class="question" classList={{ open: isOpen() }} aria-label="Question">
      <p class="said">{visible(props.question.text)}</p>
      <Show when={props.question.about.kind === "approval" && props.question.about}>
        {(about) => (
          <>
            <pre class="call-asked">{visible(requestText(about().tool, about().arguments))}</pre>
            <p class="quiet">{visible(reasonOf(about()))}</p>
          </>
        )}
      </Show>
      <Show when={props.question.about.kind === "held-back" && props.question.about}>
        {(about) => (
          <For each={about().names}>{({ path, why }) => <p class="quiet">{visible(`${path}: ${why}`)}</p>}</For>
        )}
      </Show>
      <Show when={"diff" in props.question.about && props.question.about.diff}>
        {(diff) => <pre>{visible(diff())}</pre>}
      </Show>
      <Show when={props.question.end}>
        {(end) => <p class="quiet">{visible(sentence(questionEndWords(props.question, end())))}</p>}
      </Show>
      <Show when={isOpen()}>
        <div class="decision">
          <For each={props.question.choices}>
            {(choice) => (
              <button
                type="button"
                title={choice.note === undefined ? undefined : visible(choice.note)}
                onClick={() => props.onAnswer({ choice: choice.id, ...(choice.id === "deny" ? given() : {}) })}
              >
                {visible(choice.label)}
              </button>
            )}
          </For>
        </div>
        <Show when={noteOf(props.question)}>{(note) => <p class="quiet">Always allows: {visible(note())}</p>}</Show>
        <Show when={props.question.takesText}>
          <form class="words" onSubmit={send}>
            <input
              aria-label={isForAgent() ? "Answer in words" : "Words for the agent, to deny it with"}
              placeholder={isForAgent() ? "In other words…" : "What it should do instead…"}
              value={words()}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
            <button type="submit">{isForAgent() ? "Answer" : "Deny with words"}</button>
          </form>
        </Show>
        <Show when={props.question.default}>
          {(usual) => <p class="quiet">Without an answer: {visible(answerWords(props.question, usual()))}</p>}
        </Show>
        <Show when={props.question.deadline}>{(deadline) => <Remaining deadline={deadline()} />}</Show>
      </Show>
    </article>
  );
}

/** Which calls "always" is for; the same with each of its choices. */
function noteOf({ choices }: QuestionEntry): string | undefined {
  return choices.find(({ id, note }) => Object.hasOwn(scopes, id) && note !== undefined)?.note;
}

const scopes: Readonly<Record<AlwaysFor, true>> = { session: true, agent: true, project: true };

function Remaining(props: { readonly deadline: number }) {
  const [now, setNow] = createSignal(Date.now());
  const ticking = setInterval(() => setNow(Date.now()), 1000);
  onCleanup(() => clearInterval(ticking));
  return <p class="quiet">{timeLeft(props.deadline - now())}</p>;
}
