import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestDaemon } from "../testing/index.ts";
import { callsTool, says } from "../testing/scripted-model/index.ts";

const by = { actor: "person:test" };

test("the set-up runs before the first command, in a shell of its own, and once", async () => {
  await using daemon = await startTestDaemon({
    settings: { "workspace.setup": "cd / && LATER=no && echo ready >/workspace/ready" },
  });
  const { session, model } = daemon;
  await session.prompt("work");
  (await model.nextRequest()).answer(callsTool("shell", { command: "cat ready; echo ${LATER-unset}" }));
  (await model.nextRequest()).answer(callsTool("shell", { command: "true" }));
  (await model.nextRequest()).answer(says("done"));
  await session.until("activity.settled");
  const events = await session.events();
  expect(events.filter(({ type }) => type.startsWith("setup.")).map(({ type, data }) => ({ type, data }))).toEqual([
    { type: "setup.started", data: { attempt: 1, command: "cd / && LATER=no && echo ready >/workspace/ready" } },
    { type: "setup.ended", data: { attempt: 1, outcome: "done", exitCode: 0, output: "" } },
  ]);
  expect((await session.until("call.settled")).data.result).toMatchObject({ stdout: "ready\nunset\n" });
});

test("a set-up that is cancelled ends with all it started, and runs again before the next work", async () => {
  await using daemon = await startTestDaemon({
    settings: { "workspace.setup": "test -e again && exit 0; touch again; (sleep 601 & wait); touch survived" },
  });
  const { session, model, sessions, home } = daemon;
  await session.prompt("work");
  (await model.nextRequest()).answer(callsTool("shell", { command: "true" }));
  await session.until("setup.started");
  // A command's output is all that an environment tells of it, and set-ups have no lane of their own.
  await expect.poll(() => existsSync(join(home, "workspaces", session.id, "again"))).toBe(true);
  expect(await sessions.decideSetup(session.id, "cancel", by)).toEqual({ kind: "requested" });
  expect((await session.until("setup.ended")).data).toMatchObject({ attempt: 1, outcome: "cancelled" });
  expect((await session.until("activity.settled")).data).toMatchObject({
    outcome: "failed",
    error: { code: "workspace.setup-failed" },
  });
  expect((await session.until("call.failed")).data.error).toMatchObject({ code: "workspace.setup-failed" });
  await session.prompt("again");
  (await model.nextRequest()).answer(callsTool("shell", { command: "pgrep -f '[s]leep 601' || echo none" }));
  (await model.nextRequest()).answer(says("done"));
  expect((await session.until("setup.ended", 2)).data).toMatchObject({ attempt: 2, outcome: "done" });
  await session.until("activity.settled", 2);
  expect(existsSync(join(home, "workspaces", session.id, "survived"))).toBe(false);
  expect((await session.until("call.settled")).data.result).toMatchObject({ stdout: "none\n" });
  expect(await sessions.decideSetup(session.id, "cancel", by)).toEqual({ kind: "nothing-to-decide" });
});

test("a set-up that failed is skipped when a person says so, and gone past when the settings do, with the agent told", async () => {
  await using daemon = await startTestDaemon({
    settings: { "workspace.setup": "echo broken >&2; exit 3", "workspace.setupFailure": "stop" },
  });
  const { session, model, sessions } = daemon;
  await session.prompt("work");
  (await model.nextRequest()).answer(callsTool("shell", { command: "true" }));
  expect((await session.until("setup.ended")).data).toEqual({
    attempt: 1,
    outcome: "failed",
    exitCode: 3,
    output: "broken\n",
  });
  expect((await session.until("activity.settled")).data).toMatchObject({ outcome: "failed" });
  await sessions.decideSetup(session.id, "skip", by);
  await session.prompt("all the same");
  (await model.nextRequest()).answer(callsTool("shell", { command: "echo here" }));
  (await model.nextRequest()).answer(says("done"));
  expect((await session.until("activity.settled", 2)).data).toMatchObject({ outcome: "done" });
});
