import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client, QuestionView } from "@corral/client";
import { callsTool, says } from "@corral/daemon/testing";
import { newId, type SessionId } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { checkHistory } from "./history-checker.ts";
import { eventsUntil, everything, setStage, type Stage } from "./story.ts";

const mark = "echo x >> mark-one";

/** A session in which every command that may change something is asked. */
async function prompted(stage: Stage): Promise<SessionId> {
  const client = stage.client();
  const project = await client.projects.register({ path: stage.repository });
  const session = await client.sessions.create({ projectId: project.id, mode: "ask" });
  await client.sessions.admit(session.id, { id: newId("input"), text: "go" });
  return session.id;
}

async function question(client: Client, session: SessionId): Promise<QuestionView> {
  await eventsUntil(client, "question.asked", { session });
  const [open] = await client.questions.list({ session });
  return open!;
}

const marks = (stage: Stage, session: SessionId) =>
  readFileSync(join(stage.home, "workspaces", session, "mark-one"), "utf8");

/** Ends the story, and finds the whole of it sound. */
async function conclude(stage: Stage, session: SessionId): Promise<void> {
  const next = await stage.model.nextRequest();
  next.answer(says("done"));
  await eventsUntil(stage.client(), "activity.settled", { session });
  const events = await everything(stage.client());
  const workspaceOf = (id: string) => join(stage.home, "workspaces", id);
  expect(checkHistory({ events, acknowledged: [], workspaceOf })).toEqual([]);
  expect(events.filter((each) => each.type === "question.asked")).toHaveLength(1);
  expect(events.filter((each) => each.type === "question.answered")).toHaveLength(1);
}

describe("a question", () => {
  test("stays answerable when the daemon is killed, and its answer is used once", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const session = await prompted(stage);
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: mark }));
    const asked = await question(stage.client(), session);
    expect(asked.about).toMatchObject({ kind: "approval", arguments: { command: mark } });
    await daemon.kill();
    await stage.serve();
    const client = stage.client();
    expect((await client.questions.list()).map(({ id }) => id)).toEqual([asked.id]);
    await client.questions.answer(asked.id, { id: newId("answer"), choice: "once" });
    await conclude(stage, session);
    expect(marks(stage, session)).toBe("x\n");
  });

  // The daemon dies around the moments in which something of a question becomes durable; the answer is sent until it is taken.
  // Not before the session waits: one that is answered sooner goes on without having waited, and nobody dies of that.
  test.each([
    "office.appended.question.asked",
    "office.appended.activity.waiting",
    "question.answering",
    "question.answered",
    "office.appended.activity.resumed",
  ])("whose daemon dies at %s is asked once, answered once, and its call runs once", async (point) => {
    await using stage = await setStage();
    const daemon = await stage.serve({ fault: `${point}:1` });
    const session = await prompted(stage);
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: mark }));
    const answer = { id: newId("answer"), choice: "once" };
    const died = daemon.gone.then(() => stage.serve());
    const answering = (async () => {
      for (;;) {
        try {
          const client = stage.client();
          const { events } = await client.events({ types: ["activity.waiting", "question.answered"] });
          const [open] = await client.questions.list();
          if (events.some(({ type }) => type === "question.answered")) return;
          if (open !== undefined && events.length > 0) await client.questions.answer(open.id, answer);
        } catch {
          // The daemon is away.
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await died;
    await answering;
    await conclude(stage, session);
    expect(marks(stage, session)).toBe("x\n");
  });
});

test('"always" is kept when the daemon dies with the answer, once', async () => {
  await using stage = await setStage();
  const daemon = await stage.serve({ fault: "question.answered:1" });
  const session = await prompted(stage);
  (await stage.model.nextRequest()).answer(callsTool("shell", { command: "touch made" }));
  const asked = await question(stage.client(), session);
  await stage
    .client()
    .questions.answer(asked.id, { id: newId("answer"), choice: "project" })
    .catch(() => undefined);
  await daemon.gone;
  const listed = async () => (await stage.client().rules.kept({})).map(({ match }) => match);
  const again = await stage.serve();
  expect(await listed()).toEqual([{ tool: "shell", command: "touch *" }]);
  await again.kill();
  await stage.serve();
  expect(await listed()).toEqual([{ tool: "shell", command: "touch *" }]);
});

test('"always" for an agent counts in its next sessions and not in those of others, until it is taken back', async () => {
  await using stage = await setStage();
  await stage.serve();
  const client = stage.client();
  const begin = async (agent: string) => {
    const line = stage.corral("run", "--agent", agent, "--mode", "ask", "--detach", "go");
    expect(await line.exit).toBe(0);
    await called();
    return line.stdout().trim() as SessionId;
  };
  const command = "touch made";
  const called = async () => (await stage.model.nextRequest()).answer(callsTool("shell", { command }));
  const done = async (session: SessionId) => {
    (await stage.model.nextRequest()).answer(says("done"));
    await eventsUntil(client, "activity.settled", { session });
  };
  const asks = async (agent: string, choice: string) => {
    const session = await begin(agent);
    await client.questions.answer((await question(client, session)).id, { choice });
    await done(session);
  };
  await asks("ada", "agent");
  await done(await begin("ada"));
  await asks("bob", "deny");
  const listed = stage.corral("rules", "list");
  expect(await listed.exit).toBe(0);
  const [, id = ""] = /^(rul_\d+) {2}tool shell, command touch \* {2}\(for the agent ada, by person:owner\)/.exec(
    listed.stdout(),
  )!;
  const forgotten = stage.corral("rules", "forget", id);
  expect([await forgotten.exit, forgotten.stdout()]).toEqual([
    0,
    "asked again from now on: tool shell, command touch *  (for the agent ada, by person:owner)\n",
  ]);
  await asks("ada", "deny");
  const again = stage.corral("rules", "forget", id);
  expect([await again.exit, again.stderr()]).toEqual([
    1,
    expect.stringContaining(`There is no rule ${id} that was kept.`),
  ]);
});
