import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AskedQuestion, event, newId, type QuestionId, type SessionId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { historyOf, type Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { sessionProjections } from "../sessions/index.ts";
import { openQuestions, questionProjections, type Questions } from "./index.ts";

const session: SessionId = "ses_1";
const activityId = "act_1" as const;
const ann = { actor: "person:ann" };
const bob = { actor: "person:bob" };

let folder: string;
let log: Log;
let questions: Questions;
let skewMs: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "corral-questions-"));
  skewMs = 0;
  await begin();
  const environment = { kind: "jail", network: "off" } as const;
  const facts = { title: "", model: "a/b", mode: "auto", environment, workspace: "copy", turnLimit: 25 } as const;
  await add(event("session.created", { projectId: "prj_1", ...facts }), event("activity.opened", { id: activityId }));
});

afterEach(async () => {
  questions.close();
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

async function begin(): Promise<void> {
  log = await openSqliteLog({
    file: join(folder, "corral.db"),
    projections: [...sessionProjections, ...questionProjections],
  });
  questions = openQuestions({
    log,
    onDefect: (what, error) => {
      throw new Error(what, { cause: error });
    },
    now: () => Date.now() + skewMs,
  });
  await questions.begin();
}

/** Ends as a killed daemon does, and begins anew after so long. */
async function restart({ afterMs = 0 } = {}): Promise<void> {
  questions.close();
  await log.close();
  skewMs += afterMs;
  await begin();
}

const add = (...events: Parameters<typeof log.append>[0]["events"]) =>
  log.append({ stream: session, actor: `agent:${session}`, events });

async function ask(more: Partial<AskedQuestion> = {}): Promise<QuestionId> {
  const id = newId("question");
  const about = { kind: "agent", callId: "cal_1", turnId: "trn_1" } as const;
  const choices = [
    { id: "1", label: "SQLite" },
    { id: "2", label: "PostgreSQL" },
  ];
  await add(event("question.asked", { id, activityId, about, text: "Which one?", choices, takesText: true, ...more }));
  return id;
}

const states = async () => (await questions.list({ session, closed: true })).map(({ state }) => state.state);

const ends = async () =>
  (await historyOf(log, session)).flatMap(({ type, actor }) =>
    type.startsWith("question.") && type !== "question.asked" ? [`${type} by ${actor}`] : [],
  );

test("a question is listed until it is answered, and says by whom", async () => {
  const id = await ask();
  expect((await questions.list()).map((each) => each.id)).toEqual([id]);
  const { kind } = await questions.answer(id, { choice: "2", text: "it is there already" }, ann);
  expect(kind).toBe("answered");
  expect(await questions.list()).toEqual([]);
  expect(await questions.get(id)).toMatchObject({
    projectId: "prj_1",
    session,
    state: { state: "answered", answer: { choice: "2", text: "it is there already" }, by: "person:ann" },
  });
});

test("of answers that meet the first one wins, and the others learn whose it was", async () => {
  const id = await ask();
  const outcomes = await Promise.all([
    questions.answer(id, { choice: "1" }, ann),
    questions.answer(id, { choice: "2" }, bob),
    questions.cancel(id, bob),
  ]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(["answered", "closed", "closed"]);
  expect(outcomes[1].question.state).toMatchObject({ state: "answered", by: "person:ann" });
  expect(await ends()).toEqual(["question.answered by person:ann"]);
});

test("an answer sent again with its id is the same one; another body under that id is not", async () => {
  const id = await ask();
  const answer = { id: newId("answer"), choice: "1" };
  const sent = await Promise.all([questions.answer(id, answer, ann), questions.answer(id, answer, ann)]);
  expect(sent.map(({ kind }) => kind)).toEqual(["answered", "duplicate"]);
  await restart();
  expect((await questions.answer(id, answer, ann)).kind).toBe("duplicate");
  expect((await questions.answer(id, { ...answer, choice: "2" }, ann)).kind).toBe("closed");
  expect(await ends()).toEqual(["question.answered by person:ann"]);
});

test("what is no answer to it is refused, and the question stays", async () => {
  const free = await ask();
  const about = {
    kind: "approval",
    callId: "cal_1",
    turnId: "trn_1",
    tool: "shell",
    arguments: {},
    hash: "",
    because: "",
  } as const;
  const approval = await ask({ about, takesText: true });
  const host = await ask({ about: { kind: "host", host: "example.org", port: 443 }, takesText: false });
  await expect(questions.answer(free, { choice: "3" }, ann)).rejects.toMatchObject({ code: "request.invalid" });
  await expect(questions.answer(free, { text: " " }, ann)).rejects.toMatchObject({ code: "request.invalid" });
  await expect(questions.answer(approval, { text: "yes" }, ann)).rejects.toMatchObject({ code: "request.invalid" });
  await expect(questions.answer(host, { choice: "1", text: "x" }, ann)).rejects.toMatchObject({
    code: "request.invalid",
  });
  await expect(questions.answer("que_none", { text: "x" }, ann)).rejects.toMatchObject({ code: "not-found" });
  expect(await states()).toEqual(["open", "open", "open"]);
});

test("time that is over takes the default, or leaves it without an answer, and is shown while it runs", async () => {
  const usual = await ask({ timeLimitMs: 40, default: { choice: "1" } });
  const none = await ask({ timeLimitMs: 40 });
  const long = await ask({ timeLimitMs: 3_600_000 });
  await expect.poll(states).toEqual(["defaulted", "expired", "open"]);
  expect((await questions.get(usual))?.state).toMatchObject({ state: "defaulted", answer: { choice: "1" } });
  expect((await questions.answer(none, { choice: "1" }, ann)).kind).toBe("closed");
  const { remainingMs } = (await questions.get(long))!;
  expect(remainingMs).toBeGreaterThan(3_000_000);
  expect(remainingMs).toBeLessThanOrEqual(3_600_000);
});

test("a question outlives a restart; a time limit that passed meanwhile is applied at the beginning", async () => {
  const open = await ask();
  await ask({ timeLimitMs: 60_000, default: { text: "go on" } });
  await restart();
  expect(await states()).toEqual(["open", "open"]);
  await restart({ afterMs: 60_001 });
  await expect.poll(states).toEqual(["open", "defaulted"]);
  expect((await questions.answer(open, { text: "SQLite" }, ann)).kind).toBe("answered");
});

test("an interrupt closes a session's questions in the same moment, and cancels each by name", async () => {
  const id = await ask();
  const interrupting = log.append({
    stream: session,
    ...bob,
    events: [event("activity.interrupt-requested", { id: activityId })],
  });
  const late = questions.answer(id, { choice: "1" }, ann);
  await interrupting;
  expect((await late).kind).toBe("closed");
  await expect.poll(ends).toEqual(["question.cancelled by person:bob"]);
});

test("what a crash left of an interrupt, or of an activity that is over, is cancelled at the beginning", async () => {
  await ask();
  questions.close();
  await add(event("activity.interrupt-requested", { id: activityId }));
  await restart();
  expect(await ends()).toEqual(["question.cancelled by corral"]);
  await ask();
  questions.close();
  await add(event("activity.settled", { id: activityId, outcome: "failed" }));
  await restart();
  expect(await ends()).toEqual(["question.cancelled by corral", "question.cancelled by corral"]);
});

test("an interrupt at the turn's end leaves them open", async () => {
  await ask();
  await add(event("activity.interrupt-requested", { id: activityId, at: "boundary" }));
  expect(await states()).toEqual(["open"]);
});

test("who waits in the daemon gets the end, and cancels by leaving", async () => {
  const wish = {
    about: { kind: "host", host: "example.org", port: 443 },
    text: "May it?",
    choices: [{ id: "once", label: "Yes" }],
    takesText: false,
  } as const;
  const leaving = new AbortController();
  const first = questions.ask(session, { ...wish, choices: [...wish.choices] }, leaving.signal);
  const second = questions.ask(session, { ...wish, choices: [...wish.choices] }, new AbortController().signal);
  await expect.poll(async () => (await questions.list()).length).toBe(2);
  leaving.abort();
  expect(await first).toMatchObject({ state: "cancelled" });
  const [open] = await questions.list();
  await questions.answer(open!.id, { choice: "once" }, ann);
  expect(await second).toMatchObject({ state: "answered", answer: { choice: "once" } });
});
