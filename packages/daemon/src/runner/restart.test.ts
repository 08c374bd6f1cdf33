import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { event, type NewEvent, noFacts, stateFrom, takeIntoState } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { says, startTestDaemon, type Tool } from "../testing/index.ts";

const [project, id, activity, turn] = ["prj_1", "ses_1", "act_1", "trn_1"] as const;

/** A daemon on the log of one that was killed when this much of a session was recorded. */
async function restarted(
  events: readonly NewEvent[],
  { tools = [], model = "anthropic/scripted" }: { tools?: readonly Tool[]; model?: string } = {},
) {
  const settings = { title: "", model, mode: "auto", workspace: "copy", turnLimit: 25 } as const;
  const environment = { kind: "jail", network: "off" } as const;
  const daemon = await startTestDaemon({
    tools,
    past: (path) => [
      { stream: project, events: [event("project.registered", { id: project, path, name: "repository" })] },
      { stream: id, events: [event("session.created", { projectId: project, environment, ...settings }), ...events] },
    ],
  });
  return Object.assign(daemon, { taken: daemon.known(id) });
}

const admitted = (input: `inp_${string}`, delivery: "steer" | "queue", text: string) =>
  event("input.admitted", { id: input, text, attachments: [], delivery });
const asked = [
  admitted("inp_1", "steer", "first"),
  event("activity.opened", { id: activity }),
  event("input.promoted", { id: "inp_1", activityId: activity }),
  event("turn.prepared", { id: turn, activityId: activity, model: "anthropic/scripted", requestHash: "" }),
  event("turn.dispatched", { id: turn, attempt: 1 }),
];

test("a person's stop is final: what was interrupted is ended by the next daemon and not taken up, and the queue stays parked", async () => {
  await using daemon = await restarted([
    ...asked,
    admitted("inp_2", "queue", "second"),
    event("activity.interrupt-requested", { id: activity }),
  ]);
  const { taken, model } = daemon;
  expect((await taken.until("activity.settled")).data.outcome).toBe("interrupted");
  await taken.prompt("and now this");
  const request = await model.nextRequest();
  expect(request.newInputs).toEqual(["first", "and now this"]);
  request.answer(says("done"));
  const queued = await model.nextRequest();
  expect(queued.newInputs).toEqual(["second"]);
  queued.answer(says("done"));
  await taken.until("activity.settled", 3);
  expect(model.requests).toHaveLength(2);
});

test("what was interrupted is ended as that, also where its model cannot be asked any more", async () => {
  const model = "nobody/knows";
  await using daemon = await restarted(
    [...asked.slice(0, 4), event("activity.interrupt-requested", { id: activity })],
    { model },
  );
  expect((await daemon.taken.until("activity.settled")).data).toEqual({ id: activity, outcome: "interrupted" });
});

test("a budget of attempts counts those that daemons died in: used up, it ends the activity", async () => {
  const attempts = [2, 3, 4, 5].map((attempt) => event("turn.dispatched", { id: turn, attempt }));
  await using daemon = await restarted([...asked, ...attempts]);
  const { taken, model } = daemon;
  expect((await taken.until("activity.settled")).data).toMatchObject({
    outcome: "failed",
    error: { code: "provider.unavailable", message: "The model was asked 5 times without a reply." },
  });
  expect(model.requests).toHaveLength(0);
});

test("a pause that a provider asked for is kept by the next daemon", async () => {
  const error = { code: "provider.unavailable", message: "429" };
  const failed = (againInMs: number) => event("turn.attempt-failed", { id: turn, attempt: 1, error, againInMs });
  await using daemon = await restarted([...asked, failed(600_000)]);
  const { taken, model, sessions } = daemon;
  // Whatever runs beside it shows that it would have asked by now.
  await daemon.session.prompt("something else");
  const request = await model.nextRequest();
  expect(request.newInputs).toEqual(["something else"]);
  request.answer(says("done"));
  await daemon.session.until("activity.settled");
  expect((await taken.events()).filter(({ type }) => type === "turn.dispatched")).toHaveLength(1);
  await sessions.interrupt(id, { actor: "person:test" });
  expect((await taken.until("activity.settled")).data.outcome).toBe("interrupted");
});

test("of calls that nobody can tell the end of, those that only read run again, and a person decides on the others", async () => {
  const ran: string[] = [];
  const tool = (name: string, effect: Tool["effect"]): Tool => ({
    name,
    description: name,
    parameters: z.object({}),
    effect,
    run: () => Promise.resolve(ran.push(name)),
    describe: () => ({ outcome: "ok", text: `${name} was done` }),
  });
  const calls = (["look", "change"] as const).flatMap((name) => [
    event("call.requested", { id: `cal_${name}`, turnId: turn, providerCallId: name, tool: name, arguments: {} }),
    event("call.started", { id: `cal_${name}`, attempt: 1 }),
  ]);
  const tools = [tool("look", "reads"), tool("change", "writes")];
  await using daemon = await restarted([...asked, ...calls], { tools });
  const { taken, model, sessions } = daemon;
  await taken.until("activity.waiting");
  expect(ran).toEqual(["look"]);
  expect((await taken.until("call.unknown")).data.id).toBe("cal_change");
  await sessions.decide(id, { call: "cal_change", decision: "retry" }, { actor: "person:test" });
  const next = await model.nextRequest();
  expect(ran).toEqual(["look", "change"]);
  expect(next.toolResults.map((result) => /(\w+) was done/.exec(JSON.stringify(result))?.[1])).toEqual([
    "look",
    "change",
  ]);
  next.answer(says("done"));
  await taken.until("activity.settled");
  const starts = (await taken.events()).flatMap((each) => (each.type === "call.started" ? [each.data] : []));
  expect(starts.slice(2)).toEqual([
    { id: "cal_look", attempt: 2, reads: true },
    { id: "cal_change", attempt: 2 },
  ]);
});

