import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { CorralError, event, newId } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { historyOf } from "../log/index.ts";
import { ask, openTestGateway, testToken } from "./testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway();
});
afterEach(() => gate.close());

/** A request with headers that `fetch` would not send. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = "",
): Promise<{ status: number; code: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(gate.gateway.url + path, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, code: JSON.parse(text).code }));
    });
    sent.on("error", reject).end(body);
  });
}

/** All that comes back for these bytes, until the connection is closed. */
function rawAnswer(bytes: string): Promise<string> {
  const { port } = new URL(gate.gateway.url);
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.on("close", () => resolve(text));
  });
}

const authorization = `Bearer ${testToken}`;
const json = "application/json";

describe("who may ask", () => {
  test("health is told without a token, and only that", async () => {
    const response = await fetch(`${gate.gateway.url}/healthz`);
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 200,
      body: { ok: true, version: "1.2.3" },
    });
  });

  test.each([
    ["no token", {}],
    ["a wrong token", { authorization: "Bearer nope" }],
    ["another scheme", { authorization: `Basic ${testToken}` }],
  ])("%s is refused on every route of the API, streams and unknown ones too", async (_name, headers) => {
    const paths = [
      "/api/sessions",
      "/%61pi/sessions",
      "/api/events?follow=1",
      "/api/openapi.json",
      "/api/nothing",
      "/api/stream",
      "/api/tokens",
      "/metrics",
    ];
    for (const path of paths) {
      expect({ path, ...(await raw("GET", path, headers)) }).toEqual({ path, status: 401, code: "auth.missing" });
    }
    expect(await raw("POST", "/api/daemon/stop", { ...headers, "content-type": json }, "{}")).toEqual({
      status: 401,
      code: "auth.missing",
    });
    expect(gate.stops).toEqual([]);
  });

  test("a refusal is a problem document that says what to do", async () => {
    const response = await fetch(`${gate.gateway.url}/api/sessions`);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toEqual({
      type: "urn:corral:error:auth.missing",
      title: "Not authenticated: no token was given",
      status: 401,
      code: "auth.missing",
      retry: "never",
      hint: "Send the content of the file `token` in the daemon's home as `Authorization: Bearer TOKEN`",
    });
  });

  test("a foreign Host is refused, the machine's own names are not", async () => {
    const { port } = new URL(gate.gateway.url);
    const status = async (host: string) => (await raw("GET", "/api/sessions", { host, authorization })).status;
    expect(
      await Promise.all(
        ["evil.example", `evil.example:${port}`, "127.0.0.1", `127.0.0.1.evil.example:${port}`].map(status),
      ),
    ).toEqual([421, 421, 421, 421]);
    expect(await Promise.all([`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`].map(status))).toEqual([
      200, 200, 200,
    ]);
    expect((await raw("GET", "/healthz", { host: "evil.example" })).status).toBe(421);
  });

  test("a header that decides who asks is refused when it is there twice", async () => {
    const { host } = new URL(gate.gateway.url);
    const fields = [`Host: ${host}`, `Authorization: ${authorization}`, `Origin: http://${host}`];
    const said = async (...more: string[]) => {
      const lines = [
        "GET /api/sessions HTTP/1.1",
        ...fields,
        "Content-Type: application/json",
        "Connection: close",
        ...more,
      ];
      return (await rawAnswer(`${lines.join("\r\n")}\r\n\r\n`)).slice(0, 12);
    };
    expect(await said()).toBe("HTTP/1.1 200");
    const twice = ["Host: evil.example", ...fields, "AUTHORIZATION: Bearer other", "content-type: text/plain"];
    for (const each of twice) expect([each, await said(each)]).toEqual([each, "HTTP/1.1 400"]);
  });

  test("a name with a dot at its end is the name without it, wherever it stands", async () => {
    const named = await openTestGateway({ allowedHosts: ["corral.example.", "other.example:1234"] });
    const { port, hostname } = new URL(named.gateway.url);
    const status = async (host: string, origin: string) => {
      const headers = { host, origin, authorization };
      return (await ask(named.gateway.url, { path: "/api/sessions", headers })).status;
    };
    for (const name of ["localhost", "LOCALHOST.", "corral.example", "corral.example."]) {
      expect([name, await status(`${name}:${port}`, `http://${name}:${port}`)]).toEqual([name, 200]);
    }
    expect(await status(`localhost.:${port}`, `http://localhost:${port}`)).toBe(200);
    expect(await status("other.example.:1234", "http://other.example:1234")).toBe(200);
    const foreign = ["localhost..", ".localhost", "localhost.evil.example", "127.0.0.1.evil.example."];
    for (const name of foreign) {
      expect([name, await status(`${name}:${port}`, `http://${hostname}:${port}`)]).toEqual([name, 421]);
      expect([name, await status(`${hostname}:${port}`, `http://${name}:${port}`)]).toEqual([name, 403]);
    }
    await named.close();
  });

  test("a page of another origin is refused, another port of this machine included", async () => {
    const { port } = new URL(gate.gateway.url);
    const status = async (origin: string) => (await raw("GET", "/api/sessions", { origin, authorization })).status;
    const foreign = [
      "https://evil.example",
      "null",
      `http://127.0.0.1:${Number(port) - 1}`,
      `https://127.0.0.1:${port}`,
    ];
    expect(await Promise.all(foreign.map(status))).toEqual([403, 403, 403, 403]);
    expect(await status(gate.gateway.url)).toBe(200);
  });
});

