import { once } from "node:events";
import { createServer, type IncomingMessage, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { type Delta, event, newId, type PartId, type SessionId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openHistory } from "./history.ts";
import { openStreams } from "./sse.ts";
import { openTestGateway, testToken } from "../testing.ts";

const limits = { bufferLimit: 256 * 1024, stallMs: 60_000, heartbeatMs: 60_000 };

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway({ streamLimits: limits });
});
afterEach(() => gate.close());

async function newSession(): Promise<SessionId> {
  return (await gate.newSession()).session.id;
}

function connect(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(gate.gateway.url + path, {
      headers: { authorization: `Bearer ${testToken}`, ...headers },
      agent: false,
    });
    sent.on("response", resolve).on("error", reject).end();
  });
}

/** A client that reads: what came so far, in frames, and a way to wait for more. */
async function reader(path: string, headers: Record<string, string> = {}) {
  const response = await connect(path, headers);
  let text = "";
  let ended = false;
  response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  response.on("end", () => (ended = true)).on("error", () => undefined);
  const frames = () => text.split("\n\n").slice(0, -1);
  return {
    response,
    frames,
    ended: () => ended,
    ids: () => frames().flatMap((frame) => /^id: (\d+)$/m.exec(frame)?.[1] ?? []),
    /** In order: an event's seq, a delta's text. */
    told: () =>
      frames().flatMap((frame) => {
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        if (data === undefined) return [];
        const parsed = JSON.parse(data);
        return [frame.startsWith("event: delta") ? parsed.text : parsed.seq];
      }),
  };
}

const said = (part: PartId, text: string) => event("turn.said", { id: "trn_1", part, kind: "text", text });
const textDelta = (session: SessionId, part: PartId, offset: number, text: string): Delta => ({
  kind: "text",
  session,
  part,
  offset,
  text,
});

