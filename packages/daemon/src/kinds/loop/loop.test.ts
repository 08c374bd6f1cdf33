import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RehearsedTurn } from "@corral/protocol";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ReplyPiece } from "../../providers/index.ts";
import { callsTool, says, startTestDaemon, stops, type TestDaemon } from "../../testing/index.ts";
import type { Tool } from "../../tools/index.ts";

/** A call that ends when a file appears in its workspace. */
const waitsFor = (file: string) => ({ command: `until test -e ${file}; do sleep 0.01; done; echo ${file} is there` });

function put(daemon: TestDaemon, file: string): void {
  const folder = join(daemon.home, "workspaces", daemon.session.id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), "");
}

test("tools start as soon as their call is complete, and all settle before the next request", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  await session.prompt("go");
  const reply = (await model.nextRequest()).stream();
  reply.call("shell", { command: "echo early" });
  await session.until("call.settled");
  reply.call("shell", waitsFor("late"));
  await session.until("call.started", 2);
  reply.finish();
  await session.until("turn.replied");
  expect(model.requests).toHaveLength(1);
  put(daemon, "late");
  const next = await model.nextRequest();
  expect(next.toolResults.map((result) => JSON.stringify(result))).toEqual([
    expect.stringContaining("early"),
    expect.stringContaining("late is there"),
  ]);
  next.answer(says("done"));
  await session.until("activity.settled");
});

test("of many calls in one reply so many run side by side, in order, and an interrupt ends all of them", async () => {
  const running = new Set<string>();
  let most = 0;
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const nap: Tool = {
    name: "nap",
    description: "Waits to be woken.",
    parameters: z.object({ of: z.string() }),
    effect: "reads",
    describe: (result) => ({ outcome: "ok", text: String(result) }),
    async run(given, { signal }) {
      const { of } = given as { of: string };
      began.push(of);
      running.add(of);
      most = Math.max(most, running.size);
      await new Promise<void>((resolve) => {
        ends.set(of, resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      running.delete(of);
      return of;
    },
  };
  await using daemon = await startTestDaemon({ tools: [nap] });
  const { session, model } = daemon;
  const names = Array.from({ length: 30 }, (_, n) => `n${n}`);
  model.script([[...names.map((of) => callsTool("nap", { of })), stops("tool_use")]]);
  await session.prompt("go");
  await session.until("turn.replied");
  await expect.poll(() => began).toEqual(names.slice(0, 8));
  ends.get("n3")!();
  await expect.poll(() => began).toEqual(names.slice(0, 9));
  await daemon.sessions.interrupt(session.id, { actor: "person:test" });
  await session.until("activity.settled");
  expect([most, began.length, running.size]).toEqual([8, 9, 0]);
  const ended = (await session.events()).filter(({ type }) => /^call\.(settled|interrupted)$/.test(type));
  expect(ended.map(({ type }) => type).toSorted()).toEqual([
    ...names.slice(1).map(() => "call.interrupted"),
    "call.settled",
  ]);
});

test("a call that is interrupted on its way to its start never runs, and ends once", async () => {
  const [looking, looked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let runs = 0;
  const late: Tool = {
    name: "late",
    description: "late",
    parameters: z.object({}),
    effect: "writes",
    intend: async () => {
      looking.resolve();
      await looked.promise;
      return [];
    },
    run: () => Promise.resolve((runs += 1)),
    describe: () => ({ outcome: "ok", text: "" }),
  };
  await using daemon = await startTestDaemon({ tools: [late] });
  const { session, model, sessions } = daemon;
  await session.prompt("go");
  (await model.nextRequest()).answer(callsTool("late", {}));
  await looking.promise;
  await sessions.interrupt(session.id, { actor: "person:test" });
  looked.resolve();
  expect((await session.until("activity.settled")).data.outcome).toBe("interrupted");
  const ends = (await session.events()).filter(({ type }) => /^call\.(settled|failed|interrupted|unknown)$/.test(type));
  expect([runs, ends.map(({ type }) => type)]).toEqual([0, ["call.interrupted"]]);
});

test("call ids that a provider repeats settle against their own message", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  const same = (word: string) => callsTool("shell", { command: `echo ${word}` }, { id: "same" });
  model.script([[same("one"), same("two"), stops("tool_use")], same("three"), says("done")]);
  await session.prompt("go");
  await session.until("activity.settled");
  const { messages } = model.requests.at(-1)!;
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content)) as {
    type: string;
    id?: string;
    tool_use_id?: string;
  }[];
  const called = blocks.flatMap(({ type, id }) => (type === "tool_use" ? [id] : []));
  const answered = blocks.flatMap(({ type, tool_use_id }) => (type === "tool_result" ? [tool_use_id] : []));
  expect(new Set(called).size).toBe(3);
  expect(answered).toEqual(called);
  const results = blocks.filter(({ type }) => type === "tool_result").map((block) => JSON.stringify(block));
  expect(results.map((text) => /one|two|three/.exec(text)?.[0])).toEqual(["one", "two", "three"]);
});

test("a provider that fails waits for the tools that have started", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  await session.prompt("go");
  const reply = (await model.nextRequest()).stream();
  reply.call("shell", waitsFor("late"));
  await session.until("call.started");
  reply.cut();
  put(daemon, "late");
  const next = await model.nextRequest();
  expect(JSON.stringify(next.toolResults)).toContain("late is there");
  next.answer(says("done"));
  await session.until("activity.settled");
  const order = (await session.events()).map(({ type }) => type);
  expect(order.indexOf("call.settled")).toBeLessThan(order.indexOf("turn.settled"));
  expect(order.filter((type) => type === "turn.dispatched")).toHaveLength(2);
});

