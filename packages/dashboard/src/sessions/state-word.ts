import type { SessionState } from "@corral/protocol";
import { ordinal } from "@corral/protocol/words";

export function wordFor(state: SessionState): string {
  switch (state.state) {
    case "waiting":
      if (state.on === "place") return `${ordinal(state.position)} in line`;
      return state.on !== "continue" ? "needs you" : "waits for a word";
    case "parked":
      return `parked (${state.inputs})`;
    default:
      return state.state;
  }
}
