import { createSignal, type JSX } from "solid-js";
import { explain } from "../connection/explain.ts";
import { Trouble } from "../connection/trouble.tsx";
import { type Draft, draftOf } from "./draft.ts";

/** Where a person writes to the session. What was not sent stays in it. */
export function PromptBox(props: {
  /** Resolves when the input is durable. */
  send(input: Draft): Promise<unknown>;
  onSent(): void;
  readonly beside: JSX.Element;
}) {
  const [text, setText] = createSignal("");
  const [isSending, setSending] = createSignal(false);
  const [failure, setFailure] = createSignal<string>();
  let unsent: Draft | undefined;

  const send = async () => {
    const wanted = text().trim();
    if (wanted === "" || isSending()) return;
    unsent = draftOf(wanted, unsent);
    setSending(true);
    try {
      await props.send(unsent);
      unsent = undefined;
      setText("");
      setFailure(undefined);
      props.onSent();
    } catch (error) {
      setFailure(`Not sent. ${explain(error)}`);
    }
    setSending(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send();
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void send();
  };

  return (
    <form class="prompt" onSubmit={onSubmit}>
      <Trouble what={failure()} />
      <textarea
        rows="1"
        aria-label="Message to the agent"
        placeholder="Write to the agent…"
        value={text()}
        readOnly={isSending()}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="actions">
        <span class="quiet hint">Enter sends, Shift+Enter begins a line</span>
        {props.beside}
        <button type="submit" class="primary" disabled={isSending() || text().trim() === ""}>
          {isSending() ? "Sending…" : "Send"}
        </button>
      </div>
    </form>
  );
}
