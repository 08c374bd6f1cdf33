import { readFileSync } from "node:fs";
import { join } from "node:path";
import { event, type Judgement, type QuestionView } from "@corral/protocol";
import { expect, test } from "vitest";
import { z } from "zod";
import { callsTool, says, startTestDaemon, type TestDaemon } from "../../testing/index.ts";
import type { Tool } from "../../tools/index.ts";

const ann = { actor: "person:ann" };

/** By the first word of the command: `rm` is forbidden, `echo` asked. */
const judge = ({ command = "" }: { readonly command?: string }): Omit<Judgement, "parts"> => {
  const [word] = command.split(" ");
  if (word === "rm") return { verdict: "deny", why: "rm is not allowed" };
  if (word !== "echo") return { verdict: "allow", why: "" };
  return { verdict: "ask", why: "echo is asked", always: [{ command: "echo *" }] };
};

async function nextQuestion({ questions, session }: TestDaemon): Promise<QuestionView> {
  const open = () => questions.list({ session: session.id });
  await expect.poll(async () => (await open()).length, { timeout: 60_000 }).toBeGreaterThan(0);
  return (await open())[0]!;
}

const marks = (daemon: TestDaemon) =>
  readFileSync(join(daemon.home, "workspaces", daemon.session.id, "marks"), "utf8")
    .split("\n")
    .slice(0, -1);

const state = async ({ sessions, session }: TestDaemon) => (await sessions.get(session.id))?.state;

test("a question of the agent's makes its session wait, held by nobody, and the answer is the call's result", async () => {
  await using daemon = await startTestDaemon({ waitingMs: 0 });
  const { session, model, questions } = daemon;
  await session.prompt("go");
  const asked = { question: "Which database?", choices: ["SQLite", "PostgreSQL"], default: "SQLite" };
  (await model.nextRequest()).answer(callsTool("ask", asked));
  const question = await nextQuestion(daemon);
  expect(question).toMatchObject({
    about: { kind: "agent" },
    text: "Which database?",
    choices: [
      { id: "1", label: "SQLite" },
      { id: "2", label: "PostgreSQL" },
    ],
    default: { choice: "1" },
  });
  await session.until("activity.waiting");
  expect(await state(daemon)).toMatchObject({ state: "waiting", on: "question", questions: [question.id] });
  await expect.poll(() => daemon.running()).toBe(0);
  await questions.answer(question.id, { choice: "2", text: "it is there" }, ann);
  const next = await model.nextRequest();
  expect(JSON.stringify(next.toolResults)).toContain("The operator answers: PostgreSQL: it is there");
  next.answer(says("done"));
  await session.until("activity.settled");
  expect(await state(daemon)).toMatchObject({ state: "idle" });
});

test("a call that is to be asked waits for its approval, once, while those beside it run", async () => {
  await using daemon = await startTestDaemon({ judge });
  const { session, model, questions } = daemon;
  await session.prompt("go");
  const reply = (await model.nextRequest()).stream();
  reply.call("shell", { command: "echo one >> marks" });
  reply.call("shell", { command: "true; echo beside >> marks" });
  reply.finish();
  const question = await nextQuestion(daemon);
  expect(question).toMatchObject({
    about: { kind: "approval", tool: "shell", arguments: { command: "echo one >> marks" }, because: "echo is asked" },
    choices: [
      { id: "once" },
      { id: "session", note: "echo *" },
      { id: "agent" },
      { id: "project", note: "echo *" },
      { id: "deny" },
    ],
  });
  await session.until("activity.waiting");
  expect(marks(daemon)).toEqual(["beside"]);
  await questions.answer(question.id, { choice: "once" }, ann);
  (await model.nextRequest()).answer(callsTool("shell", { command: "echo one >> marks" }));
  const again = await nextQuestion(daemon);
  expect(again.id).not.toBe(question.id);
  expect(marks(daemon)).toEqual(["beside", "one"]);
  await questions.answer(again.id, { choice: "deny", text: "once is enough" }, ann);
  const last = await model.nextRequest();
  expect(JSON.stringify(last.toolResults)).toContain("The operator did not allow this call: once is enough");
  last.answer(says("done"));
  await session.until("activity.settled");
  expect(marks(daemon)).toEqual(["beside", "one"]);
});

test("an answered call goes on while another waits for its answer, and one that runs is not waited for", async () => {
  const latch = Promise.withResolvers<void>();
  const slow: Tool = {
    name: "slow",
    description: "Takes its time.",
    parameters: z.object({}),
    effect: "reads",
    run: () => latch.promise,
    describe: () => ({ outcome: "ok", text: "at last" }),
  };
  await using daemon = await startTestDaemon({ judge, tools: [slow] });
  const { session, model, questions } = daemon;
  await session.prompt("go");
  const reply = (await model.nextRequest()).stream();
  for (const word of ["one", "two"]) reply.call("shell", { command: `echo ${word} >> marks` });
  reply.call("slow", {});
  reply.finish();
  await session.until("question.asked", 2);
  const [one, two] = await questions.list({ session: session.id });
  await questions.answer(two!.id, { choice: "once" }, ann);
  await session.until("call.settled");
  expect(marks(daemon)).toEqual(["two"]);
  latch.resolve();
  await session.until("activity.waiting");
  await questions.answer(one!.id, { choice: "once" }, ann);
  (await model.nextRequest()).answer(says("done"));
  await session.until("activity.settled");
  expect(marks(daemon)).toEqual(["two", "one"]);
});

