import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { join } from "node:path";
import { createToken, newId, scopes } from "@corral/protocol";
import { type Route, routes } from "@corral/protocol/routes";
import { WebSocket } from "ws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, openTestGateway } from "../gateway/testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway();
});
afterEach(() => gate.close());

const told = ({ status, body }: { status: number; body: { code?: string } }) => ({ status, code: body.code });
const refused = { status: 403, code: "auth.scope" };
const notFound = { status: 404, code: "not-found" };
const unauthenticated = { status: 401, code: "auth.missing" };

/** A stream of events that reads, and when it ended. */
async function follow(headers: Record<string, string>, path = "/api/events?follow=1") {
  const sent = httpRequest(gate.gateway.url + path, { headers, agent: false });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const seqs = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
  return { seqs, text: () => text, ended: once(response, "end") };
}

describe("a token", () => {
  test("is made by the owner, told once, listed without its secret, and revoked", async () => {
    const made = await gate.post("/api/tokens", { name: "ci", scope: "prompt" });
    const { token, ...view } = await made.json();
    expect({ status: made.status, caching: made.headers.get("cache-control"), view }).toEqual({
      status: 201,
      caching: "no-store",
      view: { id: expect.stringMatching(/^tok_/), name: "ci", person: "ci", scope: "prompt", state: "valid" },
    });
    expect(token).toMatch(/^corral_[\w-]{43}$/);
    expect(await (await gate.request("/api/tokens")).json()).toEqual({ tokens: [view] });
    const revoke = async () => (await gate.post(`/api/tokens/${view.id}/revoke`, {})).json();
    expect([await revoke(), await revoke()]).toEqual([
      { kind: "revoked", id: view.id },
      { kind: "already-revoked", id: view.id },
    ]);
    expect(await (await gate.request("/api/tokens")).json()).toEqual({ tokens: [{ ...view, state: "revoked" }] });
    expect(told(await ask(gate.gateway.url, { path: "/api/sessions", headers: { authorization: token } }))).toEqual(
      unauthenticated,
    );
  });

  test("signs what is done with it by its person's name", async () => {
    const { project } = await gate.newSession();
    const { send } = await gate.token({ name: "laptop", person: "ann", scope: "operate" });
    const { body } = await send("/api/sessions", { body: { projectId: project.id } });
    await send("/api/tokens", { body: { name: "sub" } });
    const events = await gate.events();
    expect(events.map(({ type, actor }) => `${type} ${actor}`)).toEqual([
      "project.registered person:owner",
      "session.created person:owner",
      "token.created person:owner",
      "session.created person:ann",
      "token.created person:ann",
    ]);
    expect(body.id).toBe(events[3]?.stream);
  });

  test("finds a project by its folder only among those it sees, and has no other folder looked at", async () => {
    const { project: one } = await gate.newSession("one");
    const { project: two } = await gate.newSession("two");
    const link = join(gate.folder, "link");
    symlinkSync(one.path, link);
    const places = [one.path, join(one.path, ".git/.."), two.path, link, `${one.path}/../two`];
    const found = async ({ send }: Pick<Awaited<ReturnType<typeof gate.token>>, "send">) => {
      const answers = places.map((path) => send(`/api/projects?path=${encodeURIComponent(path)}`));
      return (await Promise.all(answers)).map(({ body }) => body.projects.map(({ id }: { id: string }) => id));
    };
    const admin = await gate.token({ name: "admin", scope: "admin" });
    expect(await found(admin)).toEqual([[one.id], [one.id], [two.id], [one.id], [two.id]]);
    const reader = await gate.token({ name: "reader", scope: "operate" });
    expect(await found(reader)).toEqual([[one.id], [one.id], [two.id], [], [two.id]]);
    const bounded = await gate.token({ name: "bounded", scope: "admin", project: one.id });
    expect(await found(bounded)).toEqual([[one.id], [one.id], [], [], []]);
  });

  test("ends at its time", async () => {
    let now = Date.now();
    const timed = await openTestGateway({ now: () => now });
    const { send } = await timed.token({ name: "ci", expiresInSeconds: 60 });
    now += 59_999;
    expect((await send("/api/sessions")).status).toBe(200);
    now += 1;
    expect(told(await send("/api/sessions"))).toEqual(unauthenticated);
    await timed.close();
  });

  test("for what does not exist is not made", async () => {
    expect((await gate.post("/api/tokens", { name: "x", project: "prj_none" })).status).toBe(404);
    expect((await gate.post("/api/tokens", { name: "x", session: "ses_none" })).status).toBe(404);
    expect(gate.tokens.list()).toEqual([]);
  });
});

