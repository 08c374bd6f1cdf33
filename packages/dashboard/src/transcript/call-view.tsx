import {
  callArtifacts,
  type CallEnd,
  type CallEntry,
  callNotes,
  callWords,
  exitCodeOf,
  requestText,
} from "@corral/client/transcript";
import { createEffect, For, on, Show } from "solid-js";
import { createSticky } from "./sticky.ts";
import { visible } from "./visible.ts";

export function CallView(props: { readonly call: CallEntry; onDecide(decision: "retry" | "abandon"): void }) {
  const isShell = () => props.call.tool === "shell";
  const undecided = () => (isUndecided(props.call.end) ? props.call.end : undefined);
  return (
    <article class="call" classList={{ bad: isBad(props.call) }} aria-label={`${props.call.tool} call`}>
      <div class="request">
        <Show when={!isShell()}>
          <span class="tool">{visible(props.call.tool)}</span>
        </Show>
        <pre classList={{ shell: isShell() }}>{visible(requestOf(props.call))}</pre>
        <span class="outcome">{callWords(props.call).word}</span>
      </div>
      <OutputView text={props.call.stdout.text} label="Output" />
      <OutputView text={props.call.stderr.text} label="Error output" class="stderr" />
      <Show when={detailsOf(props.call)}>{(details) => <p class="details">{visible(details())}</p>}</Show>
      <For each={callArtifacts(props.call.end)}>
        {({ stream, id, bytes }) => (
          <p class="details">
            <a href={`/api/artifacts/${encodeURIComponent(id)}/content`} download="">
              {`Save the whole of ${stream} (${bytes} bytes)`}
            </a>
          </p>
        )}
      </For>
      <Show when={undecided()}>
        <div class="decision">
          <button type="button" onClick={() => props.onDecide("retry")}>
            Retry
          </button>
          <button type="button" onClick={() => props.onDecide("abandon")}>
            Abandon
          </button>
        </div>
      </Show>
    </article>
  );
}

function OutputView(props: { readonly text: string; readonly label: string; readonly class?: string }) {
  return (
    <Show when={props.text !== ""}>
      <Scrolled {...props} />
    </Show>
  );
}

/** Long output scrolls in itself, so it can be reached by keyboard. */
function Scrolled(props: { readonly text: string; readonly label: string; readonly class?: string }) {
  const pre = (
    <pre tabindex="0" role="region" aria-label={props.label} class={`output ${props.class ?? ""}`}>
      {visible(props.text)}
    </pre>
  ) as HTMLPreElement;
  const sticky = createSticky(() => pre, pre);
  createEffect(
    on(
      () => props.text,
      () => sticky.settle(),
    ),
  );
  return pre;
}

/** Of one whose request is no longer kept only the id is known. */
function requestOf({ id, tool, arguments: given }: CallEntry): string {
  return tool === "" ? id : requestText(tool, given);
}

function detailsOf(call: CallEntry): string | undefined {
  const { why } = callWords(call);
  if (why === undefined) return callNotes(call.end).join(" · ") || undefined;
  return isUndecided(call.end) ? `${why} Nobody can tell what it has done. Run it again, or give it up?` : why;
}

function isUndecided(end: CallEnd | undefined): boolean {
  return end?.kind === "unknown" && end.decision === undefined;
}

function isBad({ end }: CallEntry): boolean {
  return end?.kind === "failed" || isUndecided(end) || (exitCodeOf(end) ?? 0) !== 0;
}
