import { WebSocket } from "ws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMeter } from "./meter.ts";
import { openTestGateway, testToken } from "./testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway();
});
afterEach(() => gate.close());

/** The figures by name and labels. */
async function figures(): Promise<Readonly<Record<string, number>>> {
  const text = await (await gate.request("/metrics")).text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

test("figures come in the text format of Prometheus, to who has a token", async () => {
  expect((await fetch(`${gate.gateway.url}/metrics`)).status).toBe(401);
  const response = await gate.request("/metrics");
  expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(await response.text()).toMatch(/^# HELP corral_/);
});

test("requests are counted by route and status, never by what was in the address", async () => {
  const { session } = await gate.newSession();
  await gate.request(`/api/sessions/${session.id}`);
  await gate.request("/api/sessions/ses_none");
  await gate.request("/api/secret-place");
  const found = await figures();
  expect(found).toMatchObject({
    'corral_requests_total{method="GET",route="/api/sessions/:id",status="200"}': 1,
    'corral_requests_total{method="GET",route="/api/sessions/:id",status="404"}': 1,
    'corral_requests_total{method="GET",route="unknown",status="404"}': 1,
    'corral_requests_total{method="POST",route="/api/sessions",status="201"}': 1,
  });
  expect(JSON.stringify(found)).not.toContain("secret-place");
});

test("sessions, streams, runners, memory and the event loop are told as they are", async () => {
  await gate.newSession();
  const sse = await gate.request("/api/events?follow=1");
  const socket = new WebSocket(`${gate.gateway.url.replace("http", "ws")}/api/stream`, {
    headers: { authorization: `Bearer ${testToken}` },
  });
  await expect.poll(gate.subscribers).toBe(2);
  expect(await figures()).toMatchObject({
    'corral_sessions{state="idle"}': 1,
    'corral_sessions{state="thinking"}': 0,
    'corral_streams{protocol="sse"}': 1,
    'corral_streams{protocol="websocket"}': 1,
    corral_runner_processes: 2,
    'corral_memory_bytes{kind="rss"}': expect.any(Number),
    'corral_event_loop_delay_seconds{quantile="0.99"}': expect.any(Number),
  });
  socket.close();
  await sse.body?.cancel();
});

test("commits, events and the time that appends take are counted where the log is measured", async () => {
  const meter = openMeter();
  const measured = meter.measured(gate.log);
  await measured.append({ stream: "ses_a", actor: "a", events: [] });
  await gate.add(
    "ses_a",
    { type: "activity.opened", data: { id: "act_1" } },
    { type: "activity.opened", data: { id: "act_2" } },
  );
  expect(await measured.head()).toBe(2);
  const text = await meter.text();
  expect(text).toContain("corral_events_total 2");
  expect(text).toContain("corral_append_seconds_count 1");
  expect(text).toMatch(/corral_commits_total [12]\n/);
  meter.close();
});
