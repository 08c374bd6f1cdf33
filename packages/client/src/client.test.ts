import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CorralError, type Delta, type WireEvent } from "@corral/protocol";
import { afterEach, expect, test, vi } from "vitest";
import { type Break, createClient, type Followed } from "./index.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A server that gives its answers in order and remembers what was asked. */
async function serve(...answers: Answer[]) {
  const asked: { method: string; url: string; authorization: string | undefined; body: string }[] = [];
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers["idempotency-key"]);
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      asked.push({ method, url, authorization: headers.authorization, body });
      answers.shift()?.(request, response);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  servers.push(server);
  const endpoint = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: "t0" };
  return { asked, keys, server, endpoint, client: createClient(endpoint) };
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = { "x-corral": "1.2.3" }): Answer =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };

/** Sends the text and then cuts the connection, ends it, or leaves it open. */
const stream =
  (text: string, then: "cut" | "end" | "stay"): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text, () => {
      if (then === "cut") response.socket?.destroy();
      if (then === "end") response.end();
    });
  };

const eventOf = (seq: number, type = "activity.opened", data: unknown = {}): WireEvent => ({
  seq,
  stream: "ses_a",
  version: seq,
  typeVersion: 1,
  actor: "operator",
  approximateCreationTime: "2026-01-01T00:00:00.000Z",
  type,
  data,
});
const eventFrame = (event: WireEvent) => `id: ${event.seq}\nevent: event\ndata: ${JSON.stringify(event)}\n\n`;
const frames = (...seqs: number[]) => seqs.map((seq) => eventFrame(eventOf(seq))).join("");
const textDelta = (offset: number, text: string, part = "prt_a") =>
  ({ kind: "text", session: "ses_a", part, offset, text }) as Delta;
const deltaFrame = (delta: Delta) => `event: delta\ndata: ${JSON.stringify(delta)}\n\n`;

/** Takes from the stream until `count` things came. */
async function take(followed: AsyncIterable<Followed>, count: number): Promise<unknown[]> {
  const taken: unknown[] = [];
  for await (const news of followed) {
    if (news.kind === "event") taken.push(news.event.seq);
    else taken.push(news.kind === "gap" ? news : [news.delta.offset, news.delta.text]);
    if (taken.length === count) break;
  }
  return taken;
}

const project = { id: "prj_a", path: "/repo", name: "repo", present: true, worktree: "/repo", seq: 1 };

test("a method sends its body with the token and gives back what the daemon answered", async () => {
  const { client, asked } = await serve(json(200, project));
  expect(await client.projects.register({ path: "/repo" })).toEqual(project);
  expect(asked).toEqual([
    { method: "POST", url: "/api/projects", authorization: "Bearer t0", body: '{"path":"/repo"}' },
  ]);
});

test("without a token nothing is said of one, for a browser's cookie goes along by itself", async () => {
  const { endpoint, asked } = await serve(json(200, { kind: "logged-in" }), json(200, { sessions: [] }));
  const client = createClient({ url: endpoint.url });
  await client.login.enter({ code: "c0" });
  await client.sessions.list();
  expect(asked).toEqual([
    { method: "POST", url: "/api/login", authorization: undefined, body: '{"code":"c0"}' },
    { method: "GET", url: "/api/sessions", authorization: undefined, body: "" },
  ]);
});

test("a key goes along with what is sent, and filters with what is read", async () => {
  const { client, asked, keys } = await serve(
    json(200, project),
    json(200, { events: [], next: 3 }),
    stream("", "stay"),
  );
  await client.projects.register({ path: "/repo" }, { key: "k1" });
  await client.events({ after: 3, session: "ses_a", project: "prj_a", types: ["turn.*", "call.started"] });
  const leaving = new AbortController();
  const followed = client.follow({ after: 1, types: ["turn.*"], deltas: false, signal: leaving.signal });
  const end = followed.next();
  await expect.poll(() => asked.length).toBe(3);
  leaving.abort();
  await end;
  expect(keys).toEqual(["k1", undefined, undefined]);
  expect(asked.map(({ url }) => decodeURIComponent(url)).slice(1)).toEqual([
    "/api/events?after=3&session=ses_a&project=prj_a&types=turn.*,call.started",
    "/api/events?follow=1&after=1&types=turn.*&deltas=0",
  ]);
});