test("a tool's defect becomes a result that the model can read", async () => {
  const broken: Tool<object, never> = {
    name: "broken",
    description: "Breaks.",
    parameters: z.object({}),
    effect: "reads",
    run: () => Promise.reject(new TypeError("x is not a function")),
    describe: () => ({ outcome: "ok", text: "" }),
  };
  await using daemon = await startTestDaemon({ tools: [broken] });
  const { session, model } = daemon;
  model.script([callsTool("broken", {})]);
  await session.prompt("go");
  await session.until("call.failed");
  const next = await model.nextRequest();
  expect(JSON.stringify(next.toolResults)).toContain("x is not a function");
  next.answer(says("I see"));
  expect((await session.until("activity.settled")).data.outcome).toBe("done");
});

/** One that says which it is. */
const probe = (which: string): Tool => ({
  name: "probe",
  description: `The ${which} probe.`,
  parameters: z.object({}),
  effect: "reads",
  run: () => Promise.resolve(which),
  describe: (result) => ({ outcome: "ok", text: `probed by the ${String(result)}` }),
});

test("what was advertised is what runs, despite a registry that is reloaded meanwhile", async () => {
  await using daemon = await startTestDaemon();
  const { session, model, registry } = daemon;
  const shown = () => model.requests.at(-1)?.body["tools"] as { name: string; description: string }[];
  const remove = registry.add([probe("first")]);
  await session.prompt("go");
  const first = (await model.nextRequest()).stream();
  expect(shown().at(-1)).toMatchObject({ name: "probe", description: "The first probe." });
  remove();
  const removeSecond = registry.add([probe("second")]);
  first.call("probe", {});
  first.finish();
  const second = await model.nextRequest();
  expect(JSON.stringify(second.toolResults)).toContain("probed by the first");
  expect(shown().at(-1)).toMatchObject({ description: "The second probe." });
  removeSecond();
  second.answer(callsTool("probe", {}));
  const third = await model.nextRequest();
  expect(JSON.stringify(third.toolResults)).toContain("probed by the second");
  expect(shown().map(({ name }) => name)).not.toContain("probe");
  third.answer(callsTool("probe", {}));
  const last = await model.nextRequest();
  expect(JSON.stringify(last.toolResults)).toContain("There is no tool called probe");
  last.answer(says("done"));
  await session.until("activity.settled");
  const offered = (await session.events()).filter(({ type }) => type === "tools.offered");
  expect(offered).toHaveLength(3);
});