describe("what a request must look like", () => {
  test.each([
    ["a form's text/plain", { "content-type": "text/plain" }],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["no media type", {}],
    ["compressed JSON", { "content-type": json, "content-encoding": "gzip" }],
  ])("%s is refused and changes nothing", async (_name, headers) => {
    const answer = await raw("POST", "/api/projects", { ...headers, authorization }, '{"path":"/x"}');
    expect(answer).toEqual({ status: 415, code: "request.media-type" });
    expect(await gate.projects.list()).toEqual([]);
  });

  test.each([
    ["malformed JSON", '{"path":'],
    ["an empty body", ""],
    ["a prototype", '{"path":"/x","__proto__":{"a":1}}'],
    ["deep nesting", "[".repeat(1_000_000)],
    ["deep nesting that closes", "[".repeat(900_000) + "]".repeat(900_000)],
  ])("%s is an invalid request", async (_name, body) => {
    const answer = await raw("POST", "/api/projects", { "content-type": json, authorization }, body);
    expect(answer).toEqual({ status: 400, code: "request.invalid" });
  });

  test("a field of the wrong shape is named", async () => {
    const { session } = await gate.newSession();
    const response = await gate.post(`/api/sessions/${session.id}/inputs`, { id: "../etc", text: 7 });
    expect({ status: response.status, ...(await response.json()) }).toMatchObject({
      status: 400,
      code: "request.invalid",
      detail: "id: expected an id like inp_01k…; text: Invalid input: expected string, received number",
    });
  });

  test("an id in the path that is no id is invalid", async () => {
    expect((await raw("GET", "/api/sessions/..%2f..%2fetc", { authorization })).status).toBe(400);
    expect((await raw("GET", "/api/sessions/%zz", { authorization })).status).toBe(400);
  });

  test("a body past the limit is refused", async () => {
    const answer = await raw(
      "POST",
      "/api/projects",
      { "content-type": json, authorization },
      `{"path":"${"x".repeat(2 * 1024 * 1024)}"}`,
    );
    expect(answer).toEqual({ status: 413, code: "request.too-large" });
  });

  test("an unknown route is a problem", async () => {
    expect(await raw("GET", "/api/nothing", { authorization })).toEqual({ status: 404, code: "route.unknown" });
    expect(await raw("GET", "/nothing", {})).toEqual({ status: 404, code: "route.unknown" });
    expect(await raw("PUT", "/api/sessions", { authorization })).toEqual({ status: 404, code: "route.unknown" });
  });

  test("bytes that are no HTTP get a problem and the door", async () => {
    const answer = await rawAnswer("what?\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1.1 400 [^]*"code":"request.invalid"/);
  });
});

describe("what is done", () => {
  test("an input is admitted once, told when it is a duplicate, and refused when it differs", async () => {
    const { session } = await gate.newSession();
    const input = { id: newId("input"), text: "hello" };
    const send = async (body: object) => {
      const response = await gate.post(`/api/sessions/${session.id}/inputs`, body);
      return { status: response.status, body: await response.json() };
    };
    const view = { ...input, attachments: [], delivery: "steer", state: "waiting", activityId: null, version: 3 };
    expect(await send(input)).toEqual({ status: 202, body: { kind: "admitted", input: view, seq: 3 } });
    expect(await send(input)).toEqual({ status: 200, body: { kind: "duplicate", input: view, seq: 3 } });
    expect(await send({ ...input, text: "other" })).toMatchObject({
      status: 409,
      body: { code: "input.conflict", title: "this id was admitted before with another body" },
    });
  });

  test("projects and sessions can be listed and read", async () => {
    const { project, session } = await gate.newSession();
    const read = async (path: string) => (await gate.request(path)).json();
    const { id, path, name, present } = project;
    expect(await read("/api/projects")).toEqual({ projects: [{ id, path, name, present, seq: 2 }] });
    expect(await read("/api/sessions")).toEqual({ sessions: [session] });
    expect(await read(`/api/sessions/${session.id}`)).toEqual(session);
    expect(await read("/api/sessions/ses_none")).toMatchObject({ status: 404, code: "not-found" });
    expect(await read("/api/sessions/ses_none/events")).toMatchObject({ status: 404, code: "not-found" });
  });

  test("interrupting says whether anything runs, and what does not wait for a decision is a conflict", async () => {
    const { session } = await gate.newSession();
    const send = async (path: string, body: object) => {
      const response = await gate.post(`/api/sessions/${session.id}/${path}`, body);
      return { status: response.status, body: await response.json() };
    };
    const nothing = { status: 409, body: { code: "recovery.nothing" } };
    expect(await send("interrupt", {})).toEqual({ status: 200, body: { kind: "nothing-running" } });
    expect(await send("recovery", { call: "cal_lost", decision: "retry" })).toMatchObject(nothing);
    await gate.add(
      session.id,
      event("activity.opened", { id: "act_1" }),
      event("call.unknown", { id: "cal_lost", reason: "the jail ended" }),
      event("activity.waiting", { id: "act_1", on: "recovery" }),
    );
    expect(await send("recovery", { call: "cal_other", decision: "retry" })).toMatchObject(nothing);
    expect(await send("recovery", { call: "cal_lost", decision: "retry" })).toEqual({
      status: 200,
      body: { kind: "decided" },
    });
    expect(await send("recovery", { call: "cal_lost", decision: "retry" })).toMatchObject(nothing);
    expect(await send("interrupt", {})).toEqual({ status: 202, body: { kind: "requested" } });
  });

  test("events come in pages with a cursor", async () => {
    const { session } = await gate.newSession();
    const read = async (path: string) => (await gate.request(path)).json();
    const first = await read("/api/events?limit=1");
    expect(first).toMatchObject({ events: [{ seq: 1, type: "project.registered" }], next: 1 });
    expect(await read(`/api/events?after=${first.next}`)).toMatchObject({ events: [{ seq: 2 }], next: 2 });
    expect(await read("/api/events?after=2")).toEqual({ events: [], next: 2 });
    expect(await read(`/api/sessions/${session.id}/events`)).toMatchObject({ events: [{ seq: 2 }], next: 2 });
    expect(await read("/api/events?after=-1")).toMatchObject({ status: 400, code: "request.invalid" });
  });

  test("a request to stop is answered before it is passed on", async () => {
    const response = await gate.post("/api/daemon/stop", { now: true });
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 202,
      body: { kind: "stopping" },
    });
    await expect.poll(() => gate.stops).toEqual([true]);
  });
});

