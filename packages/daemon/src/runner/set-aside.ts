import { event, type NewEvent } from "@corral/protocol";
import type { Call, History } from "../sessions/index.ts";

/** What ends an activity that no runner can finish, with every call brought to an end a person can read. */
export function setAside({ activity }: History, reason: string): NewEvent[] {
  if (activity === undefined) return [];
  const { id, turn } = activity;
  const message = `The session was set aside: ${reason}`;
  const hint = "Say something to it to try again; the daemon's log tells what happened.";
  return [
    ...(turn?.calls ?? []).filter((call) => call.end === undefined).map((call) => ending(call, reason)),
    ...(turn === undefined ? [] : [event("turn.settled", { id: turn.id, outcome: "cut" })]),
    event("activity.settled", { id, outcome: "failed", error: { code: "runner.lost", message, hint } }),
  ];
}

function ending({ id, attempt }: Call, reason: string): NewEvent {
  return attempt === 0 ? event("call.interrupted", { id }) : event("call.unknown", { id, reason });
}
