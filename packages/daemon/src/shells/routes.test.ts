import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestGateway } from "../gateway/testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway();
});
afterEach(() => gate.close());

const told = ({ status, body }: { status: number; body: { code?: string } }) => ({ status, code: body.code });

async function openShell(body: object = {}) {
  const answer = await gate.post("/api/shells", body);
  return { status: answer.status, body: await answer.json() };
}

/** Starts a command and returns its address. */
async function start(shell: string, text: string): Promise<string> {
  const id = newId("command");
  const answer = await gate.post(`/api/shells/${shell}/commands`, { id, text });
  expect({ status: answer.status, body: await answer.json() }).toEqual({
    status: 202,
    body: { id, shell, state: "running" },
  });
  return `/api/shells/${shell}/commands/${id}`;
}

test("a shell is opened, runs a command, is listed and closed", async () => {
  const { status, body } = await openShell();
  expect({ status, body }).toEqual({
    status: 201,
    body: {
      id: expect.stringMatching(/^shl_/),
      environment: { kind: "jail", network: "off", access: "write" },
      workspace: "scratch",
      path: expect.any(String),
      actor: "person:owner",
      state: "resting",
      seq: expect.any(Number),
    },
  });
  const address = await start(body.id, "echo out; (exit 3)");
  expect(await (await gate.request(`${address}?wait=30`)).json()).toMatchObject({
    state: "ended",
    result: { exitCode: 3, stdout: "out\n" },
  });
  expect((await (await gate.request("/api/shells")).json()).shells).toMatchObject([{ id: body.id, state: "open" }]);
  const closed = await gate.request(`/api/shells/${body.id}`, { method: "DELETE" });
  expect({ status: closed.status, body: await closed.json() }).toEqual({ status: 200, body: { id: body.id } });
  expect((await (await gate.request("/api/shells")).json()).shells).toEqual([]);
  expect(await (await gate.request(address)).json()).toMatchObject({ state: "past", facts: { exitCode: 3 } });
});

test("whoever follows a command gets all of its output, undamaged, and then its end", async () => {
  const { body } = await openShell();
  const address = await start(body.id, "yes é€ | head -n 100000; printf '\\303'; echo err >&2");
  for (let again = 0; again < 2; again++) {
    const stream = await (await gate.request(`${address}?follow=1`)).text();
    const news = stream.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    const heard = { stdout: "", stderr: "" };
    for (const each of news.slice(0, -1)) heard[each.stream as "stdout" | "stderr"] += each.text;
    expect(heard).toEqual({ stdout: `${"é€\n".repeat(100_000)}\uFFFD`, stderr: "err\n" });
    // What is no text is told as bytes, too, and only that.
    expect(news.flatMap(({ bytes }) => bytes ?? [])).toEqual([Buffer.from([0xc3]).toString("base64")]);
    expect(news.at(-1)).toMatchObject({ kind: "command", command: { state: "ended", result: { exitCode: 0 } } });
  }
});

test("those who follow a command or wait for it may leave: it goes on, and the others get its end", async () => {
  const { body } = await openShell();
  const address = await start(body.id, "echo begun; until test -e go; do sleep 0.02; done; echo on");
  const leaving = new AbortController();
  const gone = (how: string) => gate.request(`${address}?${how}`, { signal: leaving.signal });
  const followed = (await gone("follow=1")).body!.pipeThrough(new TextDecoderStream());
  const waited = gone("wait=30").catch(String);
  const staying = ["follow=1", "wait=30"].map(async (how) => (await gate.request(`${address}?${how}`)).text());
  for await (const text of followed) if (text.includes("begun")) break;
  leaving.abort();
  expect(await waited).toContain("aborted");
  expect(await (await gate.request(address)).json()).toMatchObject({ state: "running" });
  writeFileSync(join(body.path, "go"), "");
  const ended = { state: "ended", result: { exitCode: 0, stdout: "begun\non\n" } };
  const [stream, view] = await Promise.all(staying);
  expect(JSON.parse(stream!.trimEnd().split("data: ").at(-1)!)).toMatchObject({ kind: "command", command: ended });
  expect(JSON.parse(view!)).toMatchObject(ended);
});