test("a method takes the parameters of its path, then what is wished for, then a signal and a key", async () => {
  const { client, asked, keys } = await serve(
    json(200, { kind: "changed" }),
    json(200, { questions: [{ id: "que_a" }], seq: 1 }),
    json(200, { kind: "archived" }),
    json(200, { session: "ses_a" }),
    json(200, { contacts: [] }),
  );
  await client.sessions.change("ses_a", "inp_a", { change: "cancel" }, { key: "k1" });
  expect(await client.questions.list({ closed: true, session: "ses_a" })).toEqual([{ id: "que_a" }]);
  await client.sessions.archive("ses_a", { key: "k2" });
  await client.sessions.get("ses_a/../b");
  await client.network();
  expect(asked.map(({ method, url, body }) => [method, url, body])).toEqual([
    ["POST", "/api/sessions/ses_a/inputs/inp_a", '{"change":"cancel"}'],
    ["GET", "/api/questions?closed=1&session=ses_a", ""],
    ["POST", "/api/sessions/ses_a/archive", "{}"],
    ["GET", "/api/sessions/ses_a%2F..%2Fb", ""],
    ["GET", "/api/network", ""],
  ]);
  expect(keys).toEqual(["k1", undefined, "k2", undefined, undefined]);
});

test("health is asked without the token", async () => {
  const { client, asked } = await serve(json(200, { ok: true, version: "1" }));
  expect(await client.daemon.health()).toEqual({ ok: true, version: "1" });
  expect(asked).toEqual([{ method: "GET", url: "/healthz", authorization: undefined, body: "" }]);
});

test("a problem document is thrown as the error it was made of", async () => {
  const original = new CorralError("model.unknown", "No such model", { hint: "try another", retry: "never" });
  const { client } = await serve(json(422, original.toProblem()));
  const { code, message, hint, retry } = original;
  await expect(client.sessions.create({ projectId: "prj_a" })).rejects.toMatchObject({
    name: "CorralError",
    code,
    message,
    hint,
    retry,
  });
});

test("a request that the daemon has not heard whole is sent again as it was, a few times", async () => {
  const tooSlow = json(408, new CorralError("request.timeout", "Too slow", { retry: "now" }).toProblem());
  const { client, asked } = await serve(tooSlow, tooSlow, json(200, project), tooSlow, tooSlow, tooSlow);
  expect(await client.projects.register({ path: "/repo" })).toEqual(project);
  expect(asked.map(({ method, body }) => [method, body])).toEqual(
    Array.from({ length: 3 }, () => ["POST", '{"path":"/repo"}']),
  );
  await expect(client.projects.register({ path: "/repo" })).rejects.toMatchObject({ code: "request.timeout" });
  expect(asked).toHaveLength(6);
});

test("nobody there, or somebody else, is an unreachable daemon", async () => {
  const { client, server } = await serve(
    json(200, { sessions: [] }, {}),
    json(200, { ok: true, version: "1" }, {}),
    (_request, response) => response.writeHead(200, { "x-corral": "1" }).end("<html>"),
    (_request, response) => response.writeHead(500).end("<html>"),
  );
  await expect(client.sessions.list()).rejects.toMatchObject({ code: "daemon.unreachable", retry: "later" });
  await expect(client.daemon.health()).rejects.toMatchObject({ code: "daemon.unreachable" });
  await expect(client.sessions.list()).rejects.toMatchObject({ code: "daemon.unreachable" });
  await expect(client.sessions.list()).rejects.toMatchObject({ code: "daemon.unreachable" });
  server.close().closeAllConnections();
  await expect(client.sessions.list()).rejects.toMatchObject({
    code: "daemon.unreachable",
    hint: "Start one with `corral serve`",
  });
});

