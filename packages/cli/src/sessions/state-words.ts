import type { PlaceInLine, SessionState } from "@corral/protocol";
import { ordinal } from "@corral/protocol/words";
import { counted } from "../terminal/figures.ts";

/** What a session is doing, in two words. */
export function stateWords(state: SessionState): string {
  switch (state.state) {
    case "waiting":
      if (state.on === "place") return `waiting (${ordinal(state.position)} in line)`;
      if (state.on === "question") return `waiting (${counted(state.questions.length, "question")})`;
      return state.on === "continue" ? "waiting (turns)" : `waiting (${counted(state.calls.length, "call")})`;
    case "parked":
      return `parked (${state.inputs})`;
    default:
      return state.state;
  }
}

/** Whether the state tells of what it asks. Questions about what was held back stay open in any other. */
export function asksInState(state: SessionState): boolean {
  return state.state === "waiting" && state.on === "question";
}

/** What a person can do about it, as a line; empty when there is nothing to be done. */
export function stateHint(state: SessionState, session: string): string {
  switch (state.state) {
    case "waiting":
      if (state.on === "place") return lineWords(state);
      if (state.on === "question") return `it asks you something: \`corral answer ${state.questions[0] ?? ""}\``;
      return state.on === "continue"
        ? `it reached its turn limit; \`corral continue ${session}\` lets it go on`
        : `it is unknown how ${state.calls.join(", ") || "a call"} ended; \`corral recover ${session} --retry\` or \`--abandon\``;
    case "parked":
      return `${counted(state.inputs, "input")} in the parked queue; \`corral queue resume ${session}\` lets it go on`;
    case "recovering":
      return `it is being recovered: ${state.reason}`;
    case "failed":
      return `${state.message.replace(/\.$/, "")}; \`corral continue ${session}\` tries again`;
    default:
      return "";
  }
}

/** Why a session has not begun yet, and what can be done about it. */
export function lineWords({ limit, most, position }: PlaceInLine): string {
  return `waiting for a free place: ${ordinal(position)} in line, limit ${limit} = ${most}; \`corral config set ${limit} ${2 * most}\` makes room`;
}

/** How long ago, in one unit. */
export function age(since: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
