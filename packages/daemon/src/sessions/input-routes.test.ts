import { event, newId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestGateway } from "../gateway/testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway();
});
afterEach(() => gate.close());

const read = async (path: string) => (await gate.request(path)).json();
const send = async (path: string, body: object) => {
  const response = await gate.post(path, body);
  return { status: response.status, body: await response.json() };
};

test("what waits is listed in order, changed until it is taken up, and refused with what happened to it", async () => {
  const { session } = await gate.newSession();
  const at = `/api/sessions/${session.id}/inputs`;
  const [one, two] = [newId("input"), newId("input")];
  await send(at, { id: one, text: "one", delivery: "queue" });
  await send(at, { id: two, text: "two", delivery: "queue" });
  expect(await send(`${at}/${two}`, { change: "promote", to: "front" })).toMatchObject({
    status: 200,
    body: { kind: "changed", input: { id: two } },
  });
  expect(await read(at)).toMatchObject({ isParked: false, inputs: [{ text: "two" }, { text: "one" }] });
  expect(await send(`${at}/${two}`, { change: "cancel" })).toMatchObject({ body: { input: { state: "cancelled" } } });
  expect(await send(`${at}/${one}`, { change: "edit", text: "uno", version: 1 })).toMatchObject({
    status: 409,
    body: { code: "input.changed" },
  });
  await gate.add(session.id, event("activity.opened", { id: "act_1" }));
  await gate.add(session.id, event("input.promoted", { id: one, activityId: "act_1" }));
  expect(await send(`${at}/${one}`, { change: "cancel" })).toMatchObject({
    status: 409,
    body: { code: "input.promoted", hint: "Interrupt the session, or steer it with another input" },
  });
  expect(await send(`${at}/${one}`, { change: "paint" })).toMatchObject({ status: 400 });
});

test("a queue is parked and resumed, an interrupt may wait for the boundary, and what is over is told", async () => {
  const { session } = await gate.newSession();
  const at = `/api/sessions/${session.id}`;
  expect(await send(`${at}/queue`, { decision: "park" })).toEqual({ status: 200, body: { kind: "parked" } });
  expect(await read(at)).toMatchObject({ inbox: { waiting: 0, isParked: true } });
  expect(await send(`${at}/queue`, { decision: "resume" })).toEqual({ status: 200, body: { kind: "resumed" } });
  expect(await send(`${at}/continue`, { id: "con_1" })).toEqual({ status: 200, body: { kind: "continued" } });
  await gate.add(session.id, event("activity.opened", { id: "act_1" }));
  expect(await send(`${at}/continue`, {})).toEqual({ status: 200, body: { kind: "joined" } });
  expect(await send(`${at}/continue`, { id: "con_1" })).toEqual({ status: 200, body: { kind: "continued" } });
  expect(await send(`${at}/interrupt`, { at: "boundary" })).toEqual({ status: 202, body: { kind: "requested" } });
  expect((await gate.events()).at(-1)).toMatchObject({ data: { id: "act_1", at: "boundary" } });
  expect(await send(`${at}/archive`, {})).toMatchObject({ status: 409, body: { code: "session.busy" } });
});

test("an archived session is off the list unless it is asked for", async () => {
  const { session } = await gate.newSession();
  const at = `/api/sessions/${session.id}`;
  expect(await send(`${at}/rename`, { title: " Parser " })).toEqual({ status: 200, body: { kind: "renamed" } });
  expect(await send(`${at}/archive`, {})).toEqual({ status: 200, body: { kind: "archived" } });
  expect(await read("/api/sessions")).toEqual({ sessions: [] });
  expect(await read("/api/sessions?archived=1")).toMatchObject({ sessions: [{ title: "Parser", isArchived: true }] });
  expect(await send(`${at}/unarchive`, {})).toEqual({ status: 200, body: { kind: "unarchived" } });
  expect(await read("/api/sessions")).toMatchObject({ sessions: [{ id: session.id }] });
});

test("a search finds only what its token sees", async () => {
  const { session: one } = await gate.newSession("one");
  const { session: two, project } = await gate.newSession("two");
  for (const { id } of [one, two])
    await send(`/api/sessions/${id}/inputs`, { id: newId("input"), text: "hidden gems" });
  const found = async ({ send: ask }: Pick<Awaited<ReturnType<typeof gate.token>>, "send">) =>
    (await ask("/api/sessions/search?words=gems&limit=1")).body.found.map(({ id }: { id: string }) => id);
  const foundByOwner = (await read("/api/sessions/search?words=gems")).found.map(({ id }: { id: string }) => id);
  expect(foundByOwner.toSorted()).toEqual([one.id, two.id].toSorted());
  expect(await found(await gate.token({ name: "a", scope: "read", session: one.id }))).toEqual([one.id]);
  expect(await found(await gate.token({ name: "b", scope: "read", project: project.id }))).toEqual([two.id]);
});