describe("scopes", () => {
  /** A request to each route, as far as it can be asked without breaking the test. */
  const requests = (
    session: string,
    project: string,
  ): Record<string, { path: string; method?: string; body?: object }> => ({
    "GET /metrics": { path: "/metrics" },
    "GET /api/status": { path: "/api/status" },
    "GET /api/doctor": { path: "/api/doctor" },
    "GET /api/openapi.json": { path: "/api/openapi.json" },
    "POST /api/login/codes": { path: "/api/login/codes", body: {} },
    "POST /api/logout": { path: "/api/logout", body: {} },
    "GET /api/tokens": { path: "/api/tokens" },
    "POST /api/tokens": { path: "/api/tokens", body: { name: "more" } },
    "POST /api/tokens/:id/revoke": { path: "/api/tokens/tok_none/revoke", body: {} },
    "GET /api/projects": { path: "/api/projects" },
    "POST /api/projects": { path: "/api/projects", body: { path: "/nowhere" } },
    "POST /api/projects/:id/forget": { path: "/api/projects/prj_none/forget", body: {} },
    "GET /api/projects/:id/trust": { path: `/api/projects/${project}/trust` },
    "POST /api/projects/:id/trust": { path: `/api/projects/${project}/trust`, body: { files: [] } },
    "GET /api/config": { path: "/api/config" },
    "PUT /api/config": { path: "/api/config", method: "PUT", body: { key: "turnLimit", value: 7 } },
    "POST /api/config/upgrade": { path: "/api/config/upgrade", body: {} },
    "GET /api/network": { path: "/api/network" },
    "GET /api/rules": { path: "/api/rules" },
    "POST /api/rules/check": { path: "/api/rules/check", body: { command: "ls" } },
    "GET /api/rules/kept": { path: "/api/rules/kept" },
    "DELETE /api/rules/kept/:id": { path: "/api/rules/kept/rul_1", method: "DELETE" },
    "GET /api/models": { path: "/api/models" },
    "GET /api/usage": { path: "/api/usage?by=day" },
    "GET /api/credentials": { path: "/api/credentials" },
    "PUT /api/credentials/:provider": { path: "/api/credentials/openai", method: "PUT", body: { key: "k" } },
    "DELETE /api/credentials/:provider": { path: "/api/credentials/openai", method: "DELETE" },
    "POST /api/credentials/:provider/test": { path: "/api/credentials/nobody/test", body: {} },
    "GET /api/audit": { path: "/api/audit" },
    "GET /api/audit/entries/:id": { path: "/api/audit/entries/cal_1" },
    "GET /api/audit/head": { path: "/api/audit/head" },
    "GET /api/audit/verify": { path: "/api/audit/verify" },
    "GET /api/sessions": { path: "/api/sessions" },
    "POST /api/sessions": { path: "/api/sessions", body: { projectId: project } },
    "POST /api/sessions/begin": {
      path: "/api/sessions/begin",
      body: { projectId: project, input: { id: "inp_begun", text: "hi" } },
    },
    "GET /api/sessions/:id": { path: `/api/sessions/${session}` },
    "DELETE /api/sessions/:id": { path: "/api/sessions/ses_none", method: "DELETE" },
    "POST /api/sessions/:id/inputs": { path: `/api/sessions/${session}/inputs`, body: { id: "inp_1", text: "hi" } },
    "POST /api/sessions/:id/attachments": {
      path: `/api/sessions/${session}/attachments`,
      body: { name: "notes.txt", base64: "aGk=" },
    },
    "GET /api/sessions/search": { path: "/api/sessions/search?words=x" },
    "GET /api/sessions/:id/inputs": { path: `/api/sessions/${session}/inputs` },
    "POST /api/sessions/:id/inputs/:input": {
      path: `/api/sessions/${session}/inputs/inp_none`,
      body: { change: "cancel" },
    },
    "POST /api/sessions/:id/queue": { path: `/api/sessions/${session}/queue`, body: { decision: "park" } },
    "POST /api/sessions/:id/continue": { path: `/api/sessions/${session}/continue`, body: {} },
    "POST /api/sessions/:id/rename": { path: `/api/sessions/${session}/rename`, body: { title: "x" } },
    "POST /api/sessions/:id/archive": { path: `/api/sessions/${session}/archive`, body: {} },
    "POST /api/sessions/:id/unarchive": { path: `/api/sessions/${session}/unarchive`, body: {} },
    "POST /api/sessions/:id/interrupt": { path: `/api/sessions/${session}/interrupt`, body: {} },
    "POST /api/sessions/:id/recovery": {
      path: `/api/sessions/${session}/recovery`,
      body: { call: "cal_1", decision: "retry" },
    },
    "GET /api/shells": { path: "/api/shells" },
    "POST /api/shells": { path: "/api/shells", body: { workspace: "scratch" } },
    "GET /api/shells/:id": { path: "/api/shells/shl_none" },
    "DELETE /api/shells/:id": { path: "/api/shells/shl_none", method: "DELETE" },
    "POST /api/shells/:id/commands": { path: "/api/shells/shl_none/commands", body: { id: "cmd_1", text: "true" } },
    "GET /api/shells/:id/commands/:command": { path: "/api/shells/shl_none/commands/cmd_1" },
    "POST /api/shells/:id/interrupt": { path: "/api/shells/shl_none/interrupt", body: {} },
    "GET /api/shells/:id/terminals": { path: "/api/shells/shl_none/terminals" },
    "POST /api/shells/:id/terminals": { path: "/api/shells/shl_none/terminals", body: {} },
    "GET /api/shells/:id/terminals/:terminal": { path: "/api/shells/shl_none/terminals/trm_none" },
    "DELETE /api/shells/:id/terminals/:terminal": {
      path: "/api/shells/shl_none/terminals/trm_none",
      method: "DELETE",
    },
    "GET /api/shells/:id/terminals/:terminal/scrollback": {
      path: "/api/shells/shl_none/terminals/trm_none/scrollback",
    },
    "GET /api/shells/:id/terminals/:terminal/stream": { path: "/api/shells/shl_none/terminals/trm_none/stream" },
    "GET /api/terminals": { path: "/api/terminals" },
    "GET /api/sessions/:id/terminals": { path: "/api/sessions/ses_none/terminals" },
    "POST /api/sessions/:id/terminals": { path: "/api/sessions/ses_none/terminals", body: {} },
    "GET /api/sessions/:id/terminals/:terminal": { path: "/api/sessions/ses_none/terminals/trm_none" },
    "DELETE /api/sessions/:id/terminals/:terminal": {
      path: "/api/sessions/ses_none/terminals/trm_none",
      method: "DELETE",
    },
    "GET /api/sessions/:id/terminals/:terminal/scrollback": {
      path: "/api/sessions/ses_none/terminals/trm_none/scrollback",
    },
    "GET /api/sessions/:id/terminals/:terminal/stream": { path: "/api/sessions/ses_none/terminals/trm_none/stream" },
    "GET /api/questions": { path: "/api/questions" },
    "GET /api/questions/:id": { path: "/api/questions/que_none" },
    "POST /api/questions/:id/answer": { path: "/api/questions/que_none/answer", body: { text: "yes" } },
    "POST /api/questions/:id/cancel": { path: "/api/questions/que_none/cancel", body: {} },
    "GET /api/events": { path: "/api/events" },
    "GET /api/sessions/:id/diff": { path: `/api/sessions/${session}/diff` },
    "POST /api/sessions/:id/bring-back": { path: `/api/sessions/${session}/bring-back`, body: {} },
    "POST /api/sessions/:id/merge": { path: `/api/sessions/${session}/merge`, body: {} },
    "POST /api/sessions/:id/discard": { path: `/api/sessions/${session}/discard`, body: {} },
    "POST /api/sessions/:id/setup": { path: `/api/sessions/${session}/setup`, body: { decision: "again" } },
    "GET /api/sessions/:id/artifacts": { path: `/api/sessions/${session}/artifacts` },
    "GET /api/shells/:id/artifacts": { path: "/api/shells/shl_none/artifacts" },
    "GET /api/artifacts/:id": { path: "/api/artifacts/art_none" },
    "GET /api/artifacts/:id/content": { path: "/api/artifacts/art_none/content" },
    "GET /api/sessions/:id/snapshots": { path: `/api/sessions/${session}/snapshots` },
    "POST /api/sessions/:id/snapshots": { path: `/api/sessions/${session}/snapshots`, body: {} },
    "GET /api/shells/:id/snapshots": { path: "/api/shells/shl_none/snapshots" },
    "POST /api/shells/:id/snapshots": { path: "/api/shells/shl_none/snapshots", body: {} },
    "GET /api/snapshots/:id": { path: "/api/snapshots/snp_none" },
    "GET /api/snapshots/:id/diff": { path: "/api/snapshots/snp_none/diff" },
    "POST /api/snapshots/:id/restore": { path: "/api/snapshots/snp_none/restore", body: {} },
    "GET /api/sessions/:id/events": { path: `/api/sessions/${session}/events` },
    "GET /api/stream": { path: "/api/stream" },
    "POST /api/daemon/stop": { path: "/api/daemon/stop", body: {} },
    "POST /api/backups": { path: "/api/backups", body: {} },
  });

  test("each route takes tokens from its scope on and refuses those below, without doing anything", async () => {
    const { session, project } = await gate.newSession();
    const asked = requests(session.id, project.id);
    const scoped = Object.values<Route>(routes).flatMap((each) =>
      "scope" in each ? [{ route: each.route, needed: each.scope }] : [],
    );
    expect(new Set(Object.keys(asked))).toEqual(new Set(scoped.map(({ route }) => route)));
    for (const scope of scopes) {
      const { send } = await gate.token({ name: scope, scope });
      for (const { route, needed } of scoped) {
        const { path, ...init } = asked[route]!;
        const before = await gate.log.head();
        const { status, body: answer } = await send(path, init);
        const allowed = scopes.indexOf(scope) >= scopes.indexOf(needed);
        const done = (await gate.log.head()) > before;
        expect({ scope, route, refused: answer.code === "auth.scope" && status === 403 && !done }).toEqual({
          scope,
          route,
          refused: !allowed,
        });
      }
    }
  });

  test("who is no admin makes tokens for themselves, no wider than their own", async () => {
    const { session, project } = await gate.newSession();
    const { send } = await gate.token({ name: "ann", scope: "operate", project: project.id });
    const make = async (wish: object) => told(await send("/api/tokens", { body: { name: "more", ...wish } }));
    expect(await make({ scope: "admin" })).toEqual(refused);
    expect(await make({ person: "bob" })).toEqual(refused);
    expect(await make({ project: "prj_other" })).toEqual(notFound);
    const { body } = await send("/api/tokens", { body: { name: "sub", scope: "read", session: session.id } });
    expect(body).toMatchObject({ person: "ann", project: project.id, session: session.id });
    const other = await gate.token({ name: "bob" });
    expect((await send("/api/tokens")).body.tokens.map(({ name }: { name: string }) => name)).toEqual(["ann", "sub"]);
    expect(told(await send(`/api/tokens/${other.id}/revoke`, { body: {} }))).toEqual(notFound);
    expect((await send(`/api/tokens/${body.id}/revoke`, { body: {} })).body.kind).toBe("revoked");
  });
});

