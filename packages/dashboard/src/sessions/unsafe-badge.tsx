import type { EnvironmentKind } from "@corral/protocol";
import { Show } from "solid-js";

/** Said wherever a session without walls is shown. */
export function UnsafeBadge(props: { readonly kind: EnvironmentKind | undefined }) {
  return (
    <Show when={props.kind === "local"}>
      <strong class="badge unsafe" title="No walls: its commands can reach all that you can">
        UNSAFE
      </strong>
    </Show>
  );
}
