import { event, newId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Secrets } from "../../secrets/index.ts";
import { openTestGateway } from "../testing.ts";

const key = "sk-ant-api03-Zk9xW2qLr7";
let secrets: Secrets;
let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  secrets = new Secrets();
  gate = await openTestGateway({ secrets });
});
afterEach(() => gate.close());

test("what people say with a secret in it is refused, and nothing of it is stored", async () => {
  const { session } = await gate.newSession();
  secrets.learn({ name: "ANTHROPIC_API_KEY", value: key });
  const before = await gate.events();
  const at = `/api/sessions/${session.id}`;
  const wishes = [
    [`${at}/inputs`, { id: newId("input"), text: `use ${key}`, delivery: "queue" }],
    [`${at}/rename`, { title: key }],
    ["/api/tokens", { name: key }],
  ] as const;
  for (const [path, body] of wishes) {
    const response = await gate.post(path, body, { "idempotency-key": newId("token") });
    expect([response.status, await response.json()]).toEqual([
      422,
      {
        type: "urn:corral:error:request.secret",
        title: "This holds a secret (ANTHROPIC_API_KEY), so it was not accepted",
        status: 422,
        code: "request.secret",
        retry: "never",
        hint: "Leave the value out, or name the variable or file that holds it",
      },
    ]);
  }
  expect(await gate.events()).toEqual(before);
});

test("a key is still taken where keys are kept", async () => {
  secrets.learn({ name: "ANTHROPIC_API_KEY", value: key });
  const response = await gate.request("/api/credentials/anthropic", {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key }),
  });
  expect(await response.json()).toEqual({ provider: "anthropic", kind: "stored" });
  expect(JSON.stringify(await gate.events())).not.toContain(key);
});

test("events that were stored before their secret was known are masked when they are read and followed", async () => {
  const { session } = await gate.newSession();
  await gate.add(session.id, event("session.renamed", { title: `is ${key}` }));
  secrets.learn({ name: "KEY", value: key });
  const at = `/api/sessions/${session.id}/events`;
  const page = (await (await gate.request(at)).json()) as { events: readonly { data: unknown }[] };
  expect(page.events.at(-1)?.data).toEqual({ title: "is [masked: KEY]" });
  const leaving = new AbortController();
  const stream = await gate.request(`${at}?follow=1`, { signal: leaving.signal });
  let text = "";
  for await (const piece of stream.body!)
    if ((text += Buffer.from(piece).toString()).includes("is [masked: KEY]")) break;
  leaving.abort();
  expect(text).not.toContain(key);
});
