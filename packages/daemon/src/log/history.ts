import { CorralError, type StoredEvent } from "@corral/protocol";
import { isGap, type Log } from "./port.ts";

/** All events of one stream. Throws `log.trimmed` when its beginning was removed: half a history would mislead. */
export async function historyOf(log: Pick<Log, "read">, stream: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const page = await log.read({ stream, after: events.at(-1)?.seq ?? 0 });
    if (isGap(page)) throw trimmed(stream);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

function trimmed(stream: string): CorralError {
  return new CorralError("log.trimmed", `The older events of ${stream} were removed for their age.`, {
    hint: "Begin a new session; what this one changed is in its workspace and branch.",
  });
}
