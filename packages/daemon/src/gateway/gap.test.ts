import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event } from "@corral/protocol";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { openHistory } from "./history.ts";
import { openStreams } from "./sse.ts";
import type { Subscription } from "./subscription.ts";
import { openTestGateway } from "./testing.ts";

test("a stream from before what was trimmed begins with the gap, whose id is the cursor to go on from", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-gap-"));
  const log = await openSqliteLog({ file: join(folder, "log.db"), projections: [] });
  const opened = event("activity.opened", { id: "act_1" });
  for (let n = 1; n <= 4; n++) await log.append({ stream: "ses_1", actor: "u", events: [opened] });
  await log.trim({ before: 4 });
  const streams = openStreams({ log, history: openHistory(log) }, () => undefined);
  const server = createServer((_, response) => streams.open(response, everythingAfter(1)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { body } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    let text = "";
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("id: 4\n")) break;
    }
    const frames = text.split("\n\n").filter((frame) => frame.startsWith("id: "));
    expect([frames[0], frames[1]?.split("\n")[0]]).toEqual([
      'id: 3\nevent: gap\ndata: {"kind":"gap","from":2,"to":3}',
      "id: 4",
    ]);
  } finally {
    streams.end();
    server.closeAllConnections();
    server.close();
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("pages and sockets tell of the gap too, and go on behind it", async () => {
  const gate = await openTestGateway();
  const opened = event("activity.opened", { id: "act_1" });
  for (let n = 1; n <= 4; n++) await gate.add("ses_1", opened);
  await gate.log.trim({ before: 4 });
  const gap = { kind: "gap", from: 2, to: 3 };
  expect(await (await gate.request("/api/events?after=1")).json()).toEqual({ events: [], next: 3, gap });
  const { headers } = await gate.token({ name: "reader", scope: "admin" });
  const socket = new WebSocket(`${gate.gateway.url.replace("http", "ws")}/api/stream?after=1`, { headers });
  const said: { kind: string; event?: { seq: number } }[] = [];
  socket.on("message", (data) => said.push(JSON.parse((data as Buffer).toString())));
  await expect.poll(() => said.length).toBeGreaterThan(3);
  expect(said.slice(0, 2)).toEqual([{ kind: "subscribed", after: 1 }, gap]);
  expect(said.slice(2, 4).map((message) => message.event?.seq)).toEqual([4, 5]);
  socket.terminate();
  await gate.close();
});

function everythingAfter(after: number): Subscription {
  return { after, session: undefined, wants: undefined, hears: () => true, deltas: true, over: undefined };
}