test("a session has the tools that the settings and its own wish leave it", async () => {
  await using daemon = await startTestDaemon({
    settings: { tools: ["*", "!shell"] },
    wish: { tools: ["read", "shell", "list"] },
  });
  const { session, model } = daemon;
  model.script([callsTool("shell", { command: "touch owned" }), says("done")]);
  await session.prompt("go");
  await session.until("activity.settled");
  expect((model.requests[0]!.body["tools"] as { name: string }[]).map(({ name }) => name)).toEqual(["read", "list"]);
  expect((await session.until("call.failed")).data.error.message).toBe("There is no tool called shell.");
});

test("of a reply with too many calls the first are carried out, and the model is told", async () => {
  await using daemon = await startTestDaemon({ settings: { callLimit: 2 } });
  const { session, model } = daemon;
  const echo = (word: string) => callsTool("shell", { command: `echo ${word}` });
  model.script([[echo("one"), echo("two"), echo("three"), stops("tool_use")], echo("four"), says("done")]);
  await session.prompt("go");
  await session.until("activity.settled");
  const ends = (await session.events()).filter(({ type }) => /^call\.(settled|failed)/.test(type));
  expect(ends.map(({ type }) => type).toSorted((a, b) => a.localeCompare(b))).toEqual([
    "call.failed",
    ...["call.settled", "call.settled", "call.settled"],
  ]);
  expect((await session.until("call.failed")).data.error.message).toContain("Only 2 calls of one reply");
});

test("edits of one reply follow each other, each on what the one before left, and say what they change", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  const edit = (old: string, put: string) => callsTool("edit", { path: "README.md", old, new: put });
  model.script([
    [edit("hello", "hello world"), edit("world", "you"), edit("nothing", ""), stops("tool_use")],
    callsTool("read", { path: "README.md" }),
    says("done"),
  ]);
  await session.prompt("go");
  expect((await session.until("activity.settled")).data.outcome).toBe("done");
  const events = await session.events();
  const changes = events.flatMap((each) => (each.type === "call.started" ? [each.data.changes ?? []] : []));
  expect(changes.map((each) => each.map(({ path }) => path))).toEqual([["README.md"], ["README.md"], []]);
  expect(changes[1]?.[0]?.before).toBe(changes[0]?.[0]?.after);
  const results = events.flatMap((each) => (each.type === "call.failed" ? [each.data.error.message] : []));
  expect(results).toEqual([expect.stringContaining("`old` is not in the file")]);
  expect(JSON.stringify(model.requests.at(-1)?.toolResults)).toContain("hello you");
});

test("reasoning that a failure cut short is kept, and no later request has it", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  await session.prompt("talk");
  const thinking = (await model.nextRequest()).stream();
  thinking.thinking("half a thou");
  thinking.cut();
  const last = await model.nextRequest();
  expect(last.messages).toHaveLength(1);
  last.answer(says("whole"));
  await session.until("activity.settled");
  const said = (await session.events()).flatMap((each) => (each.type === "turn.said" ? [each.data] : []));
  expect(said.map(({ kind, text, cut }) => ({ kind, text, cut }))).toEqual([
    { kind: "reasoning", text: "half a thou", cut: true },
    { kind: "text", text: "whole", cut: undefined },
  ]);
});

test("a reply that broke off after words is not asked for again: it is kept, and the next input goes on from it", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  await session.prompt("talk");
  const talking = (await model.nextRequest()).stream();
  talking.text("half a sen");
  talking.cut();
  expect((await session.until("activity.settled")).data).toMatchObject({
    outcome: "failed",
    error: {
      code: "provider.unavailable",
      hint: 'The partial reply was saved. Send "continue" to resume.',
    },
  });
  await session.prompt("go on");
  const next = await model.nextRequest();
  expect(next.messages).toMatchObject([
    { role: "user", content: [{ text: "talk" }] },
    { role: "assistant", content: [{ text: "half a sen" }] },
    { role: "user", content: [{ text: "go on" }] },
  ]);
  next.answer(says("tence"));
  expect((await session.until("activity.settled", 2)).data.outcome).toBe("done");
});

