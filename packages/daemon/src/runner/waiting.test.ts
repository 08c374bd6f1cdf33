import { describe, expect, test } from "vitest";
import { callsTool, says, startTestDaemon, type TestDaemon, type TestSession } from "../testing/index.ts";

const by = { actor: "person:test" };

/** The state as it is, without its time. */
async function stateOf({ sessions }: TestDaemon, { id }: TestSession) {
  const { since: _, ...state } = (await sessions.get(id))!.state;
  return state;
}

const inLine = (position: number, most = 1) => ({
  state: "waiting",
  on: "place",
  limit: "sessions.atOnce",
  most,
  position,
});

const typesOf = async (session: TestSession) => (await session.events()).map(({ type }) => type);

describe("a session for which there is no place", () => {
  test("waits in line where everybody can see it, and begins when another is done", async () => {
    await using daemon = await startTestDaemon({ limits: { "sessions.atOnce": 1 } });
    const { session: first, model } = daemon;
    const [second, third] = [await daemon.another(), await daemon.another()];
    await first.prompt("one");
    const request = await model.nextRequest();
    await second.prompt("two");
    await second.until("place.awaited");
    await third.prompt("three");
    await third.until("place.awaited");
    expect(await stateOf(daemon, second)).toEqual(inLine(1));
    expect(await stateOf(daemon, third)).toEqual(inLine(2));
    expect((await daemon.sessions.list()).map(({ state }) => state.state)).toEqual(["thinking", "waiting", "waiting"]);
    request.answer(says("done"));
    const next = await model.nextRequest();
    expect(next.newInputs).toEqual(["two"]);
    expect(await stateOf(daemon, third)).toEqual(inLine(1));
    next.answer(says("done"));
    const last = await model.nextRequest();
    expect(last.newInputs).toEqual(["three"]);
    last.answer(says("done"));
    await third.until("activity.settled");
    expect(await typesOf(third)).toEqual(
      expect.arrayContaining(["input.admitted", "place.awaited", "place.given", "activity.opened"]),
    );
    expect(await stateOf(daemon, third)).toEqual({ state: "idle" });
    expect(daemon.defects).toEqual([]);
  });

  test("leaves no trace of places in one that had its at once", async () => {
    await using daemon = await startTestDaemon({ limits: { "sessions.atOnce": 1 } });
    daemon.model.script([says("done")]);
    await daemon.session.prompt("one");
    await daemon.session.until("activity.settled");
    expect((await typesOf(daemon.session)).filter((type) => type.startsWith("place."))).toEqual([]);
  });

  test("takes turns with one whose queue is never empty", async () => {
    await using daemon = await startTestDaemon({ limits: { "sessions.atOnce": 1 } });
    const { session: busy, model } = daemon;
    const other = await daemon.another();
    for (const text of ["one", "two", "three"]) await busy.prompt(text, { delivery: "queue" });
    const order: string[] = [];
    const first = await model.nextRequest();
    await other.prompt("mine");
    await other.until("place.awaited");
    for (let request = first; ; request = await model.nextRequest()) {
      order.push(...request.newInputs);
      request.answer(says("done"));
      if (order.length === 4) break;
    }
    expect(order).toEqual(["one", "mine", "two", "three"]);
  });

  test("begins at once when the limit is raised", async () => {
    const limits = { "sessions.atOnce": 1 };
    await using daemon = await startTestDaemon({ limits });
    const second = await daemon.another();
    await daemon.session.prompt("one");
    await daemon.model.nextRequest();
    await second.prompt("two");
    await second.until("place.awaited");
    limits["sessions.atOnce"] = 2;
    daemon.look();
    expect((await daemon.model.nextRequest()).newInputs).toEqual(["two"]);
  });

  test("leaves the line when its input is cancelled, and what was there is not asked", async () => {
    await using daemon = await startTestDaemon({ limits: { "sessions.atOnce": 1 } });
    const { session: first, model } = daemon;
    const [second, third] = [await daemon.another(), await daemon.another()];
    await first.prompt("one");
    const request = await model.nextRequest();
    await second.prompt("two", { id: "inp_two" });
    await second.until("place.awaited");
    await third.prompt("three");
    await third.until("place.awaited");
    await daemon.sessions.change(second.id, "inp_two", { change: "cancel" }, by);
    await second.until("place.left");
    expect(await stateOf(daemon, second)).toEqual({ state: "idle" });
    expect(await stateOf(daemon, third)).toEqual(inLine(1));
    request.answer(says("done"));
    expect((await model.nextRequest()).newInputs).toEqual(["three"]);
  });

  test("can be edited until it begins", async () => {
    await using daemon = await startTestDaemon({ limits: { "sessions.atOnce": 1 } });
    const second = await daemon.another();
    await daemon.session.prompt("one");
    const request = await daemon.model.nextRequest();
    await second.prompt("two", { id: "inp_two" });
    await second.until("place.awaited");
    await daemon.sessions.change(second.id, "inp_two", { change: "edit", text: "deux" }, by);
    request.answer(says("done"));
    expect((await daemon.model.nextRequest()).newInputs).toEqual(["deux"]);
  });

  test.each(["interrupt", "park"] as const)(
    "is parked by %s with its words kept, and resumed by a person",
    async (how) => {
      await using daemon = await startTestDaemon({ limits: { "sessions.atOnce": 1 } });
      const second = await daemon.another();
      await daemon.session.prompt("one");
      const request = await daemon.model.nextRequest();
      await second.prompt("two", { delivery: how === "park" ? "queue" : "steer" });
      await second.until("place.awaited");
      const answer = await (how === "park"
        ? daemon.sessions.decideQueue(second.id, "park", by)
        : daemon.sessions.interrupt(second.id, by));
      expect(answer).toEqual({ kind: "parked" });
      await second.until("place.left");
      expect(await stateOf(daemon, second)).toEqual({ state: "parked", inputs: 1 });
      request.answer(says("done"));
      await daemon.session.until("activity.settled");
      await daemon.sessions.decideQueue(second.id, "resume", by);
      expect((await daemon.model.nextRequest()).newInputs).toEqual(["two"]);
    },
  );

  test("goes to the line's end when a person lets it go on, and an interrupt ends it without a place", async () => {
    await using daemon = await startTestDaemon({ limits: { "sessions.atOnce": 1 }, wish: { turnLimit: 1 } });
    const { session: first, model } = daemon;
    const second = await daemon.another();
    model.script([callsTool("shell", { command: "true" })]);
    await first.prompt("one");
    await first.until("activity.waiting");
    // Waiting for a person takes no place.
    await second.prompt("two");
    const request = await model.nextRequest();
    expect(request.newInputs).toEqual(["two"]);
    await daemon.sessions.continue(first.id, by);
    await first.until("place.awaited");
    expect(await stateOf(daemon, first)).toEqual(inLine(1));
    expect(await daemon.sessions.interrupt(first.id, by, "boundary")).toEqual({ kind: "requested" });
    expect((await first.until("activity.settled")).data).toMatchObject({ outcome: "interrupted" });
    expect(await stateOf(daemon, first)).toEqual({ state: "idle" });
    request.answer(says("done"));
    await second.until("activity.settled");
    await first.prompt("again");
    expect((await model.nextRequest()).newInputs).toEqual(["again"]);
  });

  test("stays in line with what a person has answered, whatever becomes of its queue", async () => {
    await using daemon = await startTestDaemon({ limits: { "sessions.atOnce": 1 }, waitingMs: 0 });
    const { session: first, model, questions, sessions } = daemon;
    const second = await daemon.another();
    await first.prompt("one");
    (await model.nextRequest()).answer(callsTool("ask", { question: "Which?" }));
    await first.until("activity.waiting");
    const [question] = await questions.list({ session: first.id });
    await second.prompt("two");
    const request = await model.nextRequest();
    await questions.answer(question!.id, { text: "this one" }, by);
    await first.until("place.awaited");
    await first.prompt("later", { id: "inp_later", delivery: "queue" });
    await sessions.change(first.id, "inp_later", { change: "cancel" }, by);
    await sessions.decideQueue(first.id, "park", by);
    expect(await stateOf(daemon, first)).toEqual(inLine(1));
    request.answer(says("done"));
    const next = await model.nextRequest();
    expect(JSON.stringify(next.toolResults)).toContain("this one");
    next.answer(says("done"));
    expect((await first.until("activity.settled")).data.outcome).toBe("done");
  });

  test("is removed from the line with the session", async () => {
    await using daemon = await startTestDaemon({ limits: { "sessions.atOnce": 1 } });
    const { session: first, model } = daemon;
    const [second, third] = [await daemon.another(), await daemon.another()];
    await first.prompt("one");
    const request = await model.nextRequest();
    await second.prompt("two");
    await second.until("place.awaited");
    await third.prompt("three");
    await third.until("place.awaited");
    await daemon.removal.erase(second.id, by);
    request.answer(says("done"));
    expect((await model.nextRequest()).newInputs).toEqual(["three"]);
    expect(daemon.defects).toEqual([]);
  });
});

