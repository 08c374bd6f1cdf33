import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event } from "@corral/protocol";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { isGap, type Page } from "../../log/port.ts";
import { openSqliteLog } from "../../log/sqlite/index.ts";
import { openHistory } from "./history.ts";
import { openStreams } from "./sse.ts";
import type { Subscription } from "./subscription.ts";
import { openTestGateway } from "../testing.ts";

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

test("a cursor ahead of the log is refused on pages, streams and sockets", async () => {
  const gate = await openTestGateway();
  const { session } = await gate.newSession();
  const { headers } = await gate.token({ name: "reader", scope: "admin" });
  const ahead = (await gate.log.head()) + 1;
  const refused = { status: 409, code: "cursor.ahead", hint: expect.stringContaining("Start from 0") };
  for (const of of ["/api/events?", `/api/sessions/${session.id}/events?`]) {
    for (const how of ["", "&follow=1"]) {
      const response = await gate.request(`${of}after=${ahead}${how}`);
      expect([response.status, await response.json()]).toEqual([409, expect.objectContaining(refused)]);
    }
  }
  const socket = new WebSocket(`${gate.gateway.url.replace("http", "ws")}/api/stream?after=${ahead}`, { headers });
  const said: unknown[] = [];
  socket.on("message", (data) => said.push(JSON.parse((data as Buffer).toString())));
  await once(socket, "close");
  expect(said).toEqual([
    { kind: "subscribed", after: ahead },
    { kind: "problem", problem: expect.objectContaining(refused) },
  ]);
  await gate.close();
});

test("wherever a reader begins, it gets the gaps and the events that the log itself would give it", async () => {
  const gate = await openTestGateway();
  const opened = event("activity.opened", { id: "act_1" });
  for (let n = 0; n < 90; n++) {
    await gate.add("ses_1", opened, opened, opened);
    await gate.add("ses_2", opened, opened);
  }
  await gate.log.trim({ before: 150, keep: (stream) => stream === "ses_2" });
  await gate.log.trim({ before: 260, keep: () => false });
  await gate.log.trim({ before: 330, keep: (stream) => stream === "ses_2" });
  const history = openHistory(gate.log);
  const viaHistory = async (after: number, stream?: string) => {
    const page = await history.read({ after, stream });
    return "kind" in page ? page : page.events;
  };
  const viaLog = (after: number, stream?: string) => gate.log.read({ after, ...(stream && { stream }) });
  for (const stream of [undefined, "ses_1", "ses_2"]) {
    for (const after of [0, 7, 148, 199, 200, 201, 258, 259, 260, 263, 330, 399, 400, 449, 450])
      expect(await all(viaHistory, after, stream)).toEqual(await all(viaLog, after, stream));
  }
  history.close();
  await gate.close();
});

/** What a reader sees until the end: seqs, and gaps. */
async function all(read: (after: number, stream?: string) => Promise<Page>, from: number, stream?: string) {
  const seen: unknown[] = [];
  for (let after = from; ;) {
    const page = await read(after, stream);
    if (isGap(page)) seen.push(page);
    else seen.push(...page.map(({ seq }) => seq));
    const next = isGap(page) ? page.to : page.at(-1)?.seq;
    if (next === undefined) return seen;
    after = next;
  }
}

function everythingAfter(after: number): Subscription {
  return { after, session: undefined, wants: undefined, hears: () => true, deltas: true, over: undefined };
}
