import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CorralError, event, newId } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openTestGateway } from "./testing.ts";

let folder: string;
let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "corral-gateway-"));
  gate = await openTestGateway({}, folder);
});
afterEach(async () => {
  await gate.close();
});

async function restart(changes: Parameters<typeof openTestGateway>[0] = {}): Promise<void> {
  await gate.close({ keep: true });
  gate = await openTestGateway(changes, folder);
}

async function send(path: string, body: unknown, key: string) {
  const response = await gate.post(path, body, { "idempotency-key": key });
  const replayed = response.headers.get("idempotent-replayed") === "true";
  return { status: response.status, body: await response.json(), replayed };
}

const typesOf = async (stream?: string) => (await gate.events(stream)).map(({ type }) => type);
const created = async () => (await typesOf()).filter((type) => type === "session.created").length;
const conflict = { status: 409, body: { code: "idempotency.conflict" } };

describe("the same key and body again", () => {
  test("is the first answer again, and nothing is done", async () => {
    const { project } = await gate.newSession();
    const first = await send("/api/sessions", { projectId: project.id }, "k1");
    const again = await send("/api/sessions", { projectId: project.id, mode: "auto" }, "k1");
    expect(first).toMatchObject({ status: 201, replayed: false });
    expect(again).toEqual({ ...first, replayed: true });
    expect(await created()).toBe(2);
    expect((await send("/api/sessions", { projectId: project.id }, "k2")).body.id).not.toBe(first.body.id);
  });

  test("is so after a restart", async () => {
    const { project } = await gate.newSession();
    const first = await send("/api/sessions", { projectId: project.id }, "k1");
    await gate.newSession();
    await restart();
    expect(await send("/api/sessions", { projectId: project.id }, "k1")).toEqual({ ...first, replayed: true });
    expect(await created()).toBe(3);
  });

  test("is done once when many arrive at once", async () => {
    const { project } = await gate.newSession();
    const all = await Promise.all(
      Array.from({ length: 10 }, () => send("/api/sessions", { projectId: project.id }, "k1")),
    );
    expect(new Set(all.map(({ body }) => body.id)).size).toBe(1);
    expect(all.filter(({ replayed }) => !replayed).length).toBe(1);
    expect(await created()).toBe(2);
  });

  test("makes the same thing when a crash cut the first between the deed and its answer", async () => {
    const { project } = await gate.newSession();
    const first = await send("/api/sessions", { projectId: project.id }, "k1");
    // What the log holds if the daemon died before it could note the answer.
    const before = await gate.events();
    await gate.close({ keep: true });
    rmSync(folder, { recursive: true });
    folder = mkdtempSync(join(tmpdir(), "corral-gateway-"));
    gate = await openTestGateway({}, folder);
    for (const { stream, actor, type, data } of before) {
      if (type !== "request.answered") await gate.log.append({ stream, actor, events: [event(type, data as never)] });
    }
    await restart();
    const again = await send("/api/sessions", { projectId: project.id }, "k1");
    expect({ status: again.status, id: again.body.id }).toEqual({ status: 201, id: first.body.id });
    expect(await created()).toBe(2);
    expect(await send("/api/sessions", { projectId: project.id, turnLimit: 3 }, "k1")).toMatchObject(conflict);
  });

  test("holds for every POST: inputs, interrupts, projects", async () => {
    const { session } = await gate.newSession();
    const input = { id: newId("input"), text: "hello" };
    const first = await send(`/api/sessions/${session.id}/inputs`, input, "i");
    await gate.add(session.id, event("activity.opened", { id: "act_1" }));
    const stopped = await send(`/api/sessions/${session.id}/interrupt`, {}, "s");
    await gate.add(session.id, event("activity.settled", { id: "act_1", outcome: "interrupted" }));
    await gate.add(session.id, event("activity.opened", { id: "act_2" }));
    await restart();
    expect((await send(`/api/sessions/${session.id}/inputs`, input, "i")).body).toEqual({
      ...first.body,
      kind: "duplicate",
    });
    // Sent late, it does not stop what began since.
    expect(await send(`/api/sessions/${session.id}/interrupt`, {}, "s")).toEqual({ ...stopped, replayed: true });
    expect((await typesOf(session.id)).filter((type) => type.includes("interrupt")).length).toBe(1);
  });
});