describe("of two calls that nobody knows the end of", () => {
  const started = ["one", "two"].flatMap((name) => [
    event("call.requested", { id: `cal_${name}`, turnId: turn, providerCallId: name, tool: name, arguments: {} }),
    event("call.started", { id: `cal_${name}`, attempt: 1 }),
  ]);
  const by = { actor: "person:test" };
  const tool = (name: string, run: Tool["run"]): Tool => ({
    name,
    description: name,
    parameters: z.object({}),
    effect: "writes",
    run,
    describe: () => ({ outcome: "ok", text: `${name} was done` }),
  });

  test.each(["retry", "abandon"] as const)(
    "the second is decided on (%s) while the first runs again, each of them once",
    async (decision) => {
      const ran: string[] = [];
      const first = Promise.withResolvers<void>();
      const one = tool("one", () => first.promise.then(() => ran.push("one")));
      const two = tool("two", () => Promise.resolve(ran.push("two")));
      await using daemon = await restarted([...asked, ...started], { tools: [one, two] });
      const { taken, model, sessions } = daemon;
      await taken.until("activity.waiting");
      const decide = (call: `cal_${string}`, what: typeof decision) =>
        sessions.decide(id, { call, decision: what }, by);
      expect(await decide("cal_one", "retry")).toEqual({ kind: "decided" });
      await taken.until("call.started", 3);
      const both = await Promise.all([decide("cal_two", decision), decide("cal_two", decision)]);
      expect(both.map(({ kind }) => kind).toSorted()).toEqual(["decided", "nothing-to-decide"]);
      expect(await decide("cal_one", "abandon")).toEqual({ kind: "nothing-to-decide" });
      if (decision === "retry") await taken.until("call.settled");
      first.resolve();
      (await model.nextRequest()).answer(says("done"));
      expect((await taken.until("activity.settled")).data.outcome).toBe("done");
      expect(ran).toEqual(decision === "retry" ? ["two", "one"] : ["one"]);
      expect((await sessions.get(id))?.state.state).toBe("idle");
    },
  );

  test("none is to be decided on once their activity was interrupted, also when others come", async () => {
    const tools = ["one", "two"].map((name) => tool(name, () => Promise.resolve()));
    await using daemon = await restarted([...asked, ...started], { tools });
    const { taken, sessions, log } = daemon;
    await taken.until("activity.waiting");
    await sessions.interrupt(id, by);
    await taken.until("activity.settled");
    expect(await sessions.decide(id, { call: "cal_one", decision: "retry" }, by)).toEqual({
      kind: "nothing-to-decide",
    });
    await log.append({
      stream: id,
      ...by,
      events: [
        event("activity.opened", { id: "act_2" }),
        event("call.unknown", { id: "cal_three", reason: "lost" }),
        event("activity.waiting", { id: "act_2", on: "recovery" }),
      ],
    });
    expect((await sessions.get(id))?.state).toMatchObject({ state: "waiting", on: "recovery", calls: ["cal_three"] });
    const facts = noFacts("");
    for (const each of await taken.events()) takeIntoState(facts, each);
    expect(stateFrom(facts)).toEqual((await sessions.get(id))?.state);
  });
});

test("calls that change files are found done, gone on with, or left to a person, by what the files hold", async () => {
  const sha = (text: string) => createHash("sha256").update(text).digest("hex");
  const call = (n: number, args: Record<string, unknown>, before: string, after: string) => [
    event("call.requested", { id: `cal_${n}`, turnId: turn, providerCallId: `p${n}`, tool: "edit", arguments: args }),
    event("call.started", {
      id: `cal_${n}`,
      attempt: 1,
      changes: [{ path: "README.md", before: sha(before), after: sha(after) }],
    }),
  ];
  const edit = (old: string, put: string) => ({ path: "README.md", old, new: put });
  await using daemon = await restarted([
    ...asked,
    // The repository's file says hello.
    ...call(1, edit("hey", "hello"), "hey\n", "hello\n"),
    ...call(2, edit("hello", "hello you"), "hello\n", "hello you\n"),
    ...call(3, edit("ho", "hi"), "ho\n", "hi\n"),
  ]);
  const { taken } = daemon;
  await taken.until("activity.waiting");
  const ends = (await taken.events()).flatMap((each) =>
    each.type === "call.settled" || each.type === "call.unknown" ? [[each.data.id, each.type] as const] : [],
  );
  expect(Object.fromEntries(ends)).toEqual({
    cal_1: "call.settled",
    cal_2: "call.settled",
    cal_3: "call.unknown",
  });
  expect(readFileSync(join(daemon.home, "workspaces", id, "README.md"), "utf8")).toBe("hello you\n");
});
