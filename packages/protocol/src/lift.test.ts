import { expect, test } from "vitest";
import { isKnown } from "./event-types.ts";
import { lift, type Lifts, versionOf } from "./lift.ts";

/** A landing first told where it was in one text, then in two numbers, then in whole degrees as well. */
const table: Lifts = {
  "moon.landed": [
    ({ place }: { place: string }) => {
      const [north, east] = place.split(" ").map(Number);
      return { north, east };
    },
    (data: { north: number }) => ({ ...data, whole: Math.round(data.north) }),
  ],
};

test.each([
  [1, { place: "0.6 23.5" }],
  [2, { north: 0.6, east: 23.5 }],
  [3, { north: 0.6, east: 23.5, whole: 1 }],
])("an event of version %i comes out at the present version, the rest of it untouched", (typeVersion, data) => {
  const stored = { seq: 7, type: "moon.landed", typeVersion, data };
  const before = structuredClone(stored);
  const lifted = { seq: 7, type: "moon.landed", typeVersion: 3, data: { north: 0.6, east: 23.5, whole: 1 } };
  expect(lift(stored, table)).toEqual(lifted);
  expect(stored).toEqual(before);
});

test("unknown types and versions of a newer program are passed on as they are", () => {
  const newer = { type: "moon.landed", typeVersion: 4, data: { orbit: true } };
  const unknown = { type: "mars.landed", typeVersion: 2, data: { rover: true } };
  const inherited = { type: "constructor", typeVersion: 1, data: {} };
  expect([newer, unknown, inherited].map((stored) => lift(stored, table))).toEqual([newer, unknown, inherited]);
});

test("events are written with the present version of their type", () => {
  expect([versionOf("moon.landed", table), versionOf("mars.landed", table)]).toEqual([3, 1]);
});

test("a reader skips what it does not know: other types, and newer versions of its own", () => {
  const envelope = { seq: 1, stream: "ses_1", version: 1, actor: "person:ada", approximateCreationTime: "", data: {} };
  const known = (type: string, typeVersion: number) => isKnown({ ...envelope, type, typeVersion });
  expect([known("erased", 1), known("erased", 2), known("moon.landed", 1)]).toEqual([true, false, false]);
});
