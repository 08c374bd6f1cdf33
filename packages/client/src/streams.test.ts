import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { openTestGateway } from "@corral/daemon/testing";
import { event, newId, type PartId, type SessionId } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Client, createClient, type Followed, type FollowOptions } from "./index.ts";
import { openWebSocket } from "./socket.ts";

const token = "a-token-for-tests";
/** Under load a connection may take its time to come back. */
const patience = { timeout: 50_000 };
const limits = { bufferLimit: 256 * 1024, stallMs: 60_000, heartbeatMs: 60_000 };

let gate: Awaited<ReturnType<typeof openTestGateway>>;
let client: Client;
let session: SessionId;
const leaving = { now: new AbortController() };
beforeEach(async () => {
  leaving.now = new AbortController();
  gate = await openTestGateway({ streamLimits: limits });
  client = createClient({ url: gate.gateway.url, token });
  session = (await gate.newSession()).session.id;
});
afterEach(async () => {
  leaving.now.abort();
  await gate.close();
});

const said = (text: string, part: PartId = newId("part")) =>
  event("turn.said", { id: "trn_1", part, kind: "text", text });
const seqsTo = (last: number, from = 1) => Array.from({ length: last - from + 1 }, (_, index) => from + index);

/** Reads all that comes, in short; `end` resolves with how it ended. */
function listen(options: Partial<FollowOptions>, from: Client = client) {
  const told: unknown[] = [];
  const read = async () => {
    for await (const news of from.follow({ after: 0, signal: leaving.now.signal, ...options })) told.push(short(news));
    return "over";
  };
  const end = read().catch((error: unknown) => error);
  return { told, end };
}

function short(news: Followed): unknown {
  if (news.kind === "gap") return news;
  return news.kind === "event" ? news.event.seq : news.delta.text;
}

