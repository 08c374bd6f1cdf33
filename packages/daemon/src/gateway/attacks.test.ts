import { once } from "node:events";
import { connect as connectSocket, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { event, newId } from "@corral/protocol";
import { WebSocket } from "ws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isDeeperThan } from "./door/json.ts";
import { ask, openTestGateway, testToken } from "./testing.ts";

const authorization = `Bearer ${testToken}`;
const json = "application/json";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway();
});
afterEach(() => gate.close());

/** A bare connection: what came back, and when it was closed. */
async function connect(bytes = "") {
  const { hostname, port } = new URL(gate.gateway.url);
  const socket = connectSocket(Number(port), hostname);
  await once(socket, "connect");
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(bytes);
  return { socket, text: () => text, closed };
}

/** Without what nobody needs any more, which is collected whenever it is. */
function heldInMemory(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

const host = () => new URL(gate.gateway.url).host;
const health = () => ask(gate.gateway.url, { path: "/healthz" });

describe("guessing", () => {
  const guess = (token: string) =>
    ask(gate.gateway.url, { path: "/api/sessions", headers: { authorization: `Bearer ${token}` } });

  test("wrong tokens by the thousand are throttled and audited in sums; a right one is let in at any time", async () => {
    const made = await gate.token({ name: "ann" });
    const statuses: number[] = [];
    for (let batch = 0; batch < 20; batch++) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => guess(`corral_${batch}_${index}`)));
      statuses.push(...answers.map(({ status }) => status));
    }
    expect({
      of401: statuses.filter((each) => each === 401).length,
      of429: statuses.filter((each) => each === 429).length,
    }).toEqual({ of401: 20, of429: 980 });
    const throttled = await guess("another");
    expect(throttled).toMatchObject({ status: 429, body: { code: "auth.throttled", retry: "later" } });
    expect(Number(throttled.headers["retry-after"])).toBeGreaterThan(0);
    expect([(await guess(testToken)).status, (await made.send("/api/sessions")).status]).toEqual([200, 200]);
    expect((await ask(gate.gateway.url, { path: "/api/sessions" })).status).toBe(401);

    await gate.gateway.close();
    const audited = (await gate.events()).filter(({ type }) => type === "auth.guessed");
    expect(audited.map(({ actor, data }) => ({ actor, data }))).toEqual([
      { actor: "corral", data: { address: "127.0.0.1", attempts: 21 } },
      { actor: "corral", data: { address: "127.0.0.1", attempts: 980 } },
    ]);
    expect(JSON.stringify(audited)).not.toContain("corral_");
  });
});

test("pages of other origins are never told that they may read, not even by a preflight", async () => {
  const origin = "https://evil.example";
  const asked = { origin, authorization, "access-control-request-method": "POST" };
  for (const method of ["GET", "POST", "OPTIONS"]) {
    const { status, headers } = await ask(gate.gateway.url, { method, path: "/api/sessions", headers: asked });
    const allowed = Object.keys(headers).filter((name) => name.startsWith("access-control-"));
    expect({ method, status, allowed }).toEqual({ method, status: 403, allowed: [] });
  }
});