describe("bounds", () => {
  async function twoProjects() {
    const one = await gate.newSession("one");
    const other = await gate.newSession("other");
    return { one, other };
  }

  test("a token for one session finds no other, nor any project", async () => {
    const { one, other } = await twoProjects();
    const { send } = await gate.token({ name: "a", scope: "admin", session: one.session.id });
    expect((await send("/api/sessions")).body.sessions.map(({ id }: { id: string }) => id)).toEqual([one.session.id]);
    expect((await send("/api/projects")).body).toEqual({ projects: [] });
    expect((await send(`/api/sessions/${one.session.id}`)).status).toBe(200);
    const paths = ["", "/events", "/events?follow=1"].map((rest) => `/api/sessions/${other.session.id}${rest}`);
    for (const path of [...paths, `/api/events?session=${other.session.id}`, `/api/events?project=${one.project.id}`]) {
      expect({ path, ...told(await send(path)) }).toEqual({ path, ...notFound });
    }
    for (const deed of ["inputs", "interrupt", "recovery"]) {
      const body = { inputs: { id: newId("input"), text: "x" }, recovery: { call: "cal_1", decision: "retry" } }[deed];
      const answer = await send(`/api/sessions/${other.session.id}/${deed}`, { body: body ?? {} });
      expect({ deed, ...told(answer) }).toEqual({ deed, ...notFound });
    }
    expect(told(await send("/api/sessions", { body: { projectId: one.project.id } }))).toEqual(refused);
    expect(told(await send("/api/daemon/stop", { body: {} }))).toEqual(refused);
    expect(told(await send("/metrics"))).toEqual(refused);
    expect(told(await send("/api/status"))).toEqual(refused);
    expect(told(await send("/api/config"))).toEqual(refused);
    expect(told(await send("/api/config", { method: "PUT", body: { key: "turnLimit", value: 7 } }))).toEqual(refused);
    expect(told(await send(`/api/projects/${one.project.id}/trust`))).toEqual(notFound);
    expect(told(await send(`/api/projects/${one.project.id}/forget`, { body: {} }))).toEqual(notFound);
  });

  test("a token for one project sees its sessions, and those alone, in lists, pages and streams", async () => {
    const { one, other } = await twoProjects();
    const { send, headers } = await gate.token({ name: "a", scope: "prompt", project: one.project.id });
    expect((await send("/api/projects")).body.projects.map(({ id }: { id: string }) => id)).toEqual([one.project.id]);
    expect((await send("/api/sessions")).body.sessions.map(({ id }: { id: string }) => id)).toEqual([one.session.id]);
    expect(told(await send("/api/sessions", { body: { projectId: other.project.id } }))).toEqual(notFound);
    const stream = await follow(headers);
    const made = await send("/api/sessions", { body: { projectId: one.project.id } });
    await gate.newSession("other");
    await gate.post(`/api/sessions/${made.body.id}/inputs`, { id: newId("input"), text: "hi" });
    const events = await gate.events();
    const own = events.filter((each) => [one.project.id, one.session.id, made.body.id].includes(each.stream));
    expect(own.length).toBe(4);
    await expect.poll(stream.seqs).toEqual(own.map(({ seq }) => seq));
    expect((await send("/api/events")).body.events).toEqual(own);
  });

  test("tokens and requests of others are no business of who is not an admin", async () => {
    await gate.newSession();
    const reader = await gate.token({ name: "r" });
    const admin = await gate.token({ name: "a", scope: "admin" });
    const types = async ({ send }: typeof reader) =>
      (await send("/api/events")).body.events.map(({ type }: { type: string }) => type);
    expect(await types(reader)).toEqual(["project.registered", "session.created"]);
    expect(await types(admin)).toEqual(["project.registered", "session.created", "token.created", "token.created"]);
  });
});

