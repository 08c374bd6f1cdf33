import { event, type PlaceInLine, type SessionState, type WireEvent } from "@corral/protocol";
import { expect, test } from "vitest";
import { InLine } from "./in-line.ts";

const at = (position: number): PlaceInLine => ({ limit: "sessions.atOnce", most: 2, position });

const told = (of: ReturnType<typeof event>) =>
  ({
    ...of,
    seq: 1,
    stream: "ses_a",
    actor: "corral",
    typeVersion: 1,
    approximateCreationTime: "",
  }) as unknown as WireEvent;

test("moving up in the line is told, standing still is not, and nothing is once there is a place", async () => {
  const states: SessionState[] = [3, 3, 2, 2, 1].map(
    (position) =>
      ({
        state: "waiting",
        on: "place",
        since: "2026-01-01T00:00:00.000Z",
        inputs: 1,
        ...at(position),
      }) as SessionState,
  );
  const said: string[] = [];
  const looked = Promise.withResolvers<void>();
  const line = new InLine(
    async () => {
      const next = states.shift();
      if (next === undefined) looked.resolve();
      return next ?? { state: "idle", since: "2026-01-01T00:00:00.000Z" };
    },
    (words) => said.push(words),
    { everyMs: 1 },
  );
  line.event(told(event("place.awaited", at(3))));
  await looked.promise;
  expect(said.map((words) => /\d\w\w in line/.exec(words)?.[0])).toEqual(["2nd in line", "1st in line"]);
  line.event(told(event("place.given", {})));
  states.push({ state: "waiting", on: "place", since: "", inputs: 1, ...at(7) } as unknown as SessionState);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect([said.length, states.length]).toEqual([2, 1]);
});
