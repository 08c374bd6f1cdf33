import type { BodyOf, Client, Gap, SessionId } from "@corral/client";
import type { Outcome, OutcomeOf } from "./outcome.ts";

/**
 * What became of an input, when the event that told it may be among those no longer kept. Undefined while that is still
 * to be told by events behind the gap.
 */
export async function lostOutcome(
  client: Client,
  session: SessionId,
  input: BodyOf<"sessions.admit">,
  gap: Gap,
  outcomeOf: OutcomeOf,
): Promise<Outcome | undefined> {
  // Sent again, it is not taken again: the answer is what became of it.
  const { activityId } = (await client.sessions.admit(session, input)).input;
  if (activityId === null) return undefined;
  outcomeOf.takenUp(activityId);
  const { state } = await client.sessions.get(session);
  const { events } = await client.sessions.events(session, { after: gap.to, types: ["activity.*"] });
  if (events.length > 0) return undefined;
  switch (state.state) {
    case "idle":
    case "parked":
      return { kind: "done" };
    case "thinking":
    case "recovering":
      return undefined;
    case "waiting":
      if (state.on === "place") return undefined;
      return { kind: "waiting", on: state.on, calls: state.calls, questions: state.questions };
    case "failed":
      return { kind: "failed", message: state.message, hint: undefined };
  }
}
