import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectSocket, type Socket } from "node:net";
import { event, newId } from "@corral/protocol";
import { WebSocket } from "ws";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { Deadlines } from "./server.ts";
import { ask, openTestGateway, testToken } from "./testing.ts";

const authorization = `Bearer ${testToken}`;

let gate: Awaited<ReturnType<typeof openTestGateway>>;
const clients: Socket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await gate.close();
});

const patient: Deadlines = {
  headersMs: 300_000,
  requestMs: 600_000,
  checkMs: 20,
  strangers: 100,
  strangerMs: 600_000,
  stalledMs: 600_000,
  idleMs: 600_000,
};

async function open(deadlines: Partial<Deadlines>) {
  gate = await openTestGateway({ deadlines: { ...patient, ...deadlines } });
}

/** A client that sends this, reads nothing, and never closes. */
async function mute(bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(gate.gateway.url);
  const socket = connectSocket({ host: hostname, port: Number(port), allowHalfOpen: true }).pause();
  clients.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

/** The clients for whose connections the gateway has a descriptor, whatever those think. */
async function held(): Promise<Set<number | undefined>> {
  // They are accepted in the order in which they came, and this one last.
  await health();
  const port = Number(new URL(gate.gateway.url).port);
  const rows = readFileSync("/proc/self/net/tcp", "latin1").trim().split("\n").slice(1);
  const known = rows.map((row) => {
    const [, local = "", remote = "", , , , , , , inode] = row.trim().split(/\s+/);
    return { local: portOf(local), remote: portOf(remote), inode };
  });
  return new Set(known.filter(({ local, inode }) => local === port && inode !== "0").map(({ remote }) => remote));
}

function portOf(address: string): number {
  return parseInt(address.split(":")[1] ?? "", 16);
}

async function areHeld(some: readonly Socket[]): Promise<number> {
  const ports = await held();
  return some.filter(({ localPort }) => ports.has(localPort)).length;
}

const lines = (...all: string[]) => all.map((line) => `${line}\r\n`).join("");
const host = () => `Host: ${new URL(gate.gateway.url).host}`;
const proof = `Authorization: ${authorization}`;
const upgrade = lines(
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  `Sec-WebSocket-Key: ${"A".repeat(22)}==`,
);
const health = () => ask(gate.gateway.url, { path: "/healthz" });
const sessions = () => ask(gate.gateway.url, { path: "/api/sessions", headers: { authorization } });

describe("a client that neither reads nor closes", () => {
  test("loses its connection, whatever it began to ask for", async () => {
    await open({ headersMs: 100, requestMs: 200, strangerMs: 1_000, idleMs: 300 });
    const requests = {
      nothing: "",
      "half a request line": "GET /hea",
      "half its headers": lines("GET /healthz HTTP/1.1", host()),
      garbage: "what?\r\n\r\n",
      "too many headers": lines("GET /healthz HTTP/1.1", host(), `X-Much: ${"x".repeat(20_000)}`),
      "half a body": lines(
        "POST /api/login HTTP/1.1",
        host(),
        "Content-Type: application/json",
        "Content-Length: 9",
        "",
      ),
      "half a body, with a token": lines(
        "POST /api/projects HTTP/1.1",
        host(),
        proof,
        "Content-Type: application/json",
        "Content-Length: 9",
        "",
      ),
      "a tunnel": lines("CONNECT example.com:443 HTTP/1.1", "Host: example.com:443", ""),
      "an upgrade without a token": lines("GET /api/stream HTTP/1.1", host(), upgrade),
      "an upgrade of a foreign page": lines("GET /api/stream HTTP/1.1", host(), "Origin: http://evil.example", upgrade),
      "an upgrade under a foreign name": lines("GET /api/stream HTTP/1.1", "Host: evil.example", upgrade),
      "an upgrade of what cannot be upgraded": lines("GET /healthz HTTP/1.1", host(), upgrade),
      "an upgrade that is half said": lines(
        "GET /api/stream HTTP/1.1",
        host(),
        proof,
        "Connection: Upgrade",
        "Upgrade: foo",
        "",
      ),
      "one answer": lines("GET /healthz HTTP/1.1", host(), ""),
      "one answer, with a token": lines("GET /api/sessions HTTP/1.1", host(), proof, ""),
      "one answer and half of another": lines("GET /healthz HTTP/1.1", host(), "") + "GET /hea",
    };
    const begun = lines("POST /api/projects HTTP/1.1", host(), proof, "Content-Type: application/json");
    const drips = await Promise.all(
      Object.entries({
        "headers byte by byte": [begun, "x"],
        "a body byte by byte": [begun + lines("Content-Length: 9999", ""), " "],
        "empty lines after an answer": [lines("GET /api/sessions HTTP/1.1", host(), proof, ""), "\r\n"],
      } as const).map(async ([what, [bytes, drop]]) => ({ what, drop, socket: await mute(bytes) })),
    );
    const dripping = setInterval(() => drips.forEach(({ socket, drop }) => socket.writable && socket.write(drop)), 10);
    const asking = await Promise.all(
      Object.entries(requests).map(async ([what, bytes]) => ({ what, socket: await mute(bytes) })),
    );
    const left = async () => {
      const ports = await held();
      return [...asking, ...drips].filter(({ socket }) => ports.has(socket.localPort)).map(({ what }) => what);
    };
    await expect.poll(left).toEqual([]);
    clearInterval(dripping);
  });
});

test("a refused upgrade is a whole answer that says that the connection closes", async () => {
  await open({});
  const refused = async (path: string, ...headers: string[]) => {
    const socket = await mute(lines(`GET ${path} HTTP/1.1`, ...headers, upgrade));
    const chunks: Buffer[] = [];
    await once(socket.on("data", (chunk: Buffer) => chunks.push(chunk)).resume(), "end");
    const [head = "", body = ""] = Buffer.concat(chunks).toString().split("\r\n\r\n");
    const [status, ...fields] = head.toLowerCase().split("\r\n");
    const named = (name: string) => fields.filter((each) => each.startsWith(`${name}:`));
    const isWhole = named("content-length").join() === `content-length: ${Buffer.byteLength(body)}`;
    return [status?.split(" ")[1], named("connection"), named("keep-alive"), isWhole];
  };
  const closes = [["connection: close"], [], true];
  expect(await refused("/api/stream", host())).toEqual(["401", ...closes]);
  expect(await refused("/api/stream", host(), proof, "Origin: http://evil.example")).toEqual(["403", ...closes]);
  expect(await refused("/api/stream", "Host: evil.example", proof)).toEqual(["421", ...closes]);
  expect(await refused("/api/stream?after=x", host(), proof)).toEqual(["400", ...closes]);
  expect(await refused("/api/%zz", host(), proof)).toEqual(["400", ...closes]);
  expect(await refused("/api/nothing", host(), proof)).toEqual(["404", ...closes]);
});

describe("answers that are not taken", () => {
  /** More than the kernel keeps for a connection. */
  async function addMuch(bytes = 12_000_000) {
    const { session } = await gate.newSession();
    const text = "x".repeat(1_000_000);
    for (let added = 0; added < bytes; added += text.length)
      await gate.add(session.id, event("turn.said", { id: "trn_1", part: newId("part"), kind: "text", text }));
    return session;
  }

  const allEvents = () => lines("GET /api/events?limit=1000 HTTP/1.1", host(), proof, "Connection: close", "");

  test("cost the client its connection, also when it keeps on sending", async () => {
    await open({ stalledMs: 400 });
    await addMuch();
    const silent = await mute(allEvents());
    const sending = await mute(allEvents());
    const drip = setInterval(() => sending.writable && sending.write("\r\n"), 10);
    await expect.poll(() => areHeld([silent, sending])).toBe(0);
    clearInterval(drip);
  });

  test("are not minded where everything was taken: streams that are quiet stay", async () => {
    await open({ stalledMs: 20, idleMs: 20, strangerMs: 200 });
    const { session } = await gate.newSession();
    const watching = await mute(lines("GET /api/events?follow=1 HTTP/1.1", host(), proof, ""));
    const socket = new WebSocket(`${gate.gateway.url.replace("http", "ws")}/api/stream`, {
      headers: { authorization },
    });
    await once(socket, "open");
    const stranger = await mute("");
    await expect.poll(() => areHeld([stranger])).toBe(0);
    let [sse, frames] = ["", ""];
    watching.on("data", (chunk) => (sse += String(chunk))).resume();
    socket.on("message", (data: Buffer) => (frames += data.toString()));
    const said = event("turn.said", { id: "trn_1", part: newId("part"), kind: "text", text: "still here" });
    await gate.add(session.id, said);
    await expect.poll(() => [sse, frames].map((heard) => heard.includes("still here"))).toEqual([true, true]);
    socket.terminate();
  });

  test("end a stream of events whose reader takes nothing, long before too much is unread", async () => {
    const limits = { bufferLimit: 1e9, stallMs: 600_000, heartbeatMs: 100 };
    gate = await openTestGateway({ deadlines: { ...patient, stalledMs: 400 }, streamLimits: limits });
    const watching = await mute(lines("GET /api/events?follow=1 HTTP/1.1", host(), proof, ""));
    await expect.poll(gate.subscribers).toBe(1);
    await addMuch();
    await expect.poll(() => areHeld([watching])).toBe(0);
  });

  test("end a WebSocket whose client answers pings and reads nothing", async () => {
    const limits = { bufferLimit: 1e9, stallMs: 600_000, heartbeatMs: 200 };
    gate = await openTestGateway({ deadlines: patient, streamLimits: limits });
    const watching = await mute(lines("GET /api/stream HTTP/1.1", host(), proof, upgrade));
    await expect.poll(gate.subscribers).toBe(1);
    const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
    const pongs = setInterval(() => watching.writable && watching.write(pong), 10);
    await addMuch();
    await expect.poll(() => areHeld([watching])).toBe(0);
    clearInterval(pongs);
  });
});

describe("callers that have not proved who they are", () => {
  test("push out each other by the hundred, and nobody who has a token", async () => {
    await open({ strangers: 50 });
    const known = await mute(lines("GET /api/events?follow=1 HTTP/1.1", host(), proof, ""));
    const whole = lines("GET /healthz HTTP/1.1", host(), "");
    const strangers: Socket[] = [];
    for (const bytes of ["GET /hea", whole, lines("GET /api/stream HTTP/1.1", host()), ""])
      for (let count = 0; count < 60; count++) strangers.push(await mute(bytes));
    const from = performance.now();
    expect([(await health()).status, (await sessions()).status]).toEqual([200, 200]);
    expect(performance.now() - from).toBeLessThan(2_000);
    expect(await areHeld([known])).toBe(1);
    // One place is taken by the request that finds out.
    await expect.poll(() => areHeld(strangers)).toBeLessThan(50);
    expect(await areHeld(strangers.slice(-40))).toBe(40);
    for (const stranger of strangers) stranger.destroy();
    await expect.poll(async () => [await areHeld(strangers), await areHeld([known])]).toEqual([0, 1]);
  });

  test("cannot keep anybody out while they open connections without end", async () => {
    await open({ strangers: 50 });
    const { hostname, port } = new URL(gate.gateway.url);
    const flood = `const net = require("node:net"); let opened = 0;
      const next = () => net.connect({ host: "${hostname}", port: ${port} }, () => { if (++opened === 100) console.log("begun"); })
        .on("close", next).on("error", () => undefined);
      for (let count = 0; count < 200; count++) next();`;
    const flooding = spawn(process.execPath, ["-e", flood], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void flooding.kill("SIGKILL"));
    await once(flooding.stdout, "data");
    const statuses = [];
    for (let count = 0; count < 100; count++) statuses.push((await sessions()).status);
    expect(statuses).toEqual(Array.from({ length: 100 }, () => 200));
  });
});
