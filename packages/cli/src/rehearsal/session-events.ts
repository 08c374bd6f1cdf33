import type { Client } from "@corral/client";
import type { SessionId, StoredEvent } from "@corral/protocol";
import { isKnown } from "@corral/protocol/event-types";

/** What a session's stream holds. `isWhole`: nothing of it was trimmed. */
export interface SessionEvents {
  readonly events: readonly StoredEvent[];
  readonly isWhole: boolean;
}

export async function eventsOf(client: Client, session: SessionId): Promise<SessionEvents> {
  const events: StoredEvent[] = [];
  let isWhole = true;
  for (let after = 0; ;) {
    const page = await client.sessions.events(session, { after, limit: 1000 });
    events.push(...page.events.filter((each) => isKnown(each)));
    isWhole &&= page.gap === undefined;
    if (page.next === after) return { events, isWhole };
    after = page.next;
  }
}
