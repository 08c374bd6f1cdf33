import type { SessionState } from "@corral/protocol";
import { wordFor } from "./state-word.ts";

/** What a session is doing, in a word and a colour. */
export function StateBadge(props: { readonly state: SessionState }) {
  return (
    <span class={`badge ${props.state.state}`} title={titleOf(props.state)}>
      {wordFor(props.state)}
    </span>
  );
}

function titleOf(state: SessionState): string | undefined {
  const limit = state.state === "waiting" && state.on === "place" ? [`${state.limit} is ${state.most}`] : [];
  const since = state.since === "" ? [] : [`since ${state.since}`];
  return [...limit, ...since].join(", ") || undefined;
}
