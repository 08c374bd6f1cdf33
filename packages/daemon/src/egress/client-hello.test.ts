import { createServer } from "node:net";
import { connect } from "node:tls";
import { expect, test } from "vitest";
import { serverNameIn } from "./client-hello.ts";

async function greeting(servername: string): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const server = createServer((socket) => socket.once("data", resolve).on("error", () => undefined));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { port: number };
  const client = connect({ host: "127.0.0.1", port, ...(servername === "" ? {} : { servername }) });
  client.on("error", () => undefined);
  const bytes = await promise;
  client.destroy();
  server.close();
  return bytes;
}

test("the name is read from a client's greeting", async () => {
  expect(serverNameIn(await greeting("Some.Example.org"))).toBe("some.example.org");
});

test("a greeting without a name has none", async () => {
  expect(serverNameIn(await greeting(""))).toBeUndefined();
});

test("no beginning of a greeting, and nothing else, makes it fail", async () => {
  const bytes = await greeting("example.org");
  for (let size = 0; size < bytes.length; size++)
    expect(serverNameIn(bytes.subarray(0, size))).oneOf([undefined, ...cuts]);
  expect(serverNameIn(Buffer.alloc(70_000, 0xff))).toBeUndefined();
  expect(serverNameIn(Buffer.from("GET / HTTP/1.1\r\n\r\n"))).toBeUndefined();
});

const cuts = Array.from("example.org", (_, index) => "example.org".slice(0, index + 1));