test("a reply that is whole is not asked for again, whatever fails behind its end", async () => {
  let asked = 0;
  async function* ask(): AsyncIterable<ReplyPiece> {
    asked += 1;
    yield { kind: "begin", part: "0", of: "text" };
    yield { kind: "delta", part: "0", text: "whole" };
    yield { kind: "end", part: "0" };
    yield { kind: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
    await Promise.reject(new Error("broke off behind the end"));
  }
  const hasty = { name: "hasty", open: () => Promise.resolve({ name: "hasty", ask }) };
  await using daemon = await startTestDaemon({ providers: [hasty], wish: { model: "hasty/model" } });
  await daemon.session.prompt("hi");
  expect((await daemon.session.until("activity.settled")).data.outcome).toBe("done");
  const events = await daemon.session.events();
  expect(events.filter(({ type }) => /turn\.(said|replied|attempt-failed)/.test(type)).map(({ type }) => type)).toEqual(
    ["turn.said", "turn.replied"],
  );
  expect(asked).toBe(1);
});

test("an attempt more does not use up a turn, and its pause is told", async () => {
  await using daemon = await startTestDaemon({ wish: { turnLimit: 2 }, backoffMs: (attempt) => attempt });
  const { session, model } = daemon;
  await session.prompt("hi");
  (await model.nextRequest()).fail(529);
  (await model.nextRequest()).fail(429, { retryAfter: 0.02 });
  const third = await model.nextRequest();
  model.script([says("hello")]);
  third.answer(callsTool("shell", { command: "true" }));
  expect(await Promise.race([session.until("activity.settled"), session.until("activity.waiting")])).toMatchObject({
    type: "activity.settled",
  });
  expect((await session.until("activity.settled")).data.outcome).toBe("done");
  const failed = (await session.events()).flatMap((each) => (each.type === "turn.attempt-failed" ? [each.data] : []));
  expect(failed.map(({ attempt, againInMs }) => ({ attempt, againInMs }))).toEqual([
    { attempt: 1, againInMs: 1 },
    { attempt: 2, againInMs: 20 },
  ]);
});

test("a provider that asks for a long pause is not waited for, and it is said how long it asks", async () => {
  await using daemon = await startTestDaemon();
  const pauses = { 301: "6 minutes", 10_800: "3 hours", 1e12: "11574075 days" };
  for (const [seconds, words] of Object.entries(pauses)) {
    const session = await daemon.another();
    await session.prompt("hi");
    (await daemon.model.nextRequest()).fail(429, { retryAfter: Number(seconds) });
    expect((await session.until("activity.settled")).data).toMatchObject({
      outcome: "failed",
      error: {
        code: "provider.unavailable",
        message: expect.stringContaining(`The provider asks to wait ${words}.`),
        hint: "Go on after that time with `corral continue`, or use another model.",
      },
    });
    expect((await session.until("turn.attempt-failed")).data).not.toHaveProperty("againInMs");
  }
  expect(daemon.model.requests).toHaveLength(3);
});

test("a shorter pause is told, and an interrupt ends it", async () => {
  await using daemon = await startTestDaemon();
  const { session, model, sessions } = daemon;
  await session.prompt("hi");
  (await model.nextRequest()).fail(429, { retryAfter: 300 });
  expect((await session.until("turn.attempt-failed")).data.againInMs).toBe(300_000);
  const { state } = (await sessions.get(session.id))!;
  expect(state).toMatchObject({ state: "recovering", reason: expect.stringContaining("limits the rate") });
  await sessions.interrupt(session.id, { actor: "person:test" });
  expect((await session.until("activity.settled")).data.outcome).toBe("interrupted");
  expect(model.requests).toHaveLength(1);
});

test("an attempt that is the last tells of no further one", async () => {
  await using daemon = await startTestDaemon({ attempts: 1 });
  const { session, model } = daemon;
  await session.prompt("hi");
  (await model.nextRequest()).fail(500);
  await session.until("activity.settled");
  expect((await session.until("turn.attempt-failed")).data).not.toHaveProperty("againInMs");
});

const reply = [{ say: "after all" }];
const failures: readonly (readonly [string, RehearsedTurn, object])[] = [
  ["refuses", { failures: [{ fail: "refused" }], reply }, { outcome: "failed", error: { code: "provider.refused" } }],
  [
    "finds it too long",
    { failures: [{ fail: "overflow" }], reply },
    { outcome: "failed", error: { code: "provider.overflow" } },
  ],
  ["limits the rate", { failures: [{ fail: "rate-limited" }], reply }, { outcome: "done" }],
  ["asks to wait", { failures: [{ fail: "rate-limited", retryAfterMs: 5 }], reply }, { outcome: "done" }],
  ["fails twice", { failures: [{ fail: "error" }, { fail: "unreachable" }], reply }, { outcome: "done" }],
  ["breaks off at once", { failures: [{ fail: "cut" }], reply }, { outcome: "done" }],
  [
    "breaks off after words",
    { failures: [{ fail: "cut", after: [{ say: "half" }] }], reply },
    { outcome: "failed", error: { code: "provider.unavailable" } },
  ],
  ["falls silent", { failures: [{ fail: "stalled", silentMs: 5 }], reply }, { outcome: "done" }],
  ["begins late", { reply: [{ wait: 20 }, ...reply] }, { outcome: "done" }],
  ["never recovers", { failures: [{ fail: "error" }] }, { outcome: "failed", error: { code: "provider.unavailable" } }],
];

test("whatever a provider does, the session ends in words or in a failure that is told, and goes on with the next input", async () => {
  await using daemon = await startTestDaemon();
  const scripts = join(daemon.home, "rehearsals");
  mkdirSync(scripts, { recursive: true });
  const sessions = failures.map(async ([does, turn, end], n) => {
    writeFileSync(join(scripts, `${n}.json`), JSON.stringify({ turns: [turn, { reply: [{ say: "still here" }] }] }));
    const session = await daemon.another({ model: `rehearsal/${n}` });
    await session.prompt(does);
    expect({ does, ...(await session.until("activity.settled")).data }).toMatchObject({ does, ...end });
    await session.prompt("and now?");
    expect({ does, ...(await session.until("activity.settled", 2)).data }).toMatchObject({ does, outcome: "done" });
    const said = (await session.events()).flatMap((each) => (each.type === "turn.said" ? [each.data.text] : []));
    expect(said.at(-1)).toBe("still here");
  });
  await Promise.all(sessions);
});

test("an agent's list of what is to be done is the session's, and the last one counts", async () => {
  await using daemon = await startTestDaemon();
  const { session, model, sessions } = daemon;
  const todo = (...states: ("open" | "doing" | "done")[]) =>
    callsTool("todo", { items: states.map((state, n) => ({ text: `step ${n + 1}`, state })) });
  model.script([todo("doing", "open"), todo("done", "doing"), says("done")]);
  await session.prompt("go");
  await session.until("activity.settled");
  const items = [
    { text: "step 1", state: "done" },
    { text: "step 2", state: "doing" },
  ];
  expect((await sessions.get(session.id))?.todo).toEqual(items);
  expect((await sessions.list()).map(({ todo: list }) => list)).toEqual([items]);
  expect(JSON.stringify(model.requests.at(-1)?.toolResults)).toContain("[x] step 1\\n[>] step 2");
});

test("an image that the agent reads is shown to the model", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  const base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  model.script([
    callsTool("shell", { command: `echo ${base64} | base64 -d >dot.png` }),
    callsTool("read", { path: "dot.png" }),
    says("a dot"),
  ]);
  await session.prompt("look");
  await session.until("activity.settled");
  const body = JSON.stringify(model.requests.at(-1)?.body);
  expect(body).toContain(`"media_type":"image/png"`);
  expect(body).toContain(base64);
});

test.each([
  ["what the session says", { reasoning: true, effort: "low" }, "high", "high"],
  ["what is said of the model", { reasoning: true, effort: "low" }, undefined, "low"],
  ["nothing where nobody says anything", { reasoning: true }, undefined, undefined],
  ["nothing of a model that does not think", { reasoning: false, effort: "low" }, "high", undefined],
] as const)("the effort that is asked for is %s, and it is on record", async (_, facts, wished, asked) => {
  await using daemon = await startTestDaemon({ facts, ...(wished === undefined ? {} : { wish: { effort: wished } }) });
  const { session, model } = daemon;
  model.script([says("done")]);
  await session.prompt("go");
  expect((await session.until("turn.dispatched")).data.effort).toBe(asked);
  await session.until("activity.settled");
  expect("thinking" in model.requests[0]!.body).toBe(asked !== undefined);
});
