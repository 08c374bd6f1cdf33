import type { SessionState } from "@corral/protocol";
import { wordFor } from "./state-word.ts";

/** What a session is doing, in a word and a colour. */
export function StateBadge(props: { readonly state: SessionState }) {
  return (
    <span
      class={`badge ${props.state.state}`}
      title={props.state.since === "" ? undefined : `since ${props.state.since}`}
    >
      {wordFor(props.state)}
    </span>
  );
}
