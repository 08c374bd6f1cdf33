import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CallId, NewEvent, SessionId } from "@corral/protocol";
import { expect, test } from "vitest";
import { says, startTestDaemon, type TestDaemon, type TestSession } from "../testing/index.ts";

/** A session as the first version of Corral recorded it, up to each moment in which it may have ended. Never edited. */
interface Golden {
  readonly project: NewEvent;
  readonly session: SessionId;
  readonly head: readonly NewEvent[];
  readonly cases: Readonly<Record<string, readonly NewEvent[]>>;
}

const text = readFileSync(join(import.meta.dirname, "golden", "in-flight.v1.json"), "utf8");
const { session: id, cases } = JSON.parse(text) as Golden;

/** Today's program, on a log that ends there. */
async function upgraded(ended: string): Promise<TestDaemon & { readonly taken: TestSession }> {
  const past = (repository: string) => {
    const {
      project,
      head,
      cases: all,
    } = JSON.parse(text.replaceAll('"/repository"', JSON.stringify(repository))) as Golden;
    return [
      { stream: "prj_01k7zp3m9q0000000000000001", events: [project] },
      { stream: id, events: [...head, ...(all[ended] ?? [])] },
    ];
  };
  const daemon = await startTestDaemon({ past });
  return Object.assign(daemon, { taken: daemon.known(id) });
}

async function finished({ model, taken }: Awaited<ReturnType<typeof upgraded>>) {
  const request = await model.nextRequest();
  request.answer(says("Done."));
  expect((await taken.until("activity.settled")).data.outcome).toBe("done");
  const events = await taken.events();
  const asked = request.messages.map(({ role, content }) => `${role}: ${JSON.stringify(content)}`).join("\n");
  return {
    asked,
    promotions: events.filter(({ type }) => type === "input.promoted").length,
    attempts: events.flatMap((each) => (each.type === "turn.dispatched" ? [each.data.attempt] : [])),
    starts: events.flatMap((each) => (each.type === "call.started" ? [each.data.attempt] : [])),
  };
}

test.each([
  ["input admitted", [1]],
  ["input promoted", [1]],
  ["turn prepared", [1]],
  ["turn dispatched", [1, 2]],
  ["attempt failed", [1, 2]],
  ["reply cut before any call", [1, 2]],
])("a version that ended with its %s: the next asks the model, attempts counted %j", async (ended, attempts) => {
  await using daemon = await upgraded(ended);
  const done = await finished(daemon);
  expect(done).toMatchObject({ attempts, promotions: 1, starts: [] });
  expect(done.asked).toMatch(/^user: .*go on where you were.*$/);
});

test.each([
  ["call requested", "marked\\n", [1]],
  ["call ended", "as it was", [1]],
])(
  "a version that ended with its %s: the next sends the result, and does not ask for the reply again",
  async (ended, result, starts) => {
    await using daemon = await upgraded(ended);
    const done = await finished(daemon);
    expect(done).toMatchObject({ attempts: [1, 1], starts });
    expect(done.asked).toContain(result.replace("\\n", ""));
    expect(done.asked.match(/marked/g)?.length).toBe(ended === "call requested" ? 2 : 1);
  },
);

test.each(["call started", "waiting for a decision"])(
  "a version that ended with its %s, in an environment that nobody can ask: the next waits for a person, who is heard",
  async (ended) => {
    await using daemon = await upgraded(ended);
    const { taken, sessions } = daemon;
    await taken.until("activity.waiting");
    expect((await sessions.get(id))?.state).toMatchObject({ state: "waiting", on: "recovery" });
    const call: CallId = "cal_01k7zp3m9q0000000000000001";
    const by = { actor: "person:test" };
    expect(await sessions.decide(id, { call, decision: "retry" }, by)).toEqual({ kind: "decided" });
    expect(await finished(daemon)).toMatchObject({ attempts: [1, 1], starts: [1, 2] });
    expect(await sessions.decide(id, { call, decision: "retry" }, by)).toEqual({ kind: "nothing-to-decide" });
  },
);

test("what was recorded then stays as it is", () => {
  expect(Object.keys(cases)).toHaveLength(10);
  const hash = createHash("sha256")
    .update(JSON.stringify(JSON.parse(text)))
    .digest("hex");
  expect(hash).toBe("7282fc7201823895775e221c530c82fa6d1704047489e58e9d8bcdad61b62c62");
});
