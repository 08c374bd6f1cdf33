import { once } from "node:events";
import { type Delta, event, newId, type PartId, type SessionId } from "@corral/protocol";
import { type ClientOptions, WebSocket } from "ws";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ask, openTestGateway, testToken } from "../testing.ts";

const limits = { bufferLimit: 256 * 1024, stallMs: 60_000, heartbeatMs: 60_000 };
const authorization = `Bearer ${testToken}`;

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway({ streamLimits: limits });
});
afterEach(() => gate.close());

const address = (query = "", url = gate.gateway.url) => `${url.replace("http", "ws")}/api/stream${query}`;
const newSession = async (name?: string) => (await gate.newSession(name)).session.id;
const said = (part: PartId, text: string) => event("turn.said", { id: "trn_1", part, kind: "text", text });
const textDelta = (session: SessionId, part: PartId, offset: number, text: string): Delta => ({
  kind: "text",
  session,
  part,
  offset,
  text,
});

/** A client that reads: what came so far, in short, and its end. */
function connect(query = "", options: ClientOptions = { headers: { authorization } }, url?: string) {
  const socket = new WebSocket(address(query, url), options);
  const messages: any[] = []; // oxlint-disable-line typescript/no-explicit-any
  socket.on("message", (data, isBinary) =>
    messages.push(isBinary ? "binary" : JSON.parse((data as Buffer).toString())),
  );
  socket.on("error", () => undefined);
  return {
    socket,
    messages,
    say: (message: unknown) => socket.send(JSON.stringify(message)),
    /** In order: an event's seq, a delta's text, the kind of anything else. */
    told: () => messages.map(({ kind, event: stored, delta }) => stored?.seq ?? delta?.text ?? kind),
    closed: once(socket, "close").then(([code, reason]) => ({ code, reason: String(reason) })),
  };
}

