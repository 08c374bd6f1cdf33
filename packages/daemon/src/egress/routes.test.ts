import { event, newId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestGateway } from "../gateway/testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => void (gate = await openTestGateway()));
afterEach(() => gate.close());

const contact = {
  host: "example.org",
  port: 443,
  verdict: "allowed" as const,
  reason: "listed" as const,
  connections: 1,
  bytesOut: 2,
  bytesIn: 3,
};

test("what sessions have reached is told with its newest figures, of all or of one, as far as a token sees", async () => {
  const { session: one, project } = await gate.newSession("one");
  const { session: two } = await gate.newSession("two");
  await gate.add(one.id, event("network.reached", contact), event("network.reached", { ...contact, connections: 2 }));
  await gate.add(two.id, event("network.reached", contact));
  const told = async (path: string, send = (at: string) => gate.request(at).then((answer) => answer.json())) => {
    const { contacts } = (await send(path)) as { contacts: { session: string; connections: number }[] };
    return contacts.map(({ session, connections }) => [session, connections]);
  };
  expect(await told("/api/network")).toEqual([
    [one.id, 2],
    [two.id, 1],
  ]);
  expect(await told(`/api/network?session=${two.id}`)).toEqual([[two.id, 1]]);
  const bounded = await gate.token({ name: "bounded", project: project.id });
  expect(await told("/api/network", async (at) => (await bounded.send(at)).body)).toEqual([[one.id, 2]]);
  expect((await bounded.send(`/api/network?session=${two.id}`)).status).toBe(404);
  expect((await gate.request(`/api/network?session=${newId("session")}`)).status).toBe(404);
});
