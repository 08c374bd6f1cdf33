import { chownSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isAlive } from "../environments/index.ts";
import { jailOwner } from "../environments/jail/index.ts";
import { callsTool, says, startTestDaemon } from "../testing/index.ts";

const shell = (command: string) => callsTool("shell", { command });

describe("a session", () => {
  test("asks the model, runs its commands in the jail and settles", async () => {
    await using daemon = await startTestDaemon();
    const { session, model } = daemon;
    model.script([shell("cat README.md; echo more > made; pwd"), says("all done")]);
    await session.prompt("look around");
    await session.until("activity.settled");
    const events = await session.events();
    // The first command waits for its environment while the reply goes on, so the reply's end has no fixed place.
    const unordered = /^(workspace|environment)|turn.replied/;
    expect(events.map((each) => each.type).filter((type) => !unordered.test(type))).toEqual([
      "session.created",
      "input.admitted",
      "activity.opened",
      "input.promoted",
      "context.set",
      "tools.offered",
      "turn.prepared",
      "turn.dispatched",
      "call.requested",
      "call.started",
      "call.settled",
      "turn.settled",
      "turn.prepared",
      "turn.dispatched",
      "turn.said",
      "turn.settled",
      "activity.settled",
    ]);
    expect((await session.until("call.settled")).data.result).toMatchObject({
      exitCode: 0,
      stdout: "hello\n/workspace\n",
    });
  });

  test("has what reads files begin when its environment is open, before anything is read", async () => {
    await using daemon = await startTestDaemon();
    const { session, model } = daemon;
    const look = "grep -qs perl /proc/[0-9]*/comm && echo there && break";
    model.script([shell(`for n in $(seq 600); do ${look}; sleep 0.05; done`), says("done")]);
    await session.prompt("look");
    expect((await session.until("call.settled")).data.result).toMatchObject({ exitCode: 0, stdout: "there\n" });
  });

  test("a steer joins the next turn of a busy session", async () => {
    await using daemon = await startTestDaemon();
    const { session, model } = daemon;
    await session.prompt("list files");
    const first = await model.nextRequest();
    await session.prompt("only tests");
    first.answer(shell("ls"));
    const second = await model.nextRequest();
    expect(second.newInputs).toEqual(["only tests"]);
    second.answer(says("done"));
    await session.until("activity.settled");
    expect((await session.events()).filter((each) => each.type === "activity.opened")).toHaveLength(1);
  });

  test("queued inputs open activities of their own, one after the other", async () => {
    await using daemon = await startTestDaemon();
    const { session, model } = daemon;
    await session.prompt("first", { delivery: "queue" });
    const first = await model.nextRequest();
    await session.prompt("second", { delivery: "queue" });
    first.answer(says("one"));
    const second = await model.nextRequest();
    expect(second.newInputs).toEqual(["second"]);
    second.answer(says("two"));
    await session.until("activity.settled", 2);
  });

  test("all that comes of an input is of its trace, until another one joins", async () => {
    await using daemon = await startTestDaemon();
    const { session, model } = daemon;
    const [first, second] = ["a".repeat(32), "b".repeat(32)];
    model.script([shell("echo hi"), says("one"), says("two")]);
    await session.prompt("go", {}, first);
    const { seq } = await session.until("activity.settled");
    await session.prompt("on", {}, second);
    await session.until("activity.settled", 2);
    const [created, ...caused] = await session.events();
    expect(created?.traceId).toBeUndefined();
    expect(caused.map((each) => each.type)).toContain("call.settled");
    expect(caused.map((each) => each.traceId)).toEqual(caused.map((each) => (each.seq <= seq ? first : second)));
  });

  test("whose environment ends by itself goes on in another, and nothing is left of the first", async () => {
    await using daemon = await startTestDaemon();
    const { session, model, home } = daemon;
    model.script([shell("mkdir /run/corral/$_corral_id.rc; sleep 1000"), shell("echo on"), says("done")]);
    await session.prompt("break it");
    await session.until("activity.settled");
    expect((await session.until("call.failed")).data.error.code).toBe("environment.gone");
    expect((await session.until("call.settled")).data.result).toMatchObject({ stdout: "on\n" });
    const opened = (await session.events()).flatMap((each) =>
      each.type === "environment.opened" ? [each.data.state.id] : [],
    );
    expect(opened).toHaveLength(2);
    const left = readdirSync(join(home, "environments")).filter((name) => !/^\.(made-|stubs$)/.test(name));
    expect(left).toEqual(opened.slice(1));
  });

  test("an interrupt ends the running command, keeps what it said, and parks nothing else", async () => {
    await using daemon = await startTestDaemon();
    const { session, sessions, model } = daemon;
    model.script([shell("echo before; sleep 1000")]);
    await session.prompt("wait");
    await session.outputs("before");
    await sessions.interrupt(session.id, { actor: "person:test" });
    const settled = await session.until("activity.settled");
    expect(settled.data.outcome).toBe("interrupted");
    const ended = await session.until("call.interrupted");
    expect(ended.data.result).toMatchObject({ exitCode: 143, stdout: "before\n" });
    model.script([says("back")]);
    await session.prompt("hello again");
    expect((await session.until("activity.settled", 2)).data.outcome).toBe("done");
  });

  test("what is said right after an interrupt opens an activity of its own", async () => {
    await using daemon = await startTestDaemon();
    const { session, sessions, model } = daemon;
    model.script([shell("sleep 1000")]);
    await session.prompt("wait");
    await session.until("call.started");
    await sessions.interrupt(session.id, { actor: "person:test" });
    await session.prompt("do this instead");
    const request = await model.nextRequest();
    expect(request.newInputs.at(-1)).toBe("do this instead");
    request.answer(says("done"));
    expect((await session.until("activity.settled", 2)).data.outcome).toBe("done");
    expect((await session.until("activity.settled", 1)).data.outcome).toBe("interrupted");
  });

  test("an interrupt parks the queue until a person has spoken", async () => {
    await using daemon = await startTestDaemon();
    const { session, sessions, model } = daemon;
    await session.prompt("first");
    const first = await model.nextRequest();
    await session.prompt("later", { delivery: "queue" });
    await sessions.interrupt(session.id, { actor: "person:test" });
    await session.until("activity.settled");
    await first.closed;
    await session.prompt("instead");
    const second = await model.nextRequest();
    expect(second.newInputs.at(-1)).toBe("instead");
    second.answer(says("done"));
    const third = await model.nextRequest();
    expect(third.newInputs).toEqual(["later"]);
    third.answer(says("done"));
    await session.until("activity.settled", 3);
  });

  test("a call starts in an environment that is already on record, also after the last one was killed", async () => {
    await using daemon = await startTestDaemon();
    const { session, model } = daemon;
    model.script([shell("echo one"), says("done"), shell("echo two"), says("done")]);
    await session.prompt("first");
    const opened = await session.until("environment.opened");
    await session.until("activity.settled");
    const { pid } = opened.data.state.supervisor;
    process.kill(pid, "SIGKILL");
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    await session.prompt("second");
    await session.until("activity.settled", 2);
    const order = (await session.events()).map((each) => each.type);
    const secondStart = order.lastIndexOf("call.started");
    expect(order.lastIndexOf("environment.closed")).toBeLessThan(secondStart);
    expect(order.lastIndexOf("environment.opened")).toBeLessThan(secondStart);
    expect((await session.until("call.settled", 2)).data.result).toMatchObject({
      stdout: "two\n",
      shellRespawned: true,
    });
    expect(JSON.stringify(model.requests.at(-1)?.toolResults)).toContain("started anew");
  });

  test("in place, a call after the user saved what is protected is in a jail that protects it, and is told so", async () => {
    await using daemon = await startTestDaemon({ wish: { workspace: "in-place" }, files: { ".envrc": "first\n" } });
    const { session, model, repository } = daemon;
    const { uid, gid } = jailOwner() ?? { uid: process.getuid!(), gid: process.getgid!() };
    chownSync(repository, uid, gid);
    const attack = "echo evil >>.envrc; cat .envrc; pwd";
    model.script([shell("cd /tmp"), says("done"), shell(attack), says("done")]);
    await session.prompt("first");
    await session.until("activity.settled");
    const saved = join(repository, ".envrc");
    writeFileSync(`${saved}~`, "saved\n");
    chownSync(`${saved}~`, uid, gid);
    renameSync(`${saved}~`, saved);
    await session.prompt("second");
    await session.until("activity.settled", 2);
    expect((await session.until("environment.closed")).data).toMatchObject({
      reason: expect.stringContaining(".envrc was replaced or taken away outside") as string,
      breach: true,
    });
    expect((await session.until("call.settled", 2)).data.result).toMatchObject({
      stdout: "saved\n/workspace\n",
      shellRespawned: true,
    });
    expect(JSON.stringify(model.requests.at(-1)?.toolResults)).toContain("started anew");
  });

  test("a workspace that cannot be prepared fails the activity with what to do about it", async () => {
    await using daemon = await startTestDaemon();
    const { session, model, repository } = daemon;
    rmSync(repository, { recursive: true });
    model.script([shell("echo one"), says("never asked")]);
    await session.prompt("go");
    const settled = await session.until("activity.settled");
    expect(settled.data).toMatchObject({ outcome: "failed", error: { code: "project.missing" } });
    expect(model.requests).toHaveLength(1);
  });

  test("goes on by itself, without asking the model again, when there are descriptors for its environment again", async () => {
    let isShort = true;
    const limit = () => Object.assign(new Error("open EMFILE"), { code: "EMFILE" });
    await using daemon = await startTestDaemon({
      mayOpen: () => (isShort ? Promise.reject(limit()) : Promise.resolve()),
    });
    const { session, model } = daemon;
    model.script([shell("echo one"), says("done")]);
    await session.prompt("go");
    await expect
      .poll(() => daemon.shortage())
      .toMatchObject({ sessions: 1, message: expect.stringContaining("ulimit -n") });
    isShort = false;
    expect((await session.until("activity.settled")).data).toMatchObject({ outcome: "done" });
    const types = (await session.events()).map(({ type }) => type);
    const ofCall = types.filter((type) => /^call|^turn.dispatched|^activity/.test(type));
    expect(ofCall).toEqual([
      ...["activity.opened", "turn.dispatched", "call.requested", "call.started", "call.settled"],
      ...["turn.dispatched", "activity.settled"],
    ]);
    expect(daemon.shortage()).toBeUndefined();
  });

  test.each(["text", "thinking"] as const)(
    "an interrupt in the middle of a reply's %s keeps what came",
    async (what) => {
      await using daemon = await startTestDaemon();
      const { session, sessions, model } = daemon;
      await session.prompt("talk");
      const reply = (await model.nextRequest()).stream();
      const heard = session.outputs("half a sen");
      reply[what]("half a sen");
      await heard;
      await sessions.interrupt(session.id, { actor: "person:test" });
      await session.until("activity.settled");
      const said = (await session.events()).flatMap((each) => (each.type === "turn.said" ? [each.data] : []));
      const kind = what === "text" ? "text" : "reasoning";
      expect(said).toMatchObject([{ kind, text: "half a sen", cut: true }]);
    },
  );

  test("a failed request is asked again, as a counted attempt", async () => {
    await using daemon = await startTestDaemon();
    const { session, model } = daemon;
    await session.prompt("hi");
    (await model.nextRequest()).fail(529);
    (await model.nextRequest()).answer(says("hello"));
    expect((await session.until("activity.settled")).data.outcome).toBe("done");
    expect((await session.until("turn.dispatched", 2)).data.attempt).toBe(2);
  });

  test("an exhausted budget of attempts ends the activity as failed, and the session goes on", async () => {
    await using daemon = await startTestDaemon({ attempts: 2 });
    const { session, model } = daemon;
    await session.prompt("hi");
    (await model.nextRequest()).fail(500);
    (await model.nextRequest()).fail(500);
    const settled = await session.until("activity.settled");
    expect(settled.data).toMatchObject({ outcome: "failed", error: { code: "provider.unavailable" } });
    await session.prompt("again");
    (await model.nextRequest()).answer(says("hello"));
    expect((await session.until("activity.settled", 2)).data.outcome).toBe("done");
  });

  test("a reply cut after a complete call is not asked for again: the call's result enters the next request", async () => {
    await using daemon = await startTestDaemon();
    const { session, model } = daemon;
    await session.prompt("go");
    const reply = (await model.nextRequest()).stream();
    reply.call("shell", { command: "echo once >> counter; cat counter" });
    await session.until("call.settled");
    reply.cut();
    const second = await model.nextRequest();
    expect(JSON.stringify(second.toolResults)).toContain("once");
    second.answer(says("done"));
    await session.until("activity.settled");
    expect((await session.events()).filter((each) => each.type === "call.requested")).toHaveLength(1);
  });

  test("malformed arguments go back to the model while a valid sibling runs", async () => {
    await using daemon = await startTestDaemon();
    const { session, model } = daemon;
    await session.prompt("go");
    const reply = (await model.nextRequest()).stream();
    reply.call("shell", { cmd: "wrong name" });
    reply.call("shell", { command: "echo fine" });
    reply.finish();
    const second = await model.nextRequest();
    expect(JSON.stringify(second.toolResults)).toContain("do not fit the tool");
    expect(JSON.stringify(second.toolResults)).toContain("fine");
    second.answer(says("done"));
    await session.until("activity.settled");
  });

  test("the turn limit makes the activity wait, and a word from a person carries it on", async () => {
    await using daemon = await startTestDaemon({ wish: { turnLimit: 2 } });
    const { session, sessions, model } = daemon;
    model.script([shell("echo 1"), shell("echo 2"), says("finished")]);
    await session.prompt("count");
    expect((await session.until("activity.waiting")).data.on).toBe("continue");
    expect((await sessions.get(session.id))?.state).toMatchObject({ state: "waiting", on: "continue" });
    await session.prompt("go on");
    expect((await session.until("activity.settled")).data.outcome).toBe("done");
  });

  test("sessions run side by side", async () => {
    await using daemon = await startTestDaemon();
    const other = await daemon.another();
    await daemon.session.prompt("one");
    const held = await daemon.model.nextRequest();
    await other.prompt("two");
    (await daemon.model.nextRequest()).answer(says("two is done"));
    await other.until("activity.settled");
    held.answer(says("one is done"));
    await daemon.session.until("activity.settled");
  });

  test("leaves no process behind when the daemon stops", async () => {
    await using daemon = await startTestDaemon();
    const { session, model } = daemon;
    model.script([shell("sleep 1000 & echo started"), says("done")]);
    await session.prompt("go");
    const opened = await session.until("environment.opened");
    await session.until("activity.settled");
    await daemon.stop();
    expect(await session.until("environment.closed")).toBeDefined();
    expect(isAlive(opened.data.state.supervisor)).toBe(false);
  });
});
