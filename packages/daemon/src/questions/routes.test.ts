import { type AskedQuestion, event, newId, type SessionId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestGateway } from "../gateway/testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway();
});
afterEach(() => gate.close());

async function ask(session: SessionId, about: AskedQuestion["about"], more: Partial<AskedQuestion> = {}) {
  const id = newId("question");
  const choices = [{ id: "once", label: "Allow once" }];
  await gate.add(session, event("question.asked", { id, about, text: "May it?", choices, takesText: true, ...more }));
  return id;
}

const agent = { kind: "agent", callId: "cal_1", turnId: "trn_1" } as const;
const host = { kind: "host", host: "example.org", port: 443 } as const;

test("questions are listed, shown and answered; a second answer is told who was first", async () => {
  const { session, project } = await gate.newSession();
  const id = await ask(session.id, host, { timeLimitMs: 600_000 });
  const [listed] = (await (await gate.request("/api/questions")).json()).questions;
  expect(listed).toMatchObject({ id, session: session.id, projectId: project.id, state: { state: "open" } });
  expect(listed.remainingMs).toBeGreaterThan(0);
  const ann = await gate.token({ name: "ann", person: "ann", scope: "operate" });
  const answer = { id: newId("answer"), choice: "once" };
  expect((await ann.send(`/api/questions/${id}/answer`, { body: answer })).body).toMatchObject({ kind: "answered" });
  expect((await ann.send(`/api/questions/${id}/answer`, { body: answer })).body).toMatchObject({ kind: "duplicate" });
  const late = await gate.post(`/api/questions/${id}/answer`, { choice: "once" });
  expect([late.status, await late.json()]).toMatchObject([
    409,
    { code: "question.closed", title: "person:ann has answered it already: Allow once" },
  ]);
  expect((await (await gate.request("/api/questions")).json()).questions).toEqual([]);
  const all = await (await gate.request(`/api/questions?closed=1&session=${session.id}`)).json();
  expect(all.questions).toMatchObject([{ id, state: { state: "answered", by: "person:ann" } }]);
});

test("who may prompt answers an agent, who may operate lets it do things, and who reads does neither", async () => {
  const { session } = await gate.newSession();
  const [asks, wants] = [await ask(session.id, agent), await ask(session.id, host)];
  const reader = await gate.token({ name: "reader", scope: "read" });
  const prompter = await gate.token({ name: "prompter", scope: "prompt" });
  const send = (who: typeof reader, id: string, deed: string) =>
    who.send(`/api/questions/${id}/${deed}`, { body: deed === "answer" ? { choice: "once" } : {} });
  for (const deed of ["answer", "cancel"]) {
    expect((await send(reader, asks, deed)).status).toBe(403);
    expect((await send(prompter, wants, deed)).status).toBe(403);
  }
  expect((await send(prompter, asks, "answer")).status).toBe(200);
  const operator = await gate.token({ name: "operator", scope: "operate" });
  expect((await send(operator, wants, "cancel")).body).toMatchObject({ kind: "cancelled" });
});

test("outside of a token's bounds there is no question", async () => {
  const one = await gate.newSession("one");
  const other = await gate.newSession("other");
  const id = await ask(other.session.id, agent);
  const { send } = await gate.token({ name: "a", scope: "admin", session: one.session.id });
  expect((await send("/api/questions")).body.questions).toEqual([]);
  expect((await send(`/api/questions?session=${other.session.id}`)).status).toBe(404);
  expect((await send(`/api/questions/${id}`)).status).toBe(404);
  expect((await send(`/api/questions/${id}/answer`, { body: { text: "x" } })).status).toBe(404);
  expect((await gate.request(`/api/questions/${id}`)).status).toBe(200);
});

test("what is no answer to a question is refused with what would be", async () => {
  const { session } = await gate.newSession();
  const id = await ask(session.id, host);
  const answer = await gate.post(`/api/questions/${id}/answer`, { choice: "twice" });
  expect([answer.status, await answer.json()]).toMatchObject([400, { hint: "They are: once" }]);
});
