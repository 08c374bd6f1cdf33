import { event, newId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestGateway } from "../gateway/testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => void (gate = await openTestGateway()));
afterEach(() => gate.close());

const called = (id: `cal_${string}`) =>
  event("call.requested", { id, turnId: "trn_1", providerCallId: "p", tool: "shell", arguments: { command: "ls" } });

test("what was run is told of all or of one session, as far as a token sees", async () => {
  const { session: one, project } = await gate.newSession("one");
  const { session: two } = await gate.newSession("two");
  await gate.add(one.id, called("cal_1"));
  await gate.add(two.id, called("cal_2"));
  const owner = async (path: string) => (await gate.request(path)).json();
  const ids = async (path: string, send: (at: string) => Promise<{ entries: { id: string }[] }> = owner) =>
    (await send(path)).entries.map(({ id }) => id);
  expect(await ids("/api/audit")).toEqual(["cal_1", "cal_2"]);
  expect(await ids(`/api/audit?session=${two.id}`)).toEqual(["cal_2"]);
  expect(await ids(`/api/audit?project=${project.id}`)).toEqual(["cal_1"]);
  const bounded = await gate.token({ name: "bounded", project: project.id });
  expect(await ids("/api/audit", async (at) => (await bounded.send(at)).body)).toEqual(["cal_1"]);
  const status = async (path: string) => (await bounded.send(path)).status;
  expect(await status(`/api/audit?session=${two.id}`)).toBe(404);
  expect([await status("/api/audit/entries/cal_1"), await status("/api/audit/entries/cal_2")]).toEqual([200, 404]);
  expect((await gate.request(`/api/audit?session=${newId("session")}`)).status).toBe(404);
});

test("the chain is gone over for whoever sees everything, from a head that was kept", async () => {
  await gate.newSession("one");
  const { head } = await (await gate.request("/api/audit/head")).json();
  const reader = await gate.token({ name: "reader", scope: "read" });
  const { body } = await reader.send(`/api/audit/verify?head=${encodeURIComponent(head)}`);
  expect(body).toMatchObject({ verdict: "intact", olderUpTo: 0, breaks: [], kept: { head, found: "on-chain" } });
  expect((await gate.request("/api/audit/verify?head=nonsense")).status).toBe(400);
  const { session } = await gate.newSession("two");
  const bounded = await gate.token({ name: "bounded", scope: "admin", session: session.id });
  expect((await bounded.send("/api/audit/verify")).status).toBe(403);
});
