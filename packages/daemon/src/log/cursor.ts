import { CorralError } from "@corral/protocol";
import type { Log } from "./port.ts";

/**
 * Throws `cursor.ahead`. Whoever has seen an event has seen it committed, so that no cursor of this log is ever ahead of
 * what is read afterwards.
 */
export async function requireCursor(log: Pick<Log, "head">, after: number): Promise<void> {
  const head = await log.head();
  if (after > head) throw cursorAhead(after, head);
}

export function cursorAhead(after: number, head: number): CorralError {
  return new CorralError("cursor.ahead", `The cursor ${after} is ahead of the log, whose newest seq is ${head}.`, {
    hint: `It is of another log. Start from 0 for all of this one, or from ${head} for what comes.`,
  });
}
