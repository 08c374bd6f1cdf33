import { Show } from "solid-js";

/** A line about what is wrong, read out when it appears. */
export function Trouble(props: { readonly what: string | undefined }) {
  return (
    <div role="alert">
      <Show when={props.what}>{(what) => <p class="trouble">{what()}</p>}</Show>
    </div>
  );
}