test("an aborted signal ends a request with its reason", async () => {
  const { client } = await serve(() => undefined);
  const leaving = new AbortController();
  const asking = client.sessions.list({}, { signal: leaving.signal });
  leaving.abort(new Error("enough"));
  await expect(asking).rejects.toThrow("enough");
});

test("a stream cut between and inside events goes on without gap or repeat", async () => {
  const half = eventFrame(eventOf(4));
  const { client, asked } = await serve(
    stream(frames(1, 2, 3) + half.slice(0, half.length / 2), "cut"),
    stream(frames(3, 4, 5), "end"),
    stream("", "cut"),
    stream(frames(6), "stay"),
  );
  expect(await take(client.follow({ after: 0, session: "ses_a" }), 6)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(asked.map(({ url }) => url)).toEqual(
    [0, 3, 5, 5].map((after) => `/api/sessions/ses_a/events?follow=1&after=${after}`),
  );
});

test("text heard before a break is not heard again, and only the rest of it comes", async () => {
  const { client } = await serve(
    stream(deltaFrame(textDelta(0, "Hello")) + deltaFrame(textDelta(5, ", wo")), "cut"),
    stream(deltaFrame(textDelta(0, "Hello, world")) + deltaFrame(textDelta(0, "new", "prt_b")), "cut"),
    stream(deltaFrame(textDelta(0, "Hello, world")) + deltaFrame(textDelta(12, "!")), "stay"),
  );
  expect(await take(client.follow({ after: 0 }), 5)).toEqual([
    [0, "Hello"],
    [5, ", wo"],
    [9, "rld"],
    [0, "new"],
    [12, "!"],
  ]);
});

test("the output of a call that starts again is counted anew", async () => {
  const output = (offset: number, text: string) =>
    deltaFrame({ kind: "stdout", session: "ses_a", part: "cal_a", offset, text });
  const again = eventFrame(eventOf(1, "call.started", { id: "cal_a", attempt: 2 }));
  const { client } = await serve(stream(output(0, "one") + again + output(0, "two"), "stay"));
  expect(await take(client.follow({ after: 0 }), 3)).toEqual([[0, "one"], 1, [0, "two"]]);
});

test("kinds that a newer daemon may send are passed on as events and skipped as deltas", async () => {
  const odd = `event: delta\ndata: {"kind":"hologram"}\n\nevent: other\ndata: x\n\n`;
  const { client } = await serve(stream(odd + eventFrame(eventOf(1, "pony.born", { name: "Pip" })), "stay"));
  for await (const news of client.follow({ after: 0 })) {
    expect(news).toEqual({ kind: "event", event: eventOf(1, "pony.born", { name: "Pip" }) });
    break;
  }
});

test("in the place of events no longer kept comes one gap, and the stream goes on behind it", async () => {
  const gap = (from: number, to: number) => `id: ${to}\nevent: gap\ndata: {"kind":"gap","from":${from},"to":${to}}\n\n`;
  const { client, asked } = await serve(
    stream(frames(1) + gap(2, 5), "cut"),
    stream(gap(2, 5) + gap(4, 7) + frames(8), "stay"),
  );
  expect(await take(client.follow({ after: 0 }), 4)).toEqual([
    1,
    { kind: "gap", from: 2, to: 5 },
    { kind: "gap", from: 6, to: 7 },
    8,
  ]);
  expect(asked.map(({ url }) => url)).toEqual(["/api/events?follow=1&after=0", "/api/events?follow=1&after=5"]);
});

test("behind a gap the text so far is told again, for the event that closed its part may be lost", async () => {
  const gap = `id: 3\nevent: gap\ndata: {"kind":"gap","from":1,"to":3}\n\n`;
  const { client } = await serve(
    stream(deltaFrame(textDelta(0, "old")) + gap + deltaFrame(textDelta(0, "new")), "stay"),
  );
  expect(await take(client.follow({ after: 0 }), 3)).toEqual([[0, "old"], { kind: "gap", from: 1, to: 3 }, [0, "new"]]);
});

test("connections that lived while nothing happened are no row of failures, others are", async () => {
  const beat = stream(":\n\n", "end");
  const mute = stream("retry: 500\n\n", "end");
  const { client } = await serve(beat, beat, mute, mute, stream(frames(1), "stay"));
  const attempts: number[] = [];
  await take(client.follow({ after: 0, onBreak: ({ attempt }) => void attempts.push(attempt) }), 1);
  expect(attempts).toEqual([1, 1, 2, 3]);
});

test("each break is told with the cursor, and the client may be pointed elsewhere", async () => {
  const successor = await serve(stream(frames(3), "stay"));
  const { client } = await serve(stream(frames(1, 2), "cut"));
  const breaks: Pick<Break, "attempt" | "cursor">[] = [];
  const followed = client.follow({
    after: 0,
    onBreak({ attempt, cursor }) {
      breaks.push({ attempt, cursor });
      client.moveTo({ ...successor.endpoint, token: "t1" });
    },
  });
  expect(await take(followed, 3)).toEqual([1, 2, 3]);
  expect(breaks).toEqual([{ attempt: 1, cursor: 2 }]);
  expect(successor.asked).toMatchObject([{ authorization: "Bearer t1", url: "/api/events?follow=1&after=2" }]);
});

test("giving up is throwing in onBreak", async () => {
  const { client, server } = await serve();
  server.close();
  const attempts: number[] = [];
  const followed = client.follow({
    after: 0,
    onBreak({ error, attempt }) {
      attempts.push(attempt);
      if (attempt === 3) throw error;
    },
  });
  await expect(take(followed, 1)).rejects.toMatchObject({ code: "daemon.unreachable" });
  expect(attempts).toEqual([1, 2, 3]);
});

test("what asking again cannot mend is thrown at once", async () => {
  const { client, asked } = await serve(json(404, new CorralError("not-found", "No such session").toProblem()));
  await expect(take(client.follow({ after: 0, session: "ses_a" }), 1)).rejects.toMatchObject({ code: "not-found" });
  expect(asked.length).toBe(1);
});

test("a refusal for a reason that only a newer daemon knows is thrown at once too", async () => {
  const refused = { ...new CorralError("not-found", "No ponies here").toProblem(), code: "pony.refused", status: 422 };
  const { client, asked } = await serve(json(422, refused));
  await expect(take(client.follow({ after: 0 }), 1)).rejects.toMatchObject({
    code: "request.invalid",
    message: "No ponies here",
  });
  expect(asked.length).toBe(1);
});

test("an event in an unknown shape is thrown, not asked for again and again", async () => {
  const { client } = await serve(stream("event: event\ndata: {}\n\n", "stay"));
  await expect(take(client.follow({ after: 0 }), 1)).rejects.toMatchObject({ code: "daemon.version" });
});

const silenceMs = 40_321;

/** Timers of this length, as nothing else has one, go off by hand: on a busy machine none that is short leaves time enough for an answer. */
function holdSilences() {
  const held = new Map<unknown, () => void>();
  const { setTimeout: begin, clearTimeout: end } = globalThis;
  const set = (goOff: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => {
    if (ms !== silenceMs) return begin(goOff, ms, ...given);
    const timer = begin(() => undefined, 0);
    held.set(timer, goOff);
    return timer;
  };
  const setting = vi.spyOn(globalThis, "setTimeout").mockImplementation(set as typeof setTimeout);
  const clearing = vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    if (!held.delete(timer)) end(timer);
  });
  return {
    count: () => held.size,
    goOff() {
      const due = [...held.values()];
      held.clear();
      for (const goOff of due) goOff();
    },
    [Symbol.dispose]() {
      setting.mockRestore();
      clearing.mockRestore();
    },
  };
}

