import { fileURLToPath } from "node:url";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openTestGateway, testToken } from "../gateway/testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway();
});
afterEach(() => gate.close());

async function openTerminal() {
  const shell = (await (await gate.post("/api/shells", {})).json()).id as string;
  const answer = await gate.post(`/api/shells/${shell}/terminals`, { columns: 90, rows: 20 });
  const view = await answer.json();
  return { shell, status: answer.status, view, path: `/api/shells/${shell}/terminals/${view.id}` };
}

function attach(path: string, headers: Record<string, string> = { authorization: `Bearer ${testToken}` }) {
  const socket = new WebSocket(`${gate.gateway.url.replace("http", "ws")}${path}`, { headers });
  let output = "";
  const messages: { kind: string }[] = [];
  const waiting = new Set<() => void>();
  socket.on("error", () => undefined);
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) output = (output + data.toString()).slice(-100_000);
    else messages.push(JSON.parse(data.toString()));
    for (const look of waiting) look();
  });
  const until = (isThere: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isThere()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    socket,
    output: () => output,
    opened: new Promise<void>((resolve) => socket.once("open", resolve)),
    refused: new Promise<number>((resolve) =>
      socket.once("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0)),
    ),
    closed: new Promise<number>((resolve) => socket.once("close", resolve)),
    shows: (text: string) => until(() => output.includes(text)),
    async told(kind: string) {
      await until(() => messages.some((message) => message.kind === kind));
      return messages.find((message) => message.kind === kind);
    },
    type: (keys: string) => socket.send(Buffer.from(keys)),
    say: (message: object) => socket.send(JSON.stringify(message)),
  };
}

test("a terminal is opened, watched by two, resized, and its end is on record with the file of what was on it", async () => {
  const { shell, status, view, path } = await openTerminal();
  expect({ status, view }).toEqual({
    status: 201,
    view: {
      id: expect.stringMatching(/^trm_/),
      of: shell,
      state: "open",
      lasting: true,
      viewers: 0,
      columns: 90,
      rows: 20,
      scrollback: expect.stringMatching(/^file:\/\/.*\.txt$/),
    },
  });
  const first = attach(`${path}/stream`);
  await first.opened;
  first.type("x=$((40 + 2)); echo is-$x\r");
  await first.shows("is-42");
  const second = attach(`${path}/stream?columns=100&rows=30`);
  await second.shows("is-42");
  expect(await first.told("size")).toEqual({ kind: "size", columns: 100, rows: 30 });
  second.type("stty size; printf '\\033]52;c;ZXZpbA==\\a'\r");
  await Promise.all([first.shows("30 100"), second.shows("30 100")]);
  expect(await (await gate.request(path)).json()).toMatchObject({ viewers: 2, columns: 100, rows: 30 });
  expect(await (await gate.request(`${path}/scrollback`)).text()).toContain("is-42\n");
  first.socket.close();
  await first.closed;
  second.type("exit 4\r");
  const closed = {
    id: view.id,
    reason: "its program ended",
    exitCode: 4,
    scrollback: expect.stringMatching(/^file:\/\/.*\.txt$/),
  };
  expect(await second.told("closed")).toEqual({ kind: "closed", terminal: closed });
  expect(await second.closed).toBe(1000);
  expect(second.output()).not.toContain("\u001b]52");
  const told = (await gate.events(shell)).filter(({ type }) => type.startsWith("terminal."));
  expect(told.map(({ type, data }) => ({ type, data }))).toEqual([
    { type: "terminal.opened", data: { id: view.id, environment: expect.any(String), columns: 90, rows: 20 } },
    { type: "terminal.closed", data: closed },
  ]);
  const kept = (await gate.events(shell)).filter(({ type }) => type.startsWith("artifact."));
  expect(kept.map(({ type }) => type)).toEqual(["artifact.announced", "artifact.kept"]);
  const { scrollback = "" } = (told[1]?.data ?? {}) as { scrollback?: string };
  expect(readFileSync(fileURLToPath(scrollback), "utf8")).toContain("is-42\n");
  expect(await (await gate.request(`${path}/scrollback`)).text()).toContain("is-42\n");
  const late = attach(`${path}/stream`);
  expect(await late.told("closed")).toEqual({ kind: "closed", terminal: closed });
});

test("what is no message of a terminal is refused, and the terminal lives on", async () => {
  const { path } = await openTerminal();
  const odd = attach(`${path}/stream`);
  await odd.opened;
  odd.say({ kind: "resize", columns: 0, rows: -1 });
  expect(await odd.told("problem")).toMatchObject({ problem: { code: "request.invalid" } });
  expect(await odd.closed).toBe(1008);
  const next = attach(`${path}/stream`);
  await next.opened;
  next.say({ kind: "ping" });
  await next.told("pong");
  next.type("echo st''ill\r");
  await next.shows("still");
});

test("strangers are not let in: no token, another page, too little scope", async () => {
  const { path } = await openTerminal();
  expect(await attach(`${path}/stream`, {}).refused).toBe(401);
  const { headers } = await gate.token({ name: "reader", scope: "read" });
  expect(await attach(`${path}/stream`, headers).refused).toBe(403);
  const elsewhere = { authorization: `Bearer ${testToken}`, origin: "https://evil.example" };
  expect(await attach(`${path}/stream`, elsewhere).refused).toBe(403);
});

test("who does not read is dropped alone", async () => {
  await gate.close();
  gate = await openTestGateway({ streamLimits: { bufferLimit: 1_000_000, stallMs: 30_000, heartbeatMs: 60_000 } });
  const { path } = await openTerminal();
  const idle = attach(`${path}/stream`);
  const busy = attach(`${path}/stream`);
  await Promise.all([idle.opened, busy.opened]);
  await busy.shows("$");
  idle.socket.pause();
  busy.type("yes $(seq -s, 1000)\r");
  const viewers = async () => (await (await gate.request(path)).json()).viewers as number;
  await expect.poll(viewers).toBe(1);
  busy.type("\u0003");
  idle.socket.resume();
  expect(await idle.closed).toBe(1006);
  busy.type("echo st''ill\r");
  await busy.shows("still");
});

test("it is closed on demand, and closing the shell closes it", async () => {
  const { path, shell, view } = await openTerminal();
  const closed = await gate.request(path, { method: "DELETE" });
  expect(await closed.json()).toMatchObject({ id: view.id, state: "closed", reason: "it was closed" });
  await gate.post(`/api/shells/${shell}/terminals`, {});
  await gate.request(`/api/shells/${shell}`, { method: "DELETE" });
  const { terminals } = await (await gate.request(`/api/shells/${shell}/terminals`)).json();
  expect(terminals).toMatchObject([{ state: "closed" }, { state: "closed", reason: "it was closed" }]);
});