describe("the same key", () => {
  test("with another body, or for another route, is a conflict, also after a restart", async () => {
    const { project, session } = await gate.newSession();
    await send("/api/sessions", { projectId: project.id }, "k1");
    const other = { projectId: project.id, turnLimit: 3 };
    expect(await send("/api/sessions", other, "k1")).toMatchObject(conflict);
    expect(await send(`/api/sessions/${session.id}/interrupt`, {}, "k1")).toMatchObject(conflict);
    await restart();
    expect(await send("/api/sessions", other, "k1")).toMatchObject(conflict);
    expect(await created()).toBe(2);
  });

  test("of two people is two keys", async () => {
    const { project } = await gate.newSession();
    const ann = await gate.token({ name: "ann", scope: "prompt" });
    const mine = await send("/api/sessions", { projectId: project.id }, "k1");
    const hers = await ann.send("/api/sessions", {
      body: { projectId: project.id },
      headers: { "idempotency-key": "k1" },
    });
    expect(hers.status).toBe(201);
    expect(hers.body.id).not.toBe(mine.body.id);
  });

  test("may be used again for a request that failed, and is forgotten after a day", async () => {
    const { project } = await gate.newSession();
    expect((await send("/api/sessions", { projectId: "prj_none" }, "k1")).status).toBe(404);
    const first = await send("/api/sessions", { projectId: project.id }, "k1");
    expect(first).toMatchObject({ status: 201, replayed: false });
    await restart({ now: () => Date.now() + 25 * 3_600_000 });
    const later = await send("/api/sessions", { projectId: project.id }, "k1");
    expect(later).toMatchObject({ status: 201, replayed: false });
    expect(later.body.id).not.toBe(first.body.id);
  });

  test("that cannot be written down is a refusal in the usual words", async () => {
    const { project } = await gate.newSession();
    const full = new CorralError("log.full", "There is no room.", { hint: "Make some", retry: "later" });
    vi.spyOn(gate.log, "append").mockRejectedValue(full);
    onTestFinished(() => void vi.restoreAllMocks());
    const refused = await gate.post("/api/sessions", { projectId: project.id }, { "idempotency-key": "k1" });
    expect({
      type: refused.headers.get("content-type"),
      body: (await refused.json()) as unknown,
    }).toMatchObject({ type: "application/problem+json", body: { status: 507, code: "log.full", hint: "Make some" } });
  });

  test("that is no key is refused", async () => {
    for (const key of ["", "a b", "x".repeat(201)]) {
      expect(await send("/api/projects", { path: "/x" }, key)).toMatchObject({ status: 400 });
    }
  });
});

test("a person's words are kept by their session alone; sent again after a restart they are found there", async () => {
  const { session } = await gate.newSession();
  const input = { id: newId("input"), text: "nobody else's business" };
  const first = await send(`/api/sessions/${session.id}/inputs`, input, "i");
  const holders = async () =>
    new Set((await gate.events()).flatMap((each) => (JSON.stringify(each).includes(input.text) ? [each.stream] : [])));
  expect(await holders()).toEqual(new Set([session.id]));
  await restart();
  expect(await send(`/api/sessions/${session.id}/inputs`, input, "i")).toEqual({
    status: 200,
    body: { ...first.body, kind: "duplicate" },
    replayed: false,
  });
  expect(await send(`/api/sessions/${session.id}/inputs`, { ...input, text: "another" }, "i")).toMatchObject(conflict);
  expect((await typesOf(session.id)).filter((type) => type === "input.admitted")).toHaveLength(1);
});

test("a session is begun once, with a key or without, and its first words are its own alone after a restart, too", async () => {
  const { project } = await gate.newSession();
  const begin = { projectId: project.id, input: { id: newId("input"), text: "nobody else's business" } };
  const first = await send("/api/sessions/begin", begin, "k1");
  expect(first).toMatchObject({ status: 201, body: { session: { title: "nobody else's business" } }, replayed: false });
  const { id } = first.body.session;
  expect(await send("/api/sessions/begin", begin, "k1")).toEqual({ ...first, replayed: true });
  expect((await send("/api/sessions/begin", begin, "k2")).body.session.id).toBe(id);
  const holders = (await gate.events()).filter((each) => JSON.stringify(each).includes("nobody else's"));
  expect(new Set(holders.map(({ stream }) => stream))).toEqual(new Set([id]));
  await restart();
  const again = await send("/api/sessions/begin", begin, "k1");
  expect([again.status, again.body.session.id, again.body.seq]).toEqual([201, id, first.body.seq]);
  const other = { ...begin, input: { ...begin.input, text: "another" } };
  expect((await gate.post("/api/sessions/begin", other)).status).toBe(409);
  expect(await typesOf(id)).toEqual(["session.created", "input.admitted"]);
  expect(await created()).toBe(2);
});

test("a token's secret is told again by the same daemon, and never kept", async () => {
  const first = await send("/api/tokens", { name: "ci" }, "k1");
  expect(await send("/api/tokens", { name: "ci" }, "k1")).toEqual({ ...first, replayed: true });
  expect(JSON.stringify(await gate.events())).not.toContain(first.body.token.slice(8));
  await restart();
  expect(await send("/api/tokens", { name: "ci" }, "k1")).toMatchObject(conflict);
  expect(gate.tokens.list().length).toBe(1);
});

test("a secret is told again to the token it was told to, and to no other of the same person", async () => {
  const { session } = await gate.newSession();
  const wide = await gate.token({ name: "wide", person: "ann", scope: "operate" });
  const narrow = await gate.token({ name: "narrow", person: "ann", scope: "operate", session: session.id });
  const wish = { body: { name: "more" }, headers: { "idempotency-key": "k1" } };
  const first = await wide.send("/api/tokens", wish);
  const second = await narrow.send("/api/tokens", wish);
  expect(second.body).toMatchObject({ session: session.id, madeWith: narrow.id });
  expect(second.body.token).not.toBe(first.body.token);
});

test("no more than the newest keys are remembered", async () => {
  const forgotten = Array.from({ length: 2000 }, (_, index) => `key-${index}`);
  const begun = (key: string) => event("request.begun", { key, body: "b", tail: "t", forgets: [] });
  await gate.log.append({ stream: "requests", actor: "person:owner", events: forgotten.map(begun) });
  await restart();
  await send("/api/login/codes", {}, "one-more");
  const rows = await gate.log.rows("requests", { orderBy: "seq" });
  expect({ count: rows.length, oldest: rows[0]?.["key"] }).toEqual({ count: 2000, oldest: "key-1" });
});