describe("revoking", () => {
  test("closes the token's streams and sockets, those of its visits and of tokens made with it, at once", async () => {
    const { headers, id, send } = await gate.token({ name: "a", scope: "operate" });
    const { url } = gate.gateway;
    const sub = (await send("/api/tokens", { body: { name: "sub" } })).body;
    const { code } = (await send("/api/login/codes", { body: {} })).body;
    const entered = await ask(url, {
      method: "POST",
      path: "/api/login",
      headers: { origin: url, "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
    const cookie = entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    const streams = await Promise.all([
      follow(headers),
      follow({ authorization: `Bearer ${sub.token}` }),
      follow({ cookie }),
    ]);
    const sockets = [
      new WebSocket(`${url.replace("http", "ws")}/api/stream`, { headers }),
      new WebSocket(`${url.replace("http", "ws")}/api/stream`, { headers: { cookie, origin: url } }),
    ];
    await Promise.all(sockets.map((socket) => once(socket, "message")));
    const closed = sockets.map((socket) => once(socket, "close"));
    const bystander = await follow((await gate.token({ name: "b" })).headers);

    await gate.post(`/api/tokens/${id}/revoke`, {});
    await Promise.all(streams.map(({ ended }) => ended));
    expect((await Promise.all(closed)).map(([status]) => status)).toEqual([1008, 1008]);
    expect(told(await ask(url, { path: "/api/sessions", headers: { cookie } }))).toEqual(unauthenticated);
    expect(told(await send("/api/sessions"))).toEqual(unauthenticated);
    const { session } = await gate.newSession();
    await expect.poll(bystander.text).toContain(session.id);
  });

  test("a code made with a token opens nothing once that is revoked", async () => {
    const { id, send } = await gate.token({ name: "a" });
    const { code } = (await send("/api/login/codes", { body: {} })).body;
    await gate.post(`/api/tokens/${id}/revoke`, {});
    const { url } = gate.gateway;
    const headers = { origin: url, "content-type": "application/json" };
    const entered = await ask(url, { method: "POST", path: "/api/login", headers, body: JSON.stringify({ code }) });
    expect(told(entered)).toEqual(unauthenticated);
  });

  test("a visit reaches as far as who made its link", async () => {
    const { session } = await gate.newSession();
    const { send } = await gate.token({ name: "ann", session: session.id });
    const { code } = (await send("/api/login/codes", { body: {} })).body;
    const { url } = gate.gateway;
    const headers = { origin: url, "content-type": "application/json" };
    const entered = await ask(url, { method: "POST", path: "/api/login", headers, body: JSON.stringify({ code }) });
    const cookie = entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    const other = await gate.newSession("other");
    const path = `/api/sessions/${session.id}`;
    expect((await ask(url, { path, headers: { cookie } })).status).toBe(200);
    const foreign = await ask(url, { path: `/api/sessions/${other.session.id}`, headers: { cookie } });
    expect(told(foreign)).toEqual(notFound);
    const body = JSON.stringify({ id: newId("input"), text: "x" });
    const input = { method: "POST", path: `${path}/inputs`, headers: { ...headers, cookie }, body };
    expect(told(await ask(url, input))).toEqual(refused);
  });
});

test("names of tokens and persons are plain", () => {
  for (const name of ["", "a b", "../x", "a\nb", "x".repeat(65)])
    expect(createToken.safeParse({ name }).success).toBe(false);
  for (const name of ["ci", "ann@home", "A.b-c_1"]) expect(createToken.safeParse({ name }).success).toBe(true);
});
