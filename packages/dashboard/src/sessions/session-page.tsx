import type { Client, Gap } from "@corral/client";
import { emptyTranscript, takeDelta, takeEvent, takeGap, takeView } from "@corral/client/transcript";
import type { AnswerGiven, CallId, QuestionId, SessionId } from "@corral/protocol";
import { CorralError } from "@corral/protocol/error";
import { newId } from "@corral/protocol/new-id";
import { createEffect, createResource, createSignal, For, Show } from "solid-js";
import { createStore, produce } from "solid-js/store";
import { explain } from "../connection/explain.ts";
import { createFollowing } from "../connection/following.ts";
import { Trouble } from "../connection/trouble.tsx";
import { PromptBox } from "../inputs/prompt-box.tsx";
import { createSticky } from "../transcript/sticky.ts";
import { TranscriptView } from "../transcript/transcript-view.tsx";
import { visible } from "../transcript/visible.ts";
import { shortId } from "./short-id.ts";
import { StateBadge } from "./state-badge.tsx";
import { UnsafeBadge } from "./unsafe-badge.tsx";

const lateCodes: ReadonlySet<string> = new Set(["recovery.nothing", "question.closed"]);

export function SessionPage(props: { readonly client: Client; readonly id: SessionId }) {
  const [transcript, setTranscript] = createStore(emptyTranscript());
  const [failure, setFailure] = createSignal<string>();
  const [projects] = createResource(() => props.client.projects.list().catch(() => []));
  const sticky = createSticky(() => document.documentElement, window);

  const trouble = createFollowing(props.client, {
    session: props.id,
    cursor: () => transcript.cursor,
    onNews(news) {
      setTranscript(
        produce((draft) => {
          for (const each of news) {
            if (each.kind === "event") takeEvent(draft, each.event);
            else if (each.kind === "delta") takeDelta(draft, each.delta);
            else takeGap(draft, each);
          }
        }),
      );
      const gap = news.findLast((each) => each.kind === "gap");
      if (gap !== undefined) void lookUp(gap);
      sticky.settle();
    },
  });

  /** What the lost events told of the session is asked. */
  const lookUp = (gap: Gap) =>
    attempt(async () => {
      const view = await props.client.sessions.get(props.id);
      setTranscript(produce((draft) => takeView(draft, view, gap)));
    });

  const project = () => projects()?.find(({ id }) => id === transcript.projectId)?.name ?? "";
  const isBusy = () => ["thinking", "waiting", "recovering"].includes(transcript.state.state);
  const attempt = async (deed: () => Promise<unknown>) => {
    try {
      setFailure(undefined);
      await deed();
    } catch (error) {
      // Somebody else was first; the transcript shows what was decided.
      if (!(error instanceof CorralError && lateCodes.has(error.code))) setFailure(explain(error));
    }
  };
  const interrupt = () => attempt(() => props.client.sessions.interrupt(props.id));
  const decide = (call: CallId, decision: "retry" | "abandon") =>
    attempt(() => props.client.sessions.recover(props.id, { call, decision }));

  const answer = (question: QuestionId, given: AnswerGiven) =>
    attempt(() => props.client.questions.answer(question, { id: newId("answer"), ...given }));

  createEffect(() => {
    document.title = `${transcript.state.state} · ${project()} · Corral`;
  });

  return (
    <main class="session">
      <div class="heading">
        <h1>{project() || "Session"}</h1>
        <span role="status">
          <StateBadge state={transcript.state} />
        </span>
        <UnsafeBadge kind={transcript.environment} />
        <p class="facts">
          <span>{transcript.model}</span>
          <code title={props.id}>{transcript.branch ?? shortId(props.id)}</code>
        </p>
      </div>
      <Show when={transcript.todo.length > 0}>
        <ul class="todo" aria-label="To do">
          <For each={transcript.todo}>{(item) => <li class={item.state}>{visible(item.text)}</li>}</For>
        </ul>
      </Show>
      <TranscriptView
        transcript={transcript}
        onDecide={(call, decision) => void decide(call, decision)}
        onAnswer={(question, given) => void answer(question, given)}
      />
      <div class="dock">
        <Show when={!sticky.isAtBottom()}>
          <button type="button" class="jump" onClick={() => sticky.jump()}>
            Newest ↓
          </button>
        </Show>
        <Trouble what={trouble() ?? failure()} />
        <PromptBox
          send={(input) => props.client.sessions.admit(props.id, input)}
          onSent={() => sticky.jump()}
          beside={
            <Show when={isBusy()}>
              <button type="button" disabled={transcript.isInterrupting} onClick={() => void interrupt()}>
                {transcript.isInterrupting ? "Interrupting…" : "Interrupt"}
              </button>
            </Show>
          }
        />
      </div>
    </main>
  );
}
