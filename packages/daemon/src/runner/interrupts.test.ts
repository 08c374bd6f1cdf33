import { describe, expect, test } from "vitest";
import { callsTool, says, startTestDaemon } from "../testing/index.ts";

const shell = (command: string) => callsTool("shell", { command });
const by = { actor: "person:test" };

describe("an interrupt at the boundary", () => {
  test("lets the turn finish with its commands, ends the activity and parks the queue", async () => {
    await using daemon = await startTestDaemon();
    const { session, sessions, model } = daemon;
    await session.prompt("count");
    const request = await model.nextRequest();
    await session.prompt("later", { delivery: "queue" });
    expect(await sessions.interrupt(session.id, by, "boundary")).toEqual({ kind: "requested" });
    request.answer(shell("echo whole"));
    const settled = await session.until("activity.settled");
    expect(settled.data.outcome).toBe("interrupted");
    expect((await session.until("call.settled")).data.result).toMatchObject({ stdout: "whole\n" });
    expect((await session.until("turn.settled")).data.outcome).toBe("replied");
    expect(model.requests).toHaveLength(1);
    expect((await sessions.get(session.id))?.state).toMatchObject({ state: "parked", inputs: 1 });
    await sessions.decideQueue(session.id, "resume", by);
    (await model.nextRequest()).answer(says("done"));
    expect((await session.until("activity.settled", 2)).data.outcome).toBe("done");
  });

  test("does not wait once it is wanted now", async () => {
    await using daemon = await startTestDaemon();
    const { session, sessions, model } = daemon;
    model.script([shell("echo begun; sleep 1000")]);
    await session.prompt("wait");
    await session.outputs("begun");
    await sessions.interrupt(session.id, by, "boundary");
    await sessions.interrupt(session.id, by, "now");
    expect((await session.until("activity.settled")).data.outcome).toBe("interrupted");
    expect((await session.until("call.interrupted")).data.result).toMatchObject({ stdout: "begun\n" });
  });
});

test("a queue that is resumed while an interrupt is cleaned up after still runs", async () => {
  await using daemon = await startTestDaemon();
  const { session, sessions, model } = daemon;
  model.script([shell("echo begun; sleep 1000")]);
  await session.prompt("wait");
  await session.outputs("begun");
  await session.prompt("later", { delivery: "queue" });
  await sessions.interrupt(session.id, by);
  await sessions.decideQueue(session.id, "resume", by);
  const next = await model.nextRequest();
  expect(next.newInputs.at(-1)).toBe("later");
  next.answer(says("done"));
  expect((await session.until("activity.settled", 2)).data.outcome).toBe("done");
});

test("several steers cost one turn, and one that is accepted while the turn fails still runs", async () => {
  await using daemon = await startTestDaemon({ attempts: 1 });
  const { session, model } = daemon;
  await session.prompt("go");
  const first = await model.nextRequest();
  await session.prompt("one");
  await session.prompt("two");
  first.answer(shell("true"));
  const second = await model.nextRequest();
  expect(second.newInputs).toEqual(["one", "two"]);
  await session.prompt("three");
  second.fail(500);
  expect((await session.until("activity.settled")).data.outcome).toBe("failed");
  const third = await model.nextRequest();
  expect(third.newInputs.at(-1)).toBe("three");
  third.answer(says("done"));
  expect((await session.until("activity.settled", 2)).data.outcome).toBe("done");
});

test("continuing after the limit allows as many turns again, and no more", async () => {
  await using daemon = await startTestDaemon({ wish: { turnLimit: 1 } });
  const { session, sessions, model } = daemon;
  model.script([shell("echo 1"), shell("echo 2"), says("finished")]);
  await session.prompt("count");
  await session.until("activity.waiting");
  expect(await sessions.continue(session.id, by)).toEqual({ kind: "continued" });
  await session.until("activity.waiting", 2);
  expect(model.requests).toHaveLength(2);
  expect(await sessions.continue(session.id, by)).toEqual({ kind: "continued" });
  expect((await session.until("activity.settled")).data.outcome).toBe("done");
});

test("a session that was let go while it waited goes on without a word of any recovery", async () => {
  await using daemon = await startTestDaemon({ wish: { turnLimit: 1 }, waitingMs: 0 });
  const { session, sessions, model } = daemon;
  model.script([shell("echo 1")]);
  await session.prompt("count");
  await session.until("activity.waiting");
  await expect.poll(() => daemon.running()).toBe(0);
  await sessions.continue(session.id, by);
  const request = await model.nextRequest();
  expect((await sessions.get(session.id))?.state.state).toBe("thinking");
  request.answer(says("finished"));
  await session.until("activity.settled");
  expect((await session.events()).map(({ type }) => type)).not.toContain("activity.recovering");
});