describe("addresses", () => {
  test.each([
    "/../../etc/passwd",
    "/assets/../../../etc/passwd",
    "/assets/..%2f..%2fetc%2fpasswd",
    "/assets/%2e%2e/%2e%2e/etc/passwd",
    "/assets/%252e%252e%252fetc%252fpasswd",
    "/assets/..\\..\\etc\\passwd",
    "/assets/..%5c..%5cetc%5cpasswd",
    "/assets/x.js%00.css",
    "/assets/./index.js",
    "//etc/passwd",
    "/api/sessions/..%2f..%2f..%2fetc%2fpasswd",
    "/api/sessions/%2e%2e",
    "/api/../api/sessions",
    "http://evil.example/api/sessions",
    "/api/sessions/%zz",
    "/api/sessions/%c0%ae%c0%ae",
  ])("%s is refused, with and without a token", async (path) => {
    for (const headers of [{}, { authorization }] as Record<string, string>[]) {
      const { status, body } = await ask(gate.gateway.url, { path, headers });
      expect({ status, code: body.code }).toEqual({ status: 400, code: "request.invalid" });
    }
  });

  test("a sibling with the same prefix is not what it begins like", async () => {
    const statuses = ["/apix/sessions", "/api2", "/healthzz", "/metricsx", "/assets.js"].map(
      async (path) => (await ask(gate.gateway.url, { path, headers: { authorization } })).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 404, 404, 404, 404]);
  });

  test("a token in the address is refused and nothing is done", async () => {
    const path = `/api/projects?access_token=${testToken}`;
    const headers = { "content-type": json, authorization };
    const { status, body } = await ask(gate.gateway.url, { method: "POST", path, headers, body: '{"path":"/x"}' });
    expect({ status, code: body.code }).toEqual({ status: 400, code: "request.token-in-url" });
    expect(JSON.stringify(body)).not.toContain(testToken);
    expect([...gate.logged, ...gate.defects]).toEqual([]);
  });
});

describe("bodies and headers", () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    ask(gate.gateway.url, {
      method: "POST",
      path: "/api/projects",
      headers: { "content-type": json, authorization, ...headers },
      body,
    });
  const code = async (answer: ReturnType<typeof post>) => {
    const { status, body } = await answer;
    return { status, code: body.code };
  };
  const invalid = { status: 400, code: "request.invalid" };

  test("prototypes and constructors are refused, on any level", async () => {
    for (const body of [
      '{"path":"/x","__proto__":{"a":1}}',
      '{"path":"/x","\\u005f_proto__":{"a":1}}',
      '{"path":{"__proto__":1}}',
      '{"path":"/x","constructor":{"prototype":{"a":1}}}',
    ]) {
      expect({ body, ...(await code(post(body))) }).toEqual({ body, ...invalid });
    }
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  test("compressed bodies are refused unread, however small they are", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000)).toString("latin1");
    const refused = { status: 415, code: "request.media-type" };
    for (const encoding of ["gzip", "br", "deflate", "gzip, identity"]) {
      expect(await code(post(bomb, { "content-encoding": encoding }))).toEqual(refused);
    }
  });

  test("nesting costs nothing, wherever it is", async () => {
    const before = heldInMemory();
    for (let round = 0; round < 20; round++) {
      expect(await code(post(`{"path":${"[".repeat(2_000_000)}`))).toEqual(invalid);
      expect(await code(post('{"a":'.repeat(400_000)))).toEqual(invalid);
    }
    expect(heldInMemory() - before).toBeLessThan(100_000_000);
    expect(await code(post(JSON.stringify({ path: "[".repeat(100_000) })))).toEqual(invalid);
  });

  test("depth is counted outside of strings", () => {
    expect(isDeeperThan(2, '[["[[[",{}]]')).toBe(true);
    expect(isDeeperThan(3, '[["[[[",{}]]')).toBe(false);
    expect(isDeeperThan(1, '["\\"[[","\\\\",[]]')).toBe(true);
    expect(isDeeperThan(1, '["\\"[[","\\\\\\"[["]')).toBe(false);
    expect(isDeeperThan(1, '["[[')).toBe(false);
  });

  test("headers and bodies past the limit are refused", async () => {
    expect(await code(post("{}", { "x-much": "x".repeat(17_000) }))).toEqual({
      status: 431,
      code: "request.headers-too-large",
    });
    expect(await code(post(`{"path":"${"x".repeat(2 * 1024 * 1024)}"}`))).toEqual({
      status: 413,
      code: "request.too-large",
    });
    const head = `POST /api/projects HTTP/1.1\r\nHost: ${host()}\r\nAuthorization: ${authorization}\r\nContent-Type: ${json}\r\n`;
    const endless = await connect(`${head}Content-Length: 99999999999\r\n\r\n{`);
    await endless.closed;
    expect(endless.text()).toMatch(/^HTTP\/1.1 413 /);
  });
});

