import { event, type NewEvent, type PlaceInLine, type SessionState, type WireEvent } from "@corral/protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { InLine } from "./in-line.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const at = (position: number): PlaceInLine => ({ limit: "sessions.atOnce", most: 2, position });
const told = (of: NewEvent) => ({ ...of, seq: 1, stream: "ses_a", typeVersion: 1 }) as unknown as WireEvent;

test("moving up in the line is told, standing still is not, and nothing is once there is a place", async () => {
  let position = 3;
  let looks = 0;
  const said: (string | undefined)[] = [];
  const line = new InLine(
    async () => {
      looks += 1;
      return { state: "waiting", on: "place", since: "", ...at(position) } as unknown as SessionState;
    },
    (words) => said.push(/\d\w\w in line/.exec(words)?.[0]),
  );
  line.event(told(event("place.awaited", at(3))));
  await vi.advanceTimersByTimeAsync(4_000);
  expect([looks, said]).toEqual([2, []]);
  position = 1;
  await vi.advanceTimersByTimeAsync(6_000);
  expect([looks, said]).toEqual([5, ["1st in line"]]);
  line.event(told(event("place.given", {})));
  position = 7;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([looks, said]).toEqual([5, ["1st in line"]]);
});