describe.each(["sse", "websocket"] as const)("a stream over %s", (over) => {
  test("carries history, then events and pieces as they come", async () => {
    const { told } = listen({ over, session, after: 1 });
    await expect.poll(() => [told.length, gate.subscribers()], patience).toEqual([1, 1]);
    gate.log.live.emit({ kind: "text", session, part: "prt_a", offset: 0, text: "so far" });
    await expect.poll(() => told, patience).toEqual([2, "so far"]);
    await gate.add(session, said("so far", "prt_a"));
    await expect.poll(() => told, patience).toEqual([2, "so far", 3]);
  });

  test("carries only what is asked for", async () => {
    const { told } = listen({ over, types: ["turn.*"], deltas: false });
    await gate.add(session, event("activity.opened", { id: "act_1" }), said("a"));
    await expect.poll(() => told, patience).toEqual([4]);
  });

  test("tells of events that are no longer kept, once, and goes on behind them", async () => {
    for (let n = 3; n <= 6; n++) await gate.add(session, said("x"));
    await gate.log.trim({ before: 5 });
    const gap = { kind: "gap", from: 2, to: 4 };
    const { told } = listen({ over, after: 1 });
    await expect.poll(() => told.slice(0, 3), patience).toEqual([gap, 5, 6]);
    expect(await client.events({ after: 1 })).toEqual({ events: [], next: 4, gap });
  });

  test("goes on without gap or repeat when the daemon comes back elsewhere", async () => {
    const { told } = listen({
      over,
      onBreak: () => client.moveTo({ url: gate.gateway.url, token }),
    });
    let last = 2;
    for (let round = 0; round < 3; round++) {
      await expect.poll(() => told.length, patience).toBe(last);
      await gate.close({ keep: true });
      gate = await openTestGateway({ streamLimits: limits }, gate.folder);
      for (let n = 0; n < 5; n++) last = (await gate.add(session, said("x")))[0]?.seq ?? last;
    }
    await expect.poll(() => told, patience).toEqual(seqsTo(last));
  });

  test("goes on without gap or repeat when the daemon drops it for reading too slowly", async () => {
    const held = Promise.withResolvers<void>();
    const told: unknown[] = [];
    let breaks = 0;
    const read = async () => {
      const options = { over, session, after: 2, signal: leaving.now.signal, onBreak: () => void (breaks += 1) };
      for await (const news of client.follow(options)) {
        await held.promise;
        told.push(short(news));
      }
    };
    const reading = read();
    await expect.poll(gate.subscribers, patience).toBe(1);
    let last = 2;
    const big = "x".repeat(1_000_000);
    // The daemon notices a reader over server-sent events that is stuck; over a WebSocket the client lets go by itself.
    while (gate.subscribers() === 1) last = (await gate.add(session, said(big)))[0]?.seq ?? last;
    held.resolve();
    await expect.poll(() => told, patience).toEqual(seqsTo(last, 3));
    await gate.add(session, said("small"));
    await expect.poll(() => told.at(-1), patience).toBe(last + 1);
    expect(breaks).toBe(over === "sse" ? 1 : 0);
    leaving.now.abort();
    await reading;
  });

  test("ends at once when its signal aborts, and leaves nothing open", async () => {
    const { end } = listen({ over });
    await expect.poll(gate.subscribers, patience).toBe(1);
    leaving.now.abort();
    expect(await end).toBe("over");
    await expect.poll(gate.subscribers, patience).toBe(0);
    expect(await listen({ over }).end).toBe("over");
  });

  test("lets go of the connection at once even while nobody reads on", async () => {
    const followed = client.follow({ over, after: 0, signal: leaving.now.signal });
    expect(await followed.next()).toMatchObject({ value: { event: { seq: 1 } } });
    await expect.poll(gate.subscribers, patience).toBe(1);
    leaving.now.abort();
    await expect.poll(gate.subscribers, patience).toBe(0);
    expect(await followed.next()).toEqual({ done: true, value: undefined });
  });

  test("lets go of the connection when its reader breaks off", async () => {
    for await (const _news of client.follow({ over, after: 0 })) break;
    await expect.poll(gate.subscribers, patience).toBe(0);
  });

  test("ends at once while nobody answers", async () => {
    const mute = createServer().listen(0, "127.0.0.1");
    await once(mute, "listening");
    const elsewhere = createClient({ url: `http://127.0.0.1:${(mute.address() as AddressInfo).port}`, token });
    const { end } = listen({ over }, elsewhere);
    const [socket] = await once(mute, "connection");
    leaving.now.abort();
    expect(await end).toBe("over");
    await once(socket.resume(), "close");
    mute.close();
  });

  test("throws the daemon's own refusals, and asks again for none of them", async () => {
    const breaks: unknown[] = [];
    const onBreak = (broken: unknown) => void breaks.push(broken);
    const stranger = createClient({ url: gate.gateway.url, token: "wrong" });
    const bounded = await gate.token({ name: "a", session });
    const guest = createClient({ url: gate.gateway.url, token: bounded.token });
    const hidden = (await gate.newSession("other")).session.id;
    expect(await listen({ over, onBreak }, stranger).end).toMatchObject({ name: "CorralError", code: "auth.missing" });
    expect(await listen({ over, onBreak, session: hidden }, guest).end).toMatchObject({ code: "not-found" });
    expect(await listen({ over, onBreak, types: ["Bad Type"] }).end).toMatchObject({ code: "request.invalid" });
    expect(breaks).toEqual([]);
  });

  test("ends with a refusal when what let it in is revoked", async () => {
    const made = await gate.token({ name: "a" });
    const { end } = listen({ over }, createClient({ url: gate.gateway.url, token: made.token }));
    await expect.poll(gate.subscribers, patience).toBe(1);
    await client.tokens.revoke(made.id);
    expect(await end).toMatchObject({ name: "CorralError", code: "auth.missing" });
  });

  test("tells of nobody there as of a break, with what to do", async () => {
    await gate.close({ keep: true });
    const { end } = listen({
      over,
      onBreak({ error }) {
        throw error;
      },
    });
    expect(await end).toMatchObject({ code: "daemon.unreachable", hint: expect.stringContaining("corral serve") });
    gate = await openTestGateway({}, gate.folder);
  });
});

test("a socket whose reader is far behind is let go, and taken up again where the reader is", async () => {
  const addresses: string[] = [];
  const letGo = Promise.withResolvers<void>();
  const counting = createClient({
    url: gate.gateway.url,
    token,
    openSocket(url, headers) {
      addresses.push(url.replace(/.*\?/, ""));
      const socket = openWebSocket(url, headers);
      socket.addEventListener("close", letGo.resolve);
      return socket;
    },
  });
  const big = "x".repeat(1_000_000);
  for (let n = 0; n < 12; n++) await gate.add(session, said(big));
  const told: unknown[] = [];
  for await (const news of counting.follow({ over: "websocket", after: 2, signal: leaving.now.signal })) {
    await letGo.promise;
    told.push(short(news));
    if (told.length === 12) break;
  }
  expect(told).toEqual(seqsTo(14, 3));
  expect(addresses.slice(0, 2)).toEqual(["after=2", expect.stringMatching(/^after=([3-9]|1[0-3])$/)]);
});
