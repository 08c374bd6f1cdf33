import type { SessionState } from "@corral/protocol";
import { expect, test } from "vitest";
import { wordFor } from "./state-word.ts";

const since = "2026-01-01T00:00:00.000Z";

test.each<[SessionState, string]>([
  [{ state: "idle", since }, "idle"],
  [{ state: "thinking", since, activityId: "act_a" }, "thinking"],
  [{ state: "waiting", since, activityId: "act_a", on: "recovery", calls: ["cal_a"], questions: [] }, "needs you"],
  [{ state: "waiting", since, activityId: "act_a", on: "continue", calls: [], questions: [] }, "waits for a word"],
  [{ state: "waiting", since, on: "place", limit: "sessions.atOnce", most: 8, position: 3 }, "3rd in line"],
  [{ state: "recovering", since, activityId: "act_a", reason: "cut off" }, "recovering"],
  [{ state: "failed", since, activityId: "act_a", message: "no key" }, "failed"],
  [{ state: "parked", since, inputs: 2 }, "parked (2)"],
])("%j is shown as %j", (state, word) => {
  expect(wordFor(state)).toBe(word);
});