test("what is forbidden never starts, and the model reads why", async () => {
  await using daemon = await startTestDaemon({ judge });
  const { session, model } = daemon;
  await session.prompt("go");
  (await model.nextRequest()).answer(callsTool("shell", { command: "rm -rf ." }));
  const next = await model.nextRequest();
  expect(JSON.stringify(next.toolResults)).toContain("This is not allowed here: rm is not allowed");
  next.answer(says("done"));
  await session.until("activity.settled");
  const types = (await session.events()).map(({ type }) => type);
  expect(types).toContain("call.declined");
  expect(types).not.toContain("call.started");
});

test("rules that fail allow nothing", async () => {
  await using daemon = await startTestDaemon({
    judge: () => {
      throw new Error("line 3 is no rule");
    },
  });
  const { session, model } = daemon;
  await session.prompt("go");
  (await model.nextRequest()).answer(callsTool("shell", { command: "true" }));
  const next = await model.nextRequest();
  expect(JSON.stringify(next.toolResults)).toContain("the rules cannot be read: line 3 is no rule");
  next.answer(says("done"));
  await session.until("activity.settled");
});

test("an approval does not stand against rules that forbid the call by now", async () => {
  let isForbidden = false;
  await using daemon = await startTestDaemon({
    judge: () => (isForbidden ? { verdict: "deny", why: "no more" } : { verdict: "ask", why: "maybe" }),
  });
  const { session, model, questions } = daemon;
  await session.prompt("go");
  (await model.nextRequest()).answer(callsTool("shell", { command: "true" }));
  const question = await nextQuestion(daemon);
  isForbidden = true;
  await questions.answer(question.id, { choice: "once" }, ann);
  expect((await session.until("call.declined")).data).toMatchObject({ by: "rules" });
  (await model.nextRequest()).answer(says("done"));
  await session.until("activity.settled");
});

test("an interrupt cancels what is asked and ends the call without having run it", async () => {
  await using daemon = await startTestDaemon({ judge, waitingMs: 0 });
  const { session, sessions, model, questions } = daemon;
  await session.prompt("go");
  (await model.nextRequest()).answer(callsTool("shell", { command: "echo one >> marks" }));
  const question = await nextQuestion(daemon);
  await session.until("activity.waiting");
  expect(await sessions.interrupt(session.id, ann)).toEqual({ kind: "requested" });
  expect((await session.until("activity.settled")).data).toMatchObject({ outcome: "interrupted" });
  expect((await session.until("question.cancelled")).data).toMatchObject({ id: question.id });
  await session.until("call.interrupted");
  expect((await questions.answer(question.id, { choice: "once" }, ann)).kind).toBe("closed");
});

test("a question that is cancelled, or whose time is over, ends the wait", async () => {
  await using daemon = await startTestDaemon({ judge });
  const { session, model, questions } = daemon;
  await session.prompt("go");
  (await model.nextRequest()).answer(callsTool("shell", { command: "echo one >> marks" }));
  await questions.cancel((await nextQuestion(daemon)).id, ann);
  const next = await model.nextRequest();
  expect(JSON.stringify(next.toolResults)).toContain("did not answer");
  next.answer(callsTool("ask", { question: "Now?", timeLimitSeconds: 1 }));
  const last = await model.nextRequest();
  expect(JSON.stringify(last.toolResults)).toContain("The operator did not answer in time. Go on as you think best.");
  last.answer(says("done"));
  await session.until("activity.settled");
});

test.each([
  ["while its run stays", 60_000],
  ["after its run has let it go", 0],
])(
  "what is said while a question is open joins the turn after its answer, %s, and answers nothing",
  async (_, waitingMs) => {
    await using daemon = await startTestDaemon({ judge, waitingMs });
    const { session, model, questions, sessions } = daemon;
    await session.prompt("go");
    (await model.nextRequest()).answer(callsTool("shell", { command: "echo one >> marks" }));
    const question = await nextQuestion(daemon);
    await session.until("activity.waiting");
    await session.prompt("only tests");
    await session.prompt("and docs");
    expect(await sessions.get(session.id)).toMatchObject({
      state: { state: "waiting", on: "question", questions: [question.id] },
      inbox: { waiting: 2 },
    });
    await questions.answer(question.id, { choice: "once" }, ann);
    const next = await model.nextRequest();
    expect([next.toolResults.length, next.newInputs.slice(0, 2)]).toEqual([1, ["only tests", "and docs"]]);
    next.answer(says("done"));
    await session.until("activity.settled");
    expect(marks(daemon)).toEqual(["one"]);
  },
);

test("a shell is judged by the commands that began in it, not by those of an environment that was closed", async () => {
  const left: unknown[] = [];
  await using daemon = await startTestDaemon({
    judge: (call) => {
      left.push(call.disturbedShell);
      return { verdict: "allow", why: "" };
    },
  });
  const { session, model, log } = daemon;
  const run = async (command: string, nth: number) => {
    model.script([callsTool("shell", { command }), says("done")]);
    await session.prompt("go");
    await session.until("activity.settled", nth);
  };
  await run("cd /", 1);
  await run("ls", 2);
  const { state } = (await session.until("environment.opened")).data;
  const closed = event("environment.closed", { id: state.id, reason: "it was taken away" });
  await log.append({ stream: session.id, actor: "corral", events: [closed] });
  await run("ls", 3);
  expect(left).toEqual(["none", "moved", "none"]);
});
