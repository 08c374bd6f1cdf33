import type { SessionState } from "@corral/protocol";

/** What a session is doing, in a word and a colour. */
export function StateBadge(props: { readonly state: SessionState }) {
  return <span class={`badge ${props.state.state}`}>{wordFor(props.state)}</span>;
}

function wordFor(state: SessionState): string {
  if (state.state !== "waiting") return state.state;
  return state.on === "recovery" ? "needs you" : "waits for a word";
}
