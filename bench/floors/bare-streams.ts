/** A bare server that sends the same bytes to whoever asks, as fast as they are taken: what no stream of events can beat. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const bytes = Number(process.argv[2]);
const chunk = Buffer.alloc(64 * 1024, "x");

const server = createServer((_request, response) => {
  let left = bytes;
  const send = () => {
    while (left > 0) {
      const next = left >= chunk.length ? chunk : chunk.subarray(0, left);
      left -= next.length;
      if (!response.write(next)) return void response.once("drain", send);
    }
    response.end();
  };
  send();
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/`, pid: process.pid })}\n`);
});