describe("slow and greedy clients", () => {
  /** Hundreds of each kind: who says nothing, who never ends its headers, and who never ends its body. */
  async function unfinished() {
    const head = `POST /api/projects HTTP/1.1\r\nHost: ${host()}\r\nAuthorization: ${authorization}\r\nContent-Type: ${json}\r\n`;
    const [silent, slow, dripping] = ["", `${head}X-Slow: `, `${head}Content-Length: 100\r\n\r\n{`].map((bytes) =>
      Promise.all(Array.from({ length: 150 }, () => connect(bytes))),
    );
    return { silent: await silent!, slow: await slow!, dripping: await dripping! };
  }

  test("hundreds that never finish asking keep nobody else waiting", async () => {
    await gate.close();
    const deadlines = { headersMs: 300_000, requestMs: 600_000, checkMs: 50, strangers: 1_000 };
    gate = await openTestGateway({ deadlines });
    const { silent, slow, dripping } = await unfinished();
    const all = [...silent, ...slow, ...dripping];
    let left = 0;
    for (const { closed } of all) void closed.then(() => (left += 1));
    for (let time = 0; time < 20; time++) {
      dripping.forEach(({ socket }) => socket.write(" "));
      expect((await health()).status).toBe(200);
    }
    expect({ asking: all.length - left }).toEqual({ asking: 450 });
    for (const { socket } of all) socket.destroy();
  });

  test("whoever has not finished asking by the deadline is dropped, and told why", async () => {
    await gate.close();
    gate = await openTestGateway({ deadlines: { headersMs: 300, requestMs: 600, checkMs: 50, strangers: 1_000 } });
    const { silent, slow, dripping } = await unfinished();
    const drip = setInterval(() => dripping.forEach(({ socket }) => socket.writable && socket.write(" ")), 50);
    await Promise.all([...silent, ...slow, ...dripping].map(({ closed }) => closed));
    clearInterval(drip);
    for (const { text } of dripping) expect(text()).toMatch(/^HTTP\/1.1 408 [^]*"code":"request.timeout"/);
  });

  test("clients that never read while output floods are dropped; memory stays and the cursor resumes", async () => {
    const limits = { bufferLimit: 1_000_000, stallMs: 60_000, heartbeatMs: 60_000 };
    const flooded = await openTestGateway({ streamLimits: limits });
    const { session } = await flooded.newSession();
    const { port, host: name } = new URL(flooded.gateway.url);
    const stuck: Socket[] = [];
    for (let index = 0; index < 25; index++) {
      const socket = connectSocket(Number(port), "127.0.0.1").pause();
      socket.on("error", () => undefined);
      socket.write(`GET /api/events?follow=1 HTTP/1.1\r\nHost: ${name}\r\nAuthorization: ${authorization}\r\n\r\n`);
      const greedy = new WebSocket(`ws://${name}/api/stream`, { headers: { authorization } });
      greedy.on("error", () => undefined).on("open", () => greedy.pause());
      stuck.push(socket);
    }
    await expect.poll(flooded.subscribers).toBe(50);
    const before = process.memoryUsage().rss;
    let last = 0;
    for (let round = 0; round < 400 && flooded.subscribers() > 0; round++) {
      const said = event("turn.said", { id: "trn_1", part: newId("part"), kind: "text", text: "x".repeat(500_000) });
      last = (await flooded.add(session.id, said))[0]?.seq ?? last;
      expect((await ask(flooded.gateway.url, { path: "/healthz" })).status).toBe(200);
    }
    expect(flooded.subscribers()).toBe(0);
    expect(process.memoryUsage().rss - before).toBeLessThan(500_000_000);
    const page = await (await flooded.request(`/api/events?after=${last - 1}`)).json();
    expect(page.events.map(({ seq }: { seq: number }) => seq)).toEqual([last]);
    for (const socket of stuck) socket.destroy();
    await flooded.close();
  });
});
