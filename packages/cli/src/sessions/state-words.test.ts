import type { SessionState } from "@corral/protocol";
import { expect, test } from "vitest";
import { age, stateHint, stateWords } from "./state-words.ts";

const since = "2026-01-01T00:00:00.000Z";
const activityId = "act_a";

test.each<[SessionState, string, string]>([
  [{ state: "idle", since }, "idle", ""],
  [{ state: "thinking", since, activityId }, "thinking", ""],
  [
    { state: "waiting", since, activityId, on: "continue", calls: [], questions: [] },
    "waiting (turns)",
    "it reached its turn limit; `corral continue ses_a` lets it go on",
  ],
  [
    { state: "waiting", since, activityId, on: "recovery", calls: ["cal_a"], questions: [] },
    "waiting (1 call)",
    "it is unknown how cal_a ended; `corral recover ses_a --retry` or `--abandon`",
  ],
  [
    { state: "waiting", since, on: "place", limit: "sessions.atOnce", most: 8, position: 12 },
    "waiting (12th in line)",
    "waiting for a free place: 12th in line, limit sessions.atOnce = 8; `corral config set sessions.atOnce 16` makes room",
  ],
  [{ state: "recovering", since, activityId, reason: "it stopped" }, "recovering", "it is being recovered: it stopped"],
  [{ state: "failed", since, activityId, message: "no key." }, "failed", "no key; `corral continue ses_a` tries again"],
  [
    { state: "parked", since, inputs: 2 },
    "parked (2)",
    "2 inputs in the parked queue; `corral queue resume ses_a` lets it go on",
  ],
])("%j is %j, and what can be done is told", (state, words, hint) => {
  expect(stateWords(state)).toBe(words);
  expect(stateHint(state, "ses_a")).toBe(hint);
});

test.each([
  [0, "0s"],
  [59_999, "59s"],
  [60_000, "1m"],
  [3_600_000, "1h"],
  [90_000_000, "1d"],
  [-5_000, "0s"],
])("%i ms are %j", (ms, told) => {
  expect(age(since, Date.parse(since) + ms)).toBe(told);
});

test("what is not a time has no age", () => {
  expect(age("", 0)).toBe("");
});