test("history comes first, then what happens, in frames whose id is the seq", async () => {
  const session = await newSession();
  const client = await reader(`/api/sessions/${session}/events?follow=1`);
  await expect.poll(client.ids).toEqual(["2"]);
  const [stored] = await gate.add(session, said(newId("part"), "two\nlines"));
  await expect.poll(client.ids).toEqual(["2", "3"]);
  expect(client.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  expect(client.frames()[0]).toBe("retry: 500");
  expect(client.frames().at(-1)).toBe(`id: 3\nevent: event\ndata: ${JSON.stringify(stored)}`);
});

test("the cursor and Last-Event-ID leave out what was seen; the header is the newer of both", async () => {
  const session = await newSession();
  await gate.add(session, said("prt_a", "a"), said("prt_b", "b"));
  const byCursor = await reader("/api/events?follow=1&after=2");
  const byHeader = await reader("/api/events?follow=1&after=1", { "last-event-id": "3" });
  await expect.poll(() => [byCursor.ids(), byHeader.ids()]).toEqual([["3", "4"], ["4"]]);
});

test("a session's stream has only its own events, the other one all", async () => {
  const one = await newSession();
  const other = await newSession();
  const ofOne = await reader(`/api/sessions/${one}/events?follow=1`);
  const ofAll = await reader("/api/events?follow=1");
  await gate.add(other, said("prt_a", "a"));
  await gate.add(one, said("prt_b", "b"));
  await expect
    .poll(() => [ofOne.ids(), ofAll.ids()])
    .toEqual([
      ["2", "5"],
      ["1", "2", "3", "4", "5"],
    ]);
});

test("deltas begin with the text so far, carry no id, and never follow the event that closes their part", async () => {
  const session = await newSession();
  gate.log.live.emit(textDelta(session, "prt_a", 0, "so far"));
  const client = await reader(`/api/sessions/${session}/events?follow=1`);
  await expect.poll(client.told).toEqual([2, "so far"]);
  gate.log.live.emit(textDelta(session, "prt_a", 6, ", so good"));
  await expect.poll(client.told).toEqual([2, "so far", ", so good"]);
  await gate.add(session, said("prt_a", "so far, so good"));
  await expect.poll(client.told).toEqual([2, "so far", ", so good", 3]);
  gate.log.live.emit(textDelta(session, "prt_a", 6, "late"));
  gate.log.live.emit(textDelta(session, "prt_b", 0, "next"));
  await expect.poll(client.told).toEqual([2, "so far", ", so good", 3, "next"]);
  expect(
    client
      .frames()
      .filter((frame) => frame.startsWith("event: delta"))
      .some((frame) => frame.includes("id: ")),
  ).toBe(false);
});

test("an event is encoded once for any number of readers", async () => {
  const session = await newSession();
  const clients = await Promise.all(
    Array.from({ length: 5 }, () => reader(`/api/sessions/${session}/events?follow=1`)),
  );
  await expect.poll(gate.subscribers).toBe(5);
  let encodings = 0;
  const counting = {
    id: "trn_1" as const,
    part: "prt_a" as const,
    kind: "text" as const,
    text: "x",
    toJSON: () => ({ n: ++encodings }),
  };
  await gate.add(session, event("turn.said", counting));
  for (const client of clients) await expect.poll(client.ids).toEqual(["2", "3"]);
  // Once for the file and once for all who read.
  expect(encodings).toBe(2);
});

test("a client that reads nothing is dropped alone and comes back by its cursor", async () => {
  const session = await newSession();
  const path = `/api/sessions/${session}/events?follow=1`;
  const quick = await reader(path);
  const stuck = await connect(path);
  const dropped = new Promise((resolve) => stuck.on("close", resolve).on("error", () => undefined));
  stuck.pause();
  await expect.poll(gate.subscribers).toBe(2);
  const big = "x".repeat(1_000_000);
  let last = 2;
  while (gate.subscribers() === 2) {
    last = (await gate.add(session, said(newId("part"), big)))[0]?.seq ?? last;
    await expect.poll(() => quick.ids().at(-1)).toBe(String(last));
  }
  stuck.resume();
  await dropped;
  const back = await reader(`${path}&after=2`);
  await expect.poll(() => back.ids().length).toBe(last - 2);
  expect(back.ids()).toEqual(Array.from({ length: last - 2 }, (_, index) => String(index + 3)));
});

test("history larger than the buffer waits for a slow reader instead of dropping it", async () => {
  const session = await newSession();
  const big = "x".repeat(100_000);
  await gate.add(session, ...Array.from({ length: 100 }, () => said(newId("part"), big)));
  const slow = await connect(`/api/sessions/${session}/events?follow=1`);
  slow.pause();
  await expect.poll(() => slow.readableLength).toBeGreaterThan(0);
  let bytes = 0;
  for await (const chunk of slow) {
    bytes += (chunk as Buffer).length;
    if (bytes > 100 * big.length) break;
  }
  expect(bytes).toBeGreaterThan(100 * big.length);
});

test("a reader of history who stalls is dropped", async () => {
  await gate.add("ses_a", ...Array.from({ length: 200 }, () => said(newId("part"), "x".repeat(100_000))));
  const errors: unknown[] = [];
  const source = { log: gate.log, history: openHistory(gate.log) };
  const streams = openStreams(source, (error) => errors.push(error), { ...limits, stallMs: 50 });
  const all = { after: 0, session: undefined, wants: undefined, hears: () => true, deltas: true, over: undefined };
  const server = createServer((_request, response) => streams.open(response, all));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const stuck = await new Promise<IncomingMessage>((resolve) => {
    httpRequest({ port, agent: false }, resolve).end();
  });
  stuck.pause();
  await expect.poll(() => streams.count).toBe(0);
  const failed = once(stuck, "error");
  stuck.resume();
  expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
  expect(errors).toEqual([]);
  server.close();
});

test("a heartbeat keeps a quiet stream alive", async () => {
  const brisk = await openTestGateway({ streamLimits: { ...limits, heartbeatMs: 5 } });
  const response = await fetch(`${brisk.gateway.url}/api/events?follow=1`, {
    headers: { authorization: `Bearer ${testToken}` },
  });
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes(":\n\n:\n\n")) break;
  }
  expect(text).toMatch(/^retry: 500\n\n(:\n\n)+$/);
  await brisk.close();
});

test("closing ends streams cleanly and lets go of the log", async () => {
  const session = await newSession();
  const client = await reader(`/api/sessions/${session}/events?follow=1`);
  await expect.poll(gate.subscribers).toBe(1);
  await gate.gateway.close();
  await expect.poll(client.ended).toBe(true);
  expect(client.response.complete).toBe(true);
  expect(gate.subscribers()).toBe(0);
});
