import { newId } from "@corral/protocol";
import { expect, test } from "vitest";
import { callsTool, says, startTestDaemon } from "../testing/index.ts";

const by = { actor: "person:test" };
const goOn = ["The operator asks you to go on."];

test("a person's word to go on has the model asked once more, after an end, a failure and an interrupt", async () => {
  await using daemon = await startTestDaemon({ attempts: 1 });
  const { session, sessions, model } = daemon;
  await session.prompt("count");
  (await model.nextRequest()).answer(says("one"));
  await session.until("activity.settled");
  for (const [nth, end] of (["failed", "interrupted", "done"] as const).entries()) {
    expect(await sessions.continue(session.id, by)).toEqual({ kind: "continued" });
    const request = await model.nextRequest();
    expect(request.newInputs).toEqual(goOn);
    if (end === "failed") request.fail(400);
    else if (end === "done") request.answer(says("two"));
    else await sessions.interrupt(session.id, by);
    expect((await session.until("activity.settled", nth + 2)).data.outcome).toBe(end);
  }
  expect(model.requests).toHaveLength(4);
});

test("words to go on that come at once join one run, and ask the model once", async () => {
  await using daemon = await startTestDaemon();
  const { session, sessions, model } = daemon;
  await session.prompt("count");
  (await model.nextRequest()).answer(says("one"));
  await session.until("activity.settled");
  const word = newId("continue");
  await Promise.all(
    [word, word, newId("continue"), newId("continue")].map((id) => sessions.continue(session.id, by, id)),
  );
  const request = await model.nextRequest();
  expect(await sessions.continue(session.id, by)).toEqual({ kind: "joined" });
  request.answer(says("two"));
  await session.until("activity.settled", 2);
  expect(await sessions.continue(session.id, by, word)).toEqual({ kind: "continued" });
  await daemon.stop();
  const types = (await session.events()).map(({ type }) => type);
  expect([model.requests.length, types.filter((type) => type === "activity.opened").length]).toEqual([2, 2]);
});

test("a wake without anything to do starts nothing: only a person's word does", async () => {
  await using daemon = await startTestDaemon();
  const { session, sessions, model } = daemon;
  const said = { id: newId("input") };
  await session.prompt("count", said);
  (await model.nextRequest()).answer(says("one"));
  await session.until("activity.settled");
  await sessions.decideQueue(session.id, "park", by);
  await sessions.decideQueue(session.id, "resume", by);
  await sessions.archive(session.id, by);
  await sessions.unarchive(session.id, by);
  await session.prompt("count", said);
  await daemon.stop();
  const types = (await session.events()).map(({ type }) => type);
  expect([model.requests.length, types.filter((type) => type === "activity.opened").length]).toEqual([1, 1]);
});

test("a word to go on during the clean-up after an interrupt still runs", async () => {
  await using daemon = await startTestDaemon();
  const { session, sessions, model } = daemon;
  model.script([callsTool("shell", { command: "trap '' TERM; echo begun; while :; do sleep 0.1; done" })]);
  await session.prompt("wait");
  await session.outputs("begun");
  await sessions.interrupt(session.id, by);
  expect(await sessions.continue(session.id, by)).toEqual({ kind: "continued" });
  (await model.nextRequest()).answer(says("on"));
  expect((await session.until("activity.settled", 2)).data.outcome).toBe("done");
});
