import { createEffect, For, on, Show } from "solid-js";
import { createSticky } from "./sticky.ts";
import type { CallEnd, CallEntry } from "./transcript.ts";
import { visible } from "./visible.ts";

export function CallView(props: { readonly call: CallEntry; onDecide(decision: "retry" | "abandon"): void }) {
  const isShell = () => props.call.tool === "shell";
  const undecided = () => (isUndecided(props.call.end) ? props.call.end : undefined);
  return (
    <article class="call" classList={{ bad: isBad(props.call.end) }} aria-label={`${props.call.tool} call`}>
      <div class="request">
        <Show when={!isShell()}>
          <span class="tool">{visible(props.call.tool)}</span>
        </Show>
        <pre classList={{ shell: isShell() }}>{visible(props.call.request)}</pre>
        <span class="outcome">{outcomeOf(props.call)}</span>
      </div>
      <OutputView text={props.call.stdout.text} label="Output" />
      <OutputView text={props.call.stderr.text} label="Error output" class="stderr" />
      <Show when={detailsOf(props.call.end)}>{(details) => <p class="details">{visible(details())}</p>}</Show>
      <For each={artifactsOf(props.call.end)}>
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

function outcomeOf({ end, isRunning }: CallEntry): string {
  if (end === undefined) return isRunning ? "running" : "waiting";
  switch (end.kind) {
    case "settled":
      return end.exitCode === undefined ? "done" : `exit ${end.exitCode}`;
    case "unknown":
      return end.decision === undefined ? "end unknown" : end.decision === "retry" ? "to be retried" : "abandoned";
    case "failed":
    case "declined":
    case "interrupted":
      return end.kind;
  }
}

function detailsOf(end: CallEnd | undefined): string | undefined {
  switch (end?.kind) {
    case "settled":
      return end.notes.join(" · ") || undefined;
    case "failed":
      return end.message;
    case "declined":
      return end.reason;
    case "unknown":
      return isUndecided(end)
        ? `${end.reason} Nobody can tell what it has done. Run it again, or give it up?`
        : end.reason;
    default:
      return undefined;
  }
}

function artifactsOf(end: CallEnd | undefined) {
  return end?.kind === "settled" ? (end.artifacts ?? []) : [];
}

function isUndecided(end: CallEnd | undefined): boolean {
  return end?.kind === "unknown" && end.decision === undefined;
}

function isBad(end: CallEnd | undefined): boolean {
  if (end?.kind === "settled") return end.exitCode !== undefined && end.exitCode !== 0;
  return end?.kind === "failed" || isUndecided(end);
}