test("a connection that fell silent is taken for dead", async () => {
  using silences = holdSilences();
  const { client, asked } = await serve(stream(frames(1), "stay"), stream(frames(2), "stay"));
  const followed = client.follow({ after: 0, silenceMs });
  expect(await followed.next()).toMatchObject({ value: { event: { seq: 1 } } });
  const next = followed.next();
  await expect.poll(silences.count).toBe(1);
  silences.goOff();
  expect(await next).toMatchObject({ value: { event: { seq: 2 } } });
  expect(asked.map(({ url }) => url)).toEqual([0, 1].map((after) => `/api/events?follow=1&after=${after}`));
  await followed.return();
  expect(silences.count()).toBe(0);
});

test("a connection over which nothing ever comes is taken for dead", async () => {
  using silences = holdSilences();
  const { client, asked } = await serve(() => undefined, stream(frames(1), "stay"));
  const followed = client.follow({ after: 0, silenceMs });
  const next = followed.next();
  await expect.poll(() => asked.length).toBe(1);
  silences.goOff();
  expect(await next).toMatchObject({ value: { event: { seq: 1 } } });
  await followed.return();
});

test("a reader that takes its time with what came does not take the connection for dead", async () => {
  using silences = holdSilences();
  let more = () => undefined as unknown;
  const { client, asked } = await serve(
    (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(frames(1));
      more = () => response.write(frames(2));
    },
    stream(frames(2), "stay"),
  );
  const taken: unknown[] = [];
  for await (const news of client.follow({ after: 0, silenceMs })) {
    taken.push(news);
    if (taken.length === 2) break;
    silences.goOff();
    more();
  }
  expect(taken).toEqual([1, 2].map((seq) => ({ kind: "event", event: eventOf(seq) })));
  expect(asked.length).toBe(1);
});