test("an unexpected error lets nothing out but is logged, and an expected one keeps its code", async () => {
  const failing = await openTestGateway({
    projects: {
      ...gate.projects,
      register: () => Promise.reject(new CorralError("project.not-a-repo", "No repository here", { hint: "git init" })),
      list: () => Promise.reject(new Error("secret detail")),
    },
  });
  const broken = await failing.request("/api/projects");
  const text = await broken.text();
  expect({ status: broken.status, secret: text.includes("secret"), code: JSON.parse(text).code }).toEqual({
    status: 500,
    secret: false,
    code: "internal",
  });
  const traceId = expect.stringMatching(/^[0-9a-f]{32}$/);
  expect(failing.logged).toEqual([{ err: new Error("secret detail"), traceId, route: "GET /api/projects" }]);
  expect(await (await failing.post("/api/projects", { path: "/x" })).json()).toMatchObject({
    status: 422,
    code: "project.not-a-repo",
    hint: "git init",
  });
  expect(failing.logged.length).toBe(1);
  await failing.close();
});

test("of a log that cannot be written the client hears, and the operator too", async () => {
  const full = new CorralError("log.unwritable", "The disk is full", { retry: "later", hint: "Make room" });
  const failing = await openTestGateway({ projects: { ...gate.projects, list: () => Promise.reject(full) } });
  const response = await failing.request("/api/projects");
  expect({ status: response.status, ...(await response.json()) }).toMatchObject({
    status: 503,
    code: "log.unwritable",
    retry: "later",
    hint: "Make room",
  });
  expect(failing.logged).toMatchObject([{ err: full, route: "GET /api/projects" }]);
  await failing.close();
});

describe("traces", () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const create = async (traceparent: string) => {
    const { project } = await gate.newSession();
    const response = await gate.request("/api/sessions", {
      method: "POST",
      headers: { "content-type": json, traceparent },
      body: JSON.stringify({ projectId: project.id }),
    });
    const { id } = await response.json();
    const [created] = await historyOf(gate.log, id);
    return created?.traceId;
  };

  test("a request's trace is in what it records and in its line of the log", async () => {
    expect(await create(`00-${traceId}-00f067aa0ba902b7-01`)).toBe(traceId);
    await expect
      .poll(() => gate.told.at(-1))
      .toEqual({
        traceId,
        route: "POST /api/sessions",
        actor: "person:owner",
        status: 201,
        ms: expect.any(Number),
      });
  });

  test("a request without a trace, or with what is none, gets one of its own", async () => {
    const made = await create("00-not-a-trace");
    expect(made).toMatch(/^[0-9a-f]{32}$/);
    expect(await create("")).not.toBe(made);
  });
});
