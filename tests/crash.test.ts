import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@corral/client";
import { callsTool, says } from "@corral/daemon/testing";
import { newId, type SessionId, type WireEvent } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

const slowCommand = "echo a >> c; sleep 3; echo b >> c; echo finished";

describe("kill -9", () => {
  test("of the daemon while a command runs: the session finishes by itself with the true output, each line once", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const session = await prompted(stage, "write slowly");
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: slowCommand }));
    await commandRuns(stage, session);

    await daemon.kill();
    await stage.serve();

    const next = await stage.model.nextRequest();
    expect(JSON.stringify(next.toolResults)).toContain("finished");
    next.answer(says("done"));
    const events = await eventsUntil(stage.client(), "activity.settled", { session });
    expect(workspaceFile(stage, session, "c")).toBe("a\nb\n");
    expect(events.filter((each) => each.type === "call.started")).toHaveLength(1);
    expect(events.filter((each) => each.type === "call.settled").map((each) => each.data)).toMatchObject([
      { result: { exitCode: 0, stdout: "finished\n", stderr: "" } },
    ]);
  });

  test("of the runner while a command runs: another runner joins the command and finishes", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const session = await prompted(stage, "write slowly");
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: slowCommand }));
    await commandRuns(stage, session);

    for (const runner of daemon.runners()) process.kill(runner, "SIGKILL");

    const next = await stage.model.nextRequest();
    expect(JSON.stringify(next.toolResults)).toContain("finished");
    next.answer(says("done"));
    await eventsUntil(stage.client(), "activity.settled", { session });
    expect(workspaceFile(stage, session, "c")).toBe("a\nb\n");
  });

  test("of the daemon in mid-stream: the model is asked again, once, as a second attempt", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const run = stage.corral("run", "talk");
    const reply = (await stage.model.nextRequest()).stream();
    reply.text("Once upon ");
    await run.shows("Once upon ");

    await daemon.kill();
    await stage.serve();

    const again = await stage.model.nextRequest();
    expect(again.newInputs).toEqual(["talk"]);
    again.answer(says("Once upon a time."));
    expect(await run.exit).toBe(0);
    expect(run.stdout()).toContain("Once upon a time.");
    const events = await eventsUntil(stage.client(), "activity.settled");
    expect(events.filter((each) => each.type === "turn.dispatched").map((each) => each.data)).toMatchObject([
      { attempt: 1 },
      { attempt: 2 },
    ]);
    const said = events.filter((each) => each.type === "turn.said").map(({ data }) => data as { cut?: boolean });
    expect(said).toMatchObject([{ text: "Once upon ", cut: true }, { text: "Once upon a time." }]);
    expect(said[1]?.cut).toBeUndefined();
  });

  test("of daemon after daemon: an input accepted just before is never lost", async () => {
    await using stage = await setStage();
    let daemon = await stage.serve();
    const session = await prompted(stage, "first words\n[[say: heard]]");
    await daemon.kill();
    daemon = await stage.serve();
    await daemon.kill();
    await stage.serve();
    const client = stage.client();
    const events = await eventsUntil(client, "activity.settled", { session });
    expect(events.filter((each) => each.type === "input.promoted")).toHaveLength(1);
    expect(events.findLast((each) => each.type === "turn.said")?.data).toMatchObject({ text: "heard" });
  });

  test("of the jail while a command runs and nobody watches: the call is unknown, and a person decides", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const session = await prompted(stage, "go");
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: "echo a >> c; sleep 1000" }));
    await commandRuns(stage, session);
    const opened = (await eventsUntil(stage.client(), "environment.opened", { session })).at(-1) as WireEvent;
    const { pid } = (opened.data as { state: { supervisor: { pid: number } } }).state.supervisor;
    await daemon.kill();
    process.kill(pid, "SIGKILL");
    await stage.serve();
    const client = stage.client();
    const waiting = await eventsUntil(client, "activity.waiting", { session });
    const call = waiting.find((each) => each.type === "call.unknown")?.data as { id: `cal_${string}` };
    expect((await client.sessions.get(session)).state).toMatchObject({ state: "waiting", on: "recovery" });
    await client.sessions.recover(session, { call: call.id, decision: "abandon" });
    const next = await stage.model.nextRequest();
    expect(JSON.stringify(next.toolResults)).toContain("chose not to run it again");
    next.answer(says("fine"));
    await eventsUntil(client, "activity.settled", { session });
    expect(workspaceFile(stage, session, "c")).toBe("a\n");
  });
});

async function prompted(stage: Stage, text: string): Promise<SessionId> {
  const client: Client = stage.client();
  const project = await client.projects.register({ path: stage.repository });
  const session = await client.sessions.create({ projectId: project.id });
  await client.sessions.admit(session.id, { id: newId("input"), text });
  return session.id;
}

/** The command has begun: its first line is in the file. */
async function commandRuns(stage: Stage, session: SessionId): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (workspaceFile(stage, session, "c") !== "a\n") {
    if (Date.now() > deadline) throw new Error("the command did not begin");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function workspaceFile(stage: Stage, session: SessionId, name: string): string | undefined {
  try {
    return readFileSync(join(stage.home, "workspaces", session, name), "utf8");
  } catch {
    return undefined;
  }
}