test("an aborted signal ends the stream, while it waits and between attempts", async () => {
  const { client } = await serve(stream(frames(1), "stay"));
  const leaving = new AbortController();
  const seen: unknown[] = [];
  for await (const news of client.follow({ after: 0, signal: leaving.signal })) {
    seen.push(news);
    leaving.abort();
  }
  expect(seen).toEqual([{ kind: "event", event: eventOf(1) }]);

  const broken = await serve(stream("", "cut"));
  const between = new AbortController();
  const nothing = await take(
    broken.client.follow({ after: 0, signal: between.signal, onBreak: () => between.abort() }),
    1,
  );
  expect(nothing).toEqual([]);
});

test("an aborted signal ends the stream while somebody thinks about a break", async () => {
  const { client } = await serve(stream("", "cut"));
  const leaving = new AbortController();
  const onBreak = () => {
    queueMicrotask(() => leaving.abort());
    return new Promise<void>(() => undefined);
  };
  expect(await take(client.follow({ after: 0, signal: leaving.signal, onBreak }), 1)).toEqual([]);
});

const newsOf = (news: object) =>
  `event: output\ndata: ${JSON.stringify({ kind: "output", stream: "stdout", ...news })}\n\n`;

test("a command's output comes once, byte by byte, however its pieces fall and the connection breaks", async () => {
  const isNoText = { text: "\uFFFDb", bytes: btoa("\xffb") };
  const result = {
    exitCode: 0,
    stdout: "",
    stderr: "",
    stdoutBytes: 6,
    stderrBytes: 0,
    timedOut: false,
    shellRespawned: false,
  };
  const command = { id: "cmd_1", shell: "shl_1", state: "ended", result };
  const end = `event: command\ndata: ${JSON.stringify({ kind: "command", command })}\n\n`;
  const { client } = await serve(
    stream(newsOf({ text: "é" }) + newsOf(isNoText), "cut"),
    stream(newsOf({ text: "é\uFFFDb€", bytes: btoa("\xc3\xa9\xffb\xe2\x82\xac") }) + end, "end"),
  );
  const heard: [string, number[]][] = [];
  let taking = 0;
  const ended = await client.shells.follow("shl_1", "cmd_1", {
    async onOutput(_stream, text, bytes) {
      expect(++taking).toBe(1);
      await new Promise(setImmediate);
      heard.push([text, [...bytes]]);
      taking -= 1;
    },
  });
  expect(ended).toEqual(command);
  expect(heard).toEqual([
    ["é", [0xc3, 0xa9]],
    ["\uFFFDb", [0xff, 0x62]],
    ["€", [0xe2, 0x82, 0xac]],
  ]);
});
