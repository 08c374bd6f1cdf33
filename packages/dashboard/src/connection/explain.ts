import { CorralError } from "@corral/protocol/error";

/** An error in words for the page: what happened, and what to do. */
export function explain(error: unknown): string {
  if (!(error instanceof CorralError)) return error instanceof Error ? error.message : String(error);
  if (error.code === "daemon.unreachable") return unreachable;
  return error.hint === undefined ? error.message : `${error.message}. ${error.hint}.`;
}

export const unreachable =
  "The daemon does not answer. If it was started anew it is at another address: run `corral dashboard`.";
