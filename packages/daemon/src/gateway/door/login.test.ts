import { request as httpRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openTestGateway, testToken } from "../testing.ts";

let clock: number;
let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  clock = 1_000_000;
  gate = await openTestGateway({ now: () => clock });
});
afterEach(() => gate.close());

interface Answer {
  readonly status: number;
  readonly cookies: readonly string[];
  readonly body: { readonly kind?: string; readonly code?: string };
}

/** A request with exactly these headers. */
function ask(method: string, path: string, headers: Record<string, string>, body?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const options = { method, headers: { ...type, ...headers }, agent: false };
    const sent = httpRequest(gate.gateway.url + path, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          cookies: response.headers["set-cookie"] ?? [],
          body: JSON.parse(text),
        }),
      );
    });
    sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const issueCode = async (): Promise<string> => (await (await gate.post("/api/login/codes", {})).json()).code;
const enter = (code: string, headers: Record<string, string> = { origin: gate.gateway.url }) =>
  ask("POST", "/api/login", headers, { code });

/** The cookie as a browser would send it back. */
async function logIn(): Promise<string> {
  const { cookies } = await enter(await issueCode());
  return cookies[0]?.split(";")[0] ?? "";
}

const told = ({ status, body }: Answer) => ({ status, code: body.code });
const refused = { status: 403, code: "auth.refused" };
const unauthenticated = { status: 401, code: "auth.missing" };

describe("a code", () => {
  test("is given to the owner alone, 32 random bytes for a minute", async () => {
    const response = await gate.post("/api/login/codes", {});
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 201,
      body: { code: expect.stringMatching(/^[\w-]{43}$/), expiresInSeconds: 60 },
    });
    expect(told(await ask("POST", "/api/login/codes", {}, {}))).toEqual(unauthenticated);
    expect(await issueCode()).not.toBe(await issueCode());
  });

  test("is exchanged for a cookie that no script and no other site gets at", async () => {
    const { port } = new URL(gate.gateway.url);
    expect(await enter(await issueCode())).toEqual({
      status: 200,
      cookies: [
        expect.stringMatching(
          new RegExp(`^corral-${port}=[\\w-]{43}; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict$`),
        ),
      ],
      body: { kind: "logged-in" },
    });
  });

  test("works once", async () => {
    const code = await issueCode();
    await enter(code);
    const again = await enter(code);
    expect({ ...told(again), cookies: again.cookies }).toEqual({ ...unauthenticated, cookies: [] });
  });

  test("works for less than a minute", async () => {
    const [early, late] = [await issueCode(), await issueCode()];
    clock += 59_999;
    expect((await enter(early)).status).toBe(200);
    clock += 1;
    expect(told(await enter(late))).toEqual(unauthenticated);
  });

  test("works only from a page of the very address that is asked", async () => {
    const code = await issueCode();
    const { port } = new URL(gate.gateway.url);
    const foreign = [
      {},
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `http://localhost:${port}` },
    ];
    for (const headers of foreign) {
      expect({ headers, ...told(await enter(code, headers)) }).toEqual({ headers, ...refused });
    }
    expect((await enter(code)).status).toBe(200);
  });

  test("comes as JSON or not at all", async () => {
    const code = await issueCode();
    const form = { origin: gate.gateway.url, "content-type": "text/plain" };
    expect(told(await enter(code, form))).toEqual({ status: 415, code: "request.media-type" });
    expect((await enter(code)).status).toBe(200);
  });

  test("that is wrong is refused, after ten in a minute for a while, and nobody is locked out by that", async () => {
    const code = await issueCode();
    const throttled = { status: 429, code: "login.throttled" };
    for (let attempt = 0; attempt < 10; attempt++) expect(told(await enter("invented"))).toEqual(unauthenticated);
    expect(told(await enter("invented"))).toEqual(throttled);
    expect((await enter(code)).status).toBe(200);
    clock += 60_000;
    expect(told(await enter("invented"))).toEqual(unauthenticated);
  });
});

describe("a cookie", () => {
  const read = async (headers: Record<string, string>) => told(await ask("GET", "/api/sessions", headers));
  const stop = async (headers: Record<string, string>) => told(await ask("POST", "/api/daemon/stop", headers, {}));

  test("opens the API as the token does", async () => {
    const cookie = await logIn();
    expect(await read({ cookie })).toEqual({ status: 200, code: undefined });
    expect(await read({ cookie: `other=1; ${cookie}`, origin: gate.gateway.url })).toMatchObject({ status: 200 });
    expect(await stop({ cookie, origin: gate.gateway.url })).toMatchObject({ status: 202 });
    await expect.poll(() => gate.stops).toEqual([false]);
  });

  test("changes nothing without the origin of the daemon's own page", async () => {
    const cookie = await logIn();
    const { port } = new URL(gate.gateway.url);
    expect(await stop({ cookie })).toEqual(refused);
    expect(await stop({ cookie, origin: "https://evil.example" })).toEqual(refused);
    expect(await stop({ cookie, origin: `http://localhost:${port}` })).toEqual(refused);
    expect(gate.stops).toEqual([]);
  });

  test("tells nothing to a page of another origin, whether that is named or only said to be another", async () => {
    const cookie = await logIn();
    const { port } = new URL(gate.gateway.url);
    expect(await read({ cookie, origin: "https://evil.example" })).toEqual(refused);
    expect(await read({ cookie, origin: `http://localhost:${port}` })).toEqual(refused);
    expect(await read({ cookie, "sec-fetch-site": "same-site" })).toEqual(refused);
    expect(await read({ cookie, "sec-fetch-site": "cross-site" })).toEqual(refused);
    expect(await read({ cookie, "sec-fetch-site": "same-origin" })).toMatchObject({ status: 200 });
  });

  test("that was invented, or is as good as the token but is none, opens nothing", async () => {
    const cookie = await logIn();
    const [name] = cookie.split("=");
    expect(await read({ cookie: `${name}=invented` })).toEqual(unauthenticated);
    expect(await read({ cookie: `${name}=${testToken}` })).toEqual(unauthenticated);
    expect(await read({ cookie: `corral-1=${cookie.split("=")[1]}` })).toEqual(unauthenticated);
    expect(await read({ cookie, authorization: "Bearer nope" })).toEqual(unauthenticated);
  });

  test("ends after twelve hours", async () => {
    const cookie = await logIn();
    clock += 12 * 3_600_000 - 1;
    expect(await read({ cookie })).toMatchObject({ status: 200 });
    clock += 1;
    expect(await read({ cookie })).toEqual(unauthenticated);
  });

  test("ends by logging out, and with it the streams it opened; others stay", async () => {
    const [leaving, staying] = [await logIn(), await logIn()];
    const { url } = gate.gateway;
    const stream = await fetch(`${url}/api/events?follow=1`, { headers: { cookie: leaving } });
    const { status, cookies } = await ask("POST", "/api/logout", { cookie: leaving, origin: url }, {});
    expect({ status, cookies }).toEqual({
      status: 200,
      cookies: [`${leaving.split("=")[0]}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict`],
    });
    expect(await stream.text()).toBe("retry: 500\n\n");
    expect(await read({ cookie: leaving })).toEqual(unauthenticated);
    expect(await read({ cookie: staying })).toMatchObject({ status: 200 });
  });
});