test("what a command left in the background and writes for ever keeps nobody from its end", async () => {
  const { body } = await openShell();
  const drip = "while :; do echo y; sleep 0.05; done";
  const address = await start(body.id, `(${drip}) & (${drip}) >&2 & (exit 3)`);
  const stream = await (await gate.request(`${address}?follow=1`)).text();
  const news = stream.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
  const end = news.at(-1);
  expect(end).toMatchObject({ kind: "command", command: { state: "ended", result: { exitCode: 3 } } });
  const heard = { stdout: "", stderr: "" };
  for (const each of news.slice(0, -1)) heard[each.stream as "stdout" | "stderr"] += each.text;
  const sizes = { stdout: end.command.result.stdoutBytes, stderr: end.command.result.stderrBytes };
  expect({ stdout: heard.stdout.length, stderr: heard.stderr.length }).toEqual(sizes);
});

test("an Idempotency-Key opens one shell, however often it is sent", async () => {
  const send = async () => (await gate.post("/api/shells", {}, { "idempotency-key": "once" })).json();
  expect((await send()).id).toBe((await send()).id);
  expect((await (await gate.request("/api/shells")).json()).shells).toHaveLength(1);
});

test("what has no walls is for admins: to open, to prompt, to go on with", async () => {
  const { project, session } = await gate.newSession();
  const { send } = await gate.token({ name: "ci", scope: "operate" });
  const local = { environment: { kind: "local" } };
  const refused = { status: 403, code: "auth.scope" };
  expect(told(await send("/api/shells", { body: local }))).toEqual(refused);
  expect(told(await send("/api/sessions", { body: { projectId: project.id, ...local } }))).toEqual(refused);
  expect(told(await send(`/api/sessions/${session.id}/inputs`, { body: { id: "inp_1", text: "hi" } }))).toMatchObject({
    status: 202,
  });
  const unwalled = await (await gate.post("/api/sessions", { projectId: project.id, ...local })).json();
  expect(unwalled.environment).toEqual({ kind: "local", network: "open", access: "write" });
  const prompt = { body: { id: "inp_2", text: "hi" } };
  expect(told(await send(`/api/sessions/${unwalled.id}/inputs`, prompt))).toEqual(refused);
});

test.each([{ network: "off" }, { network: "allow" }, { allow: ["example.org"] }, { access: "read" }])(
  "without walls %o is refused, not promised",
  async (asked) => {
    const { project } = await gate.newSession();
    const environment = { kind: "local", ...asked };
    for (const path of ["/api/shells", "/api/sessions"]) {
      const answer = await gate.post(path, { projectId: project.id, environment });
      expect({ status: answer.status, code: (await answer.json()).code }).toEqual({
        status: 422,
        code: "environment.unkept",
      });
    }
  },
);

test.each([{ network: "allow" }, { allow: ["example.org"] }])(
  "%o is for sessions and for shells",
  async (environment) => {
    const { project } = await gate.newSession();
    for (const path of ["/api/sessions", "/api/shells"]) {
      const made = await gate.post(path, { projectId: project.id, environment });
      expect((await made.json()).environment).toEqual({
        kind: "jail",
        network: "allow",
        access: "write",
        ...environment,
      });
    }
  },
);

test("a token for one project sees its shells and no others", async () => {
  const { project } = await gate.newSession();
  const { project: other } = await gate.newSession("other");
  const mine = (await openShell({ projectId: project.id })).body;
  const theirs = (await openShell({ projectId: other.id })).body;
  const nobodys = (await openShell()).body;
  const { send } = await gate.token({ name: "ci", scope: "operate", project: project.id });
  expect((await send("/api/shells")).body.shells.map(({ id }: { id: string }) => id)).toEqual([mine.id]);
  const command = { body: { id: "cmd_1", text: "true" } };
  for (const { id } of [theirs, nobodys]) {
    for (const answer of [
      await send(`/api/shells/${id}`),
      await send(`/api/shells/${id}/commands`, command),
      await send(`/api/shells/${id}/interrupt`, { body: {} }),
      await send(`/api/shells/${id}`, { method: "DELETE" }),
    ])
      expect(told(answer)).toEqual({ status: 404, code: "not-found" });
  }
  expect(told(await send("/api/shells", { body: { projectId: other.id } }))).toEqual({
    status: 404,
    code: "not-found",
  });
  expect(told(await send("/api/shells", { body: {} }))).toEqual({ status: 404, code: "not-found" });
  expect((await send("/api/shells", { body: { projectId: project.id } })).status).toBe(201);
});
