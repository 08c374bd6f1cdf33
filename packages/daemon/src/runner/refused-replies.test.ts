import { expect, test } from "vitest";
import type { Projection } from "../log/port.ts";
import { says, startTestDaemon } from "../testing/index.ts";

test("a reply that the log refuses to take is not asked for again: its words are kept, and the failure is told", async () => {
  const broken: Projection = {
    table: "broken",
    version: 1,
    columns: {},
    changes({ type }) {
      if (type === "turn.replied") throw new Error("broken");
      return [];
    },
  };
  await using daemon = await startTestDaemon({ projections: [broken] });
  const { session, model } = daemon;
  model.script([says("paid for"), says("paid for twice")]);
  await session.prompt("hi");
  expect((await session.until("activity.settled")).data).toMatchObject({
    outcome: "failed",
    error: {
      code: "runner.lost",
      message: "The session was set aside: The projection broken failed on an event turn.replied.",
    },
  });
  const said = (await session.events()).flatMap((each) => (each.type === "turn.said" ? [each.data.text] : []));
  expect([model.requests.length, said]).toEqual([1, ["paid for"]]);
});