/** The answer to a request for a socket that is refused before there is one. */
function refusal(headers: Record<string, string>, query = ""): Promise<{ status: number; body: unknown }> {
  const socket = new WebSocket(address(query), { headers });
  return new Promise((resolve, reject) => {
    socket.on("error", () => undefined);
    socket.on("open", () => reject(new Error("it opened")));
    socket.on("unexpected-response", (_request, response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
  });
}

describe("who may open one", () => {
  test("no token and a wrong one are refused before the upgrade, with a problem", async () => {
    expect(await refusal({})).toMatchObject({ status: 401, body: { code: "auth.missing" } });
    expect(await refusal({ authorization: "Bearer nope" })).toMatchObject({ status: 401 });
    expect(await refusal({ authorization: `Basic ${testToken}` })).toMatchObject({ status: 401 });
  });

  test("a page of another origin is refused before the upgrade, whatever it brings along", async () => {
    const { port } = new URL(gate.gateway.url);
    const foreign = [
      "https://evil.example",
      "null",
      `http://127.0.0.1:${Number(port) + 1}`,
      `https://127.0.0.1:${port}`,
    ];
    for (const origin of foreign) {
      const answer = await refusal({ origin, authorization });
      expect({ origin, ...answer }).toMatchObject({ origin, status: 403, body: { code: "auth.refused" } });
    }
  });

  test("a foreign Host is refused before the upgrade", async () => {
    expect(await refusal({ host: "evil.example", authorization })).toMatchObject({ status: 421 });
  });

  test("a token in the address is refused, with a hint, whether it is right or not", async () => {
    const made = await gate.token({ name: "a" });
    for (const query of [`?token=${testToken}`, "?access_token=x", `?x=${made.token}`, `?%74oken=${testToken}`]) {
      for (const headers of [{}, { authorization }] as Record<string, string>[]) {
        expect({ query, ...(await refusal(headers, query)) }).toMatchObject({
          query,
          status: 400,
          body: { code: "request.token-in-url", hint: expect.stringContaining("Authorization") },
        });
      }
    }
  });

  test("a browser is let in by its cookie, on a page of the daemon itself alone", async () => {
    const { url } = gate.gateway;
    const { code } = await (await gate.post("/api/login/codes", {})).json();
    const headers = { origin: url, "content-type": "application/json" };
    const entered = await ask(url, { method: "POST", path: "/api/login", headers, body: JSON.stringify({ code }) });
    const cookie = entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    expect(await refusal({ cookie })).toMatchObject({ status: 403 });
    expect(await refusal({ cookie, origin: url.replace("127.0.0.1", "localhost") })).toMatchObject({ status: 403 });
    expect(await refusal({ cookie: cookie.slice(0, -1), origin: url })).toMatchObject({ status: 401 });
    const client = connect("", { headers: { cookie, origin: url } });
    await expect.poll(client.told).toEqual(["subscribed"]);
  });

  test("a query that is wrong, or names what is not there, is refused", async () => {
    expect(await refusal({ authorization }, "?after=x")).toMatchObject({ status: 400 });
    const client = connect("?session=ses_none", {
      headers: (await gate.token({ name: "a", session: await newSession() })).headers,
    });
    expect(await client.closed).toMatchObject({ code: 1008 });
    expect(client.messages).toMatchObject([{ kind: "problem", problem: { code: "not-found" } }]);
  });

  test("other routes are no sockets, and a plain request is told of server-sent events", async () => {
    const socket = new WebSocket(address().replace("/api/stream", "/api/sessions"), { headers: { authorization } });
    socket.on("error", () => undefined);
    await once(socket, "close");
    const { status, body } = await ask(gate.gateway.url, { path: "/api/stream", headers: { authorization } });
    expect({ status, hint: body.hint }).toEqual({ status: 426, hint: expect.stringContaining("follow=1") });
  });
});

describe("what it carries", () => {
  test("history first, then what happens, events and deltas in one stream, after the cursor", async () => {
    const session = await newSession();
    const client = connect("?after=1");
    await expect.poll(client.told).toEqual(["subscribed", 2]);
    await expect.poll(gate.subscribers).toBe(1);
    gate.log.live.emit(textDelta(session, "prt_a", 0, "so far"));
    await expect.poll(client.told).toEqual(["subscribed", 2, "so far"]);
    const [stored] = await gate.add(session, said("prt_a", "so far"));
    await expect.poll(client.told).toEqual(["subscribed", 2, "so far", 3]);
    expect(client.messages.at(-1)).toEqual({ kind: "event", event: stored });
    expect(client.messages[0]).toEqual({ kind: "subscribed", after: 1 });
  });

  test("only what the filters let through", async () => {
    const one = await newSession("one");
    const other = await newSession("other");
    const ofOne = connect(`?session=${one}&after=4`);
    const ofTurns = connect("?types=turn.*,session.created&deltas=0&after=4");
    await expect.poll(gate.subscribers).toBe(1);
    await expect.poll(() => ofTurns.told().length).toBe(1);
    await gate.add(other, said("prt_a", "a"), event("activity.opened", { id: "act_1" }));
    gate.log.live.emit(textDelta(other, "prt_b", 0, "of another"));
    gate.log.live.emit(textDelta(one, "prt_c", 0, "of one"));
    await expect.poll(ofOne.told).toEqual(["subscribed", "of one"]);
    await gate.add(one, event("activity.opened", { id: "act_2" }), said("prt_c", "b"));
    await expect.poll(ofOne.told).toEqual(["subscribed", "of one", 7, 8]);
    await expect.poll(ofTurns.told).toEqual(["subscribed", 5, 8]);
  });

  test("another subscription takes the place of the one before, and nothing of that follows", async () => {
    const one = await newSession("one");
    const other = await newSession("other");
    const client = connect(`?session=${one}`);
    await expect.poll(client.told).toEqual(["subscribed", 2]);
    client.say({ kind: "subscribe", session: other, after: 0 });
    await expect.poll(client.told).toEqual(["subscribed", 2, "subscribed", 4]);
    await gate.add(one, said("prt_a", "unheard"));
    await gate.add(other, said("prt_b", "heard"));
    await expect.poll(client.told).toEqual(["subscribed", 2, "subscribed", 4, 6]);
  });

  test("a ping is answered, and heartbeats come while nothing happens", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const client = connect();
    await expect.poll(client.told).toEqual(["subscribed"]);
    const expected = ["subscribed"];
    for (let beat = 0; beat < 3; beat++) {
      vi.advanceTimersByTime(limits.heartbeatMs);
      // What was said before is read before: the answer to the beat, which the socket gives by itself, as well.
      client.say({ kind: "ping" });
      expected.push("heartbeat", "pong");
      await expect.poll(client.told).toEqual(expected);
    }
  });

  test("an event is encoded once for readers of both protocols", async () => {
    const session = await newSession();
    const clients = [connect(`?session=${session}`), connect()];
    const path = `${gate.gateway.url}/api/sessions/${session}/events?follow=1`;
    const sse = await fetch(path, { headers: { authorization } });
    await expect.poll(gate.subscribers).toBe(3);
    let encodings = 0;
    const counting = {
      id: "trn_1",
      part: "prt_a",
      kind: "text",
      text: "x",
      toJSON: () => ({ n: ++encodings }),
    } as const;
    await gate.add(session, event("turn.said", counting));
    for (const client of clients) await expect.poll(client.told).toContain(3);
    for await (const chunk of sse.body!.pipeThrough(new TextDecoderStream())) if (chunk.includes('"n":2')) break;
    // Once for the file and once for all who read.
    expect(encodings).toBe(2);
  });
});

describe("who misbehaves", () => {
  test.each([
    ["a huge message", "x".repeat(5000), 1009],
    ["what is no JSON", "hello", 1008],
    ["what is no known message", '{"kind":"shout"}', 1008],
    ["deep nesting", "[".repeat(4000), 1008],
  ])("%s closes the socket, that one alone", async (_name, message, code) => {
    const [good, bad] = [connect(), connect()];
    await expect.poll(bad.told).toEqual(["subscribed"]);
    bad.socket.send(message);
    expect((await bad.closed).code).toBe(code);
    await newSession();
    await expect.poll(good.told).toEqual(["subscribed", 1, 2]);
  });

  test("a client that reads nothing is dropped alone and comes back by its cursor", async () => {
    const session = await newSession();
    const quick = connect(`?session=${session}`);
    const stuck = connect(`?session=${session}`);
    await expect
      .poll(() => [quick.told(), stuck.told()])
      .toEqual([
        ["subscribed", 2],
        ["subscribed", 2],
      ]);
    await expect.poll(gate.subscribers).toBe(2);
    // Asked before it has heard of being let in, a socket would go on reading.
    stuck.socket.pause();
    const big = "x".repeat(1_000_000);
    let last = 2;
    while (gate.subscribers() === 2) {
      last = (await gate.add(session, said(newId("part"), big)))[0]?.seq ?? last;
      await expect.poll(() => quick.told().at(-1)).toBe(last);
    }
    stuck.socket.resume();
    expect((await stuck.closed).code).toBe(1006);
    const back = connect(`?session=${session}&after=2`);
    await expect.poll(() => back.told().slice(1)).toEqual(Array.from({ length: last - 2 }, (_, index) => index + 3));
  });

  test("a client that asks again and again while it reads nothing is dropped too", async () => {
    await gate.add("ses_a", ...Array.from({ length: 40 }, () => said(newId("part"), "x".repeat(100_000))));
    const stuck = connect();
    await expect.poll(() => stuck.told().length).toBeGreaterThan(0);
    stuck.socket.pause();
    const again = setInterval(() => stuck.say({ kind: "subscribe" }), 1);
    stuck.socket.once("close", () => clearInterval(again));
    const figures = async () => (await gate.request("/metrics")).text();
    await expect.poll(figures).toContain('corral_streams{protocol="websocket"} 0');
    stuck.socket.resume();
    expect((await stuck.closed).code).toBe(1006);
  });

  test("a client that answers no ping is taken for gone", async () => {
    const brisk = await openTestGateway({ streamLimits: { ...limits, heartbeatMs: 20 } });
    const deaf = connect("", { headers: { authorization }, autoPong: false }, brisk.gateway.url);
    expect((await deaf.closed).code).toBe(1006);
    await brisk.close();
  });

  test("closing ends sockets cleanly and lets go of the log", async () => {
    const client = connect();
    await expect.poll(gate.subscribers).toBe(1);
    await gate.gateway.close();
    expect(await client.closed).toEqual({ code: 1001, reason: "the daemon stops" });
    expect(gate.subscribers()).toBe(0);
  });
});
