import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type CallerLimits, mindCallers } from "./mind-callers.ts";

const patient: CallerLimits = { strangers: 100, strangerMs: 600_000, stalledMs: 600_000, idleMs: 600_000 };

/** More than the kernel keeps for a connection. */
const much = Buffer.alloc(100_000_000, "x");

let server: Server;
const clients: Socket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await new Promise((resolve) => server.close(resolve));
});

async function serve(limits: Partial<CallerLimits>, listener: RequestListener) {
  server = createServer(listener);
  mindCallers(server, { ...patient, ...limits });
  await once(server.listen(0, "127.0.0.1"), "listening");
}

/** Asks, and reads nothing until it is told to. */
async function ask(): Promise<Socket> {
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").pause();
  clients.push(client);
  client.on("error", () => undefined);
  await once(client, "connect");
  client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  return client;
}

test("one long answer is waited for as long as its reader takes a little now and then", async () => {
  const stalledMs = 1_000;
  await serve({ stalledMs }, (_request, response) => response.end(much));
  const client = await ask();
  let bytes = 0;
  const from = performance.now();
  client.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    client.pause();
    setTimeout(() => client.resume(), 1);
  });
  await once(client.resume(), "end");
  expect(performance.now() - from).toBeGreaterThan(1.25 * stalledMs);
  expect(bytes).toBeGreaterThan(much.length);
});

test("one long answer that nobody reads ends with its connection", async () => {
  const { promise: closed, resolve } = Promise.withResolvers<unknown>();
  await serve({ stalledMs: 100 }, (_request, response) => {
    response.once("close", () => resolve({ isWhole: response.writableFinished }));
    response.end(much);
  });
  await ask();
  expect(await closed).toEqual({ isWhole: false });
});