describe("an environment at rest", () => {
  test("is closed for a session that waits, and its own session goes on in another with its files", async () => {
    await using daemon = await startTestDaemon({ limits: { "environments.atOnce": 1 } });
    const { session: first, model } = daemon;
    const second = await daemon.another();
    model.script([callsTool("shell", { command: "echo mine > kept" }), says("done")]);
    await first.prompt("one");
    await first.until("activity.settled");
    expect(await typesOf(first)).not.toContain("environment.closed");
    model.script([callsTool("shell", { command: "cat kept || echo none" }), says("done")]);
    await second.prompt("two");
    await second.until("activity.settled");
    expect((await first.until("environment.closed")).data.reason).toBe("another session needed its place");
    expect((await second.until("place.awaited")).data).toEqual({ limit: "environments.atOnce", most: 1, position: 1 });
    model.script([callsTool("shell", { command: "cat kept" }), says("done")]);
    await first.prompt("three");
    const result = (await first.until("call.settled", 2)).data.result;
    expect(result).toMatchObject({ stdout: "mine\n", exitCode: 0 });
    await first.until("activity.settled", 2);
    expect(daemon.defects).toEqual([]);
  });

  test("is not closed while a person is at a terminal in it", async () => {
    await using daemon = await startTestDaemon({ limits: { "environments.atOnce": 1 } });
    const { session: first, model, terminals } = daemon;
    const second = await daemon.another();
    const opened = await terminals.open(first.id, { columns: 80, rows: 24 }, by);
    await second.prompt("two");
    await second.until("place.awaited");
    expect(await typesOf(first)).not.toContain("environment.closed");
    await terminals.close(first.id, opened.id);
    expect((await model.nextRequest()).newInputs).toEqual(["two"]);
    expect(await typesOf(first)).toContain("environment.closed");
  });
});
