import { CorralError, event, type NewEvent } from "@corral/protocol";
import type { Call, History } from "../sessions/index.ts";

/** Ends the activity of a session whose runs keep breaking off. */
export function setAside(history: History, reason: string): NewEvent[] {
  const hint = "Say something to it to try again; the daemon's log tells what happened.";
  return cutOff(history, new CorralError("runner.lost", `The session was set aside: ${reason}`, { hint }), reason);
}

/** What ends an activity that no runner can finish, with every call brought to an end a person can read. */
export function cutOff({ activity }: History, failure: CorralError, reason = failure.message): NewEvent[] {
  if (activity === undefined) return [];
  const { id, turn } = activity;
  const { code, message, hint } = failure;
  const error = { code, message, ...(hint === undefined ? {} : { hint }) };
  return [
    ...(turn?.calls ?? []).filter((call) => call.end === undefined).map((call) => ending(call, reason)),
    ...(turn === undefined ? [] : [event("turn.settled", { id: turn.id, outcome: "cut" })]),
    event("activity.settled", { id, outcome: "failed", error }),
  ];
}

function ending({ id, attempt }: Call, reason: string): NewEvent {
  return attempt === 0 ? event("call.interrupted", { id }) : event("call.unknown", { id, reason });
}
