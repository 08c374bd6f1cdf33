import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { historyOf } from "../log/index.ts";
import { callsTool, says } from "../testing/scripted-model/index.ts";
import { startTestDaemon, type TestDaemon, type TestSession } from "../testing/test-daemon.ts";

const by = { actor: "person:test" };

/** Runs one command and comes to rest; its run and its environment stay ready. */
async function ran(daemon: TestDaemon, session: TestSession): Promise<void> {
  await session.prompt("leave a file");
  (await daemon.model.nextRequest()).answer(callsTool("shell", { command: "echo left > file" }));
  (await daemon.model.nextRequest()).answer(says("done"));
  await session.until("activity.settled");
}

/** What is left of it in the home. */
function leftIn({ home }: TestDaemon): object {
  const names = (folder: string) => (existsSync(join(home, folder)) ? readdirSync(join(home, folder)) : []);
  return {
    workspaces: names("workspaces"),
    environments: names("environments").filter((name) => /^env_\w+$/.test(name)).length,
  };
}

/** Of a session that has worked, in the folder of workspaces. */
const filesOf = (session: string) => [session, `${session}.index`, `${session}.json`, `${session}.kept`];

test("an erased session leaves neither words, nor processes, nor files, and nothing starts it again", async () => {
  await using daemon = await startTestDaemon();
  const { session, log, removal } = daemon;
  const other = await daemon.another();
  await ran(daemon, session);
  expect(leftIn(daemon)).toEqual({
    workspaces: filesOf(session.id),
    environments: 1,
  });
  const { length } = await session.events();

  await removal.erase(session.id, by);

  const events = await historyOf(log, session.id);
  expect(new Set(events.slice(0, length).map(({ type, data }) => `${type} ${JSON.stringify(data)}`))).toEqual(
    new Set(["erased {}"]),
  );
  expect(events.at(-1)).toMatchObject({ type: "stream.erased", actor: "person:test" });
  expect(await log.rows("environments")).toEqual([]);
  expect(leftIn(daemon)).toEqual({ workspaces: [], environments: 0 });
  expect((await daemon.sessions.list()).map(({ id }) => id)).toEqual([other.id]);
  await expect(session.prompt("are you there?")).rejects.toMatchObject({ code: "not-found" });
  await ran(daemon, other);
  expect(daemon.defects).toEqual([]);
  await removal.erase(session.id, by);
});

test("processes end before the record of a session does, and its files go after it", async () => {
  await using daemon = await startTestDaemon();
  const { session: erased, log, removal } = daemon;
  const expired = await daemon.another();
  const left: Record<string, object> = {};
  log.onCommit((events) => {
    for (const { type } of events)
      if (type === "stream.erased" || type === "session.expired") left[type] = leftIn(daemon);
  });
  await ran(daemon, erased);
  await removal.erase(erased.id, by);
  await ran(daemon, expired);
  await removal.expire(expired.id);
  expect(left).toEqual({
    "stream.erased": { workspaces: filesOf(erased.id), environments: 0 },
    "session.expired": { workspaces: filesOf(expired.id), environments: 0 },
  });
});

test("a session in the middle of an activity is not erased, nor one that waits for a person", async () => {
  await using daemon = await startTestDaemon({ wish: { turnLimit: 1 } });
  const { session, removal } = daemon;
  await session.prompt("go on and on");
  const request = await daemon.model.nextRequest();
  const refusal = { code: "session.busy", hint: expect.stringContaining("interrupt") };
  await expect(removal.erase(session.id, by)).rejects.toMatchObject(refusal);
  request.answer(callsTool("shell", { command: "true" }));
  await session.until("activity.waiting");
  await expect(removal.erase(session.id, by)).rejects.toMatchObject(refusal);
  await expect(removal.erase("ses_unknown", by)).rejects.toMatchObject({ code: "not-found" });
});

test("an expired session is no more, with its inputs and files; one with something to do stays", async () => {
  await using daemon = await startTestDaemon();
  const { session, log, removal } = daemon;
  const busy = await daemon.another();
  await ran(daemon, session);
  await busy.prompt("wait");
  await daemon.model.nextRequest();

  expect([await removal.expire(session.id), await removal.expire(busy.id)]).toEqual(["expired", "in-use"]);

  expect((await daemon.sessions.list()).map(({ id }) => id)).toEqual([busy.id]);
  const left = await log.counts("inputs", { where: { session: session.id, state: "promoted" }, by: "delivery" });
  expect(left).toEqual(new Map());
  expect(await log.rows("removed_sessions")).toMatchObject([{ key: session.id, how: "expired" }]);
  expect(leftIn(daemon)).not.toMatchObject({ workspaces: expect.arrayContaining([session.id]) });
  await expect(session.prompt("are you there?")).rejects.toMatchObject({ code: "not-found" });
  expect(daemon.defects).toEqual([]);
});

test("files of a removed session that a crash left behind are swept, and no others", async () => {
  await using daemon = await startTestDaemon();
  const { session, log, removal } = daemon;
  const other = await daemon.another();
  await ran(daemon, session);
  await ran(daemon, other);
  await daemon.stop();
  await log.erase(session.id, by);
  await removal.sweep();
  expect(leftIn(daemon)).toMatchObject({ workspaces: filesOf(other.id) });
});
