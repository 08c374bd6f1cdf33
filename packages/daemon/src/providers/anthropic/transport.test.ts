import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startScriptedModel } from "../../testing/scripted-model/index.ts";
import type { ProviderFailure } from "../failure.ts";
import type { ModelRequest, Patience } from "../port.ts";
import { openAnthropic } from "./anthropic.ts";

/** Long enough that it never passes in a test that does not wait for it. */
const patient: Patience = { answerMs: 60_000, silenceMs: 60_000 };

let server: RawServer;
beforeEach(async () => {
  server = await startRawServer();
});
afterEach(() => server.close());

/** What came of one request: a word for a whole reply, or the failure's code. */
async function outcomeOf(url: string = server.url, patience: Patience = patient): Promise<Outcome> {
  const provider = openAnthropic({ key: "secret-key", baseUrl: url, patience });
  try {
    const pieces = await Array.fromAsync(provider.ask(hello, new AbortController().signal));
    return { code: "whole", message: pieces.map((piece) => piece.kind).join(" ") };
  } catch (error) {
    const { code, message, retry, hint } = error as ProviderFailure;
    return { code, message, retry, ...(hint === undefined ? {} : { hint }) };
  }
}

describe("what a server answers", () => {
  const heads: readonly (readonly [head: string, code: string])[] = [
    ["HTTP/1.1 204 No Content\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 304 Not Modified\r\n\r\n", "provider.refused"],
    ["HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", "provider.refused"],
    ["HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 600 Odd\r\ncontent-length: 0\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 999 Odder\r\ncontent-length: 2\r\n\r\nhi", "provider.unavailable"],
    ["HTTP/1.1 000 Oddest\r\ncontent-length: 0\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 20 Short\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 200 \xff\x80\r\nx-odd: \xff\xfe\r\ncontent-length: 0\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 200 OK\r\nx-nul: a\x00b\r\ncontent-length: 0\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 200 OK\r\nx-bell: a\x07b\x7f\r\ncontent-length: 0\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 200 OK\r\nb@d name: x\r\ncontent-length: 0\r\n\r\n", "provider.unavailable"],
    [`HTTP/1.1 200 OK\r\nx-long: ${"x".repeat(100_000)}\r\n\r\n`, "provider.unavailable"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello", "provider.unavailable"],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello", "provider.unavailable"],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n", "provider.unavailable"],
    ["HTTP/1.1 429 Slow\r\nretry-after: \xff\r\ncontent-length: 0\r\n\r\n", "provider.unavailable"],
    ["HTTP/1.1 500 Bad\r\ncontent-length: 100\r\n\r\ncut", "provider.unavailable"],
    ["SSH-2.0-OpenSSH_9.2\r\n", "provider.unavailable"],
    ["\x16\x03\x01\x00\x00", "provider.unavailable"],
    ["", "provider.unavailable"],
  ];
  test.each(heads)("%j is a failure in one of the two classes", async (head, code) => {
    server.answer(Buffer.from(head, "latin1"));
    expect(await outcomeOf()).toMatchObject({ code });
  });

  const bodies: readonly (readonly [string, Buffer | string])[] = [
    ["events of no known type", 'event: x\ndata: {"type":"nope"}\n\ndata: 12\n\ndata: null\n\n'],
    ["an error event that is no error", 'event: error\ndata: {"type":"error","error":null}\n\n'],
    ["parts that never began", 'data: {"type":"content_block_stop","index":7}\n\n'],
    ["a prototype for a name", 'data: {"type":"__proto__","__proto__":{"type":"error"}}\n\n'],
  ];
  test.each(bodies)("%s as a reply is a failure that may pass", async (_, body) => {
    server.answer(reply(body));
    expect(await outcomeOf()).toMatchObject({ code: "provider.unavailable", retry: "later" });
  });

  const elsewhere: readonly (readonly [string, Buffer])[] = [
    ["a page", reply("<html>log in</html>")],
    ["a page by its type alone", reply("log in", "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8")],
    ["a word", reply("OK")],
    ["a JSON document", reply('{"status":"running"}\n')],
    ["bytes that are no text", reply(Buffer.from([0xff, 0xfe, 0, 10, 10, 0x80]))],
  ];
  test.each(elsewhere)("%s is no reply, and it is said at once where to look", async (_, answer) => {
    server.answer(answer);
    expect(await outcomeOf()).toEqual({
      code: "provider.refused",
      message: "Anthropic answered with something that is no reply of a model.",
      retry: "never",
      hint: "Check ANTHROPIC_BASE_URL: what answers there is no model server.",
    });
  });

  test("a reply cut at any byte is whole or a failure that may pass", async () => {
    const whole = await recordedReply();
    expect(await cutAt(whole, whole.length)).toBe("whole");
    const outcomes = new Set<string>();
    for (let at = 0; at < whole.length; at += 7) outcomes.add(await cutAt(whole, at));
    expect(outcomes).toEqual(new Set(["provider.unavailable"]));
  });

  test("a reply with any byte changed is whole or a failure that may pass", async () => {
    const whole = await recordedReply();
    const outcomes = new Set<string>();
    for (let at = 0; at < whole.length; at += 11) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at]! + 128) % 256;
      server.answer(changed);
      outcomes.add((await outcomeOf()).code);
    }
    expect([...outcomes].toSorted()).toEqual(["provider.unavailable", "whole"]);
  });

  test("what a server says of its failure is told in a few words", async () => {
    const said = JSON.stringify({ type: "error", error: { type: "api_error", message: "x".repeat(1_000_000) } });
    server.answer(reply(said, "HTTP/1.1 500 Bad"));
    expect((await outcomeOf()).message.length).toBeLessThan(2_000);
  });

  test("a server that gives no reason is said to give none", async () => {
    server.answer(Buffer.from("HTTP/1.1 302\r\ncontent-length: 0\r\n\r\n"));
    expect(await outcomeOf()).toMatchObject({
      message: "Anthropic refused the request with status 302: it gives no reason",
    });
  });

  const x1000 = "x".repeat(1_000);
  const endless: readonly (readonly [string, string, string, string])[] = [
    ["a line", "data: ", "x", "Anthropic sent a line of more than 16 MiB in its reply."],
    ["an event of many lines", "", `data: ${x1000}\n`, "Anthropic sent an event of more than 16 MiB in its reply."],
    ["a reply of comments", "", `: ${x1000}\n\n`, "Anthropic's reply is longer than 64 MiB."],
    ["a reply of unknown events", "", `data: {"type":"${x1000}"}\n\n`, "Anthropic's reply is longer than 64 MiB."],
  ];
  test.each(endless)("%s without end is cut off, and not asked for again", async (_, begin, piece, message) => {
    const pieces = Buffer.from(piece.repeat((1 << 20) / piece.length));
    server.flood(Buffer.from(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${begin}`), pieces);
    expect(await outcomeOf()).toMatchObject({ code: "provider.refused", message, retry: "never" });
  });

  test("a reply that is whole is not waited for any longer", async () => {
    const whole = await recordedReply();
    const body = whole.subarray(whole.indexOf("\r\n\r\n"));
    server.hold(Buffer.concat([Buffer.from("HTTP/1.1 200 OK"), body, Buffer.from(": still here\n\n")]));
    expect(await outcomeOf()).toMatchObject({ code: "whole" });
  });
});

describe("a silent server", () => {
  test("that never answers is given up", async () => {
    server.answer(undefined);
    expect(await outcomeOf(server.url, { ...patient, answerMs: 20 })).toEqual({
      code: "provider.unavailable",
      message: "Anthropic did not answer within 0.02 s.",
      retry: "later",
    });
  });

  test("that stops before the first event is given up", async () => {
    server.hold(Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"));
    expect(await outcomeOf(server.url, { ...patient, silenceMs: 20 })).toEqual({
      code: "provider.unavailable",
      message: "Anthropic fell silent for 0.02 s within its reply.",
      retry: "later",
    });
  });

  test("that stops in mid-reply is given up after what came, and its connection is closed", async () => {
    await using model = await disposableModel();
    const provider = openAnthropic({
      key: "key",
      baseUrl: model.url,
      patience: { ...patient, silenceMs: 20 },
    });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const piece of provider.ask(hello, new AbortController().signal)) seen.push(piece);
    })();
    const request = await model.nextRequest();
    request.stream().text("par");
    await expect(reading).rejects.toMatchObject({ code: "provider.unavailable", retry: "later" });
    expect(seen).toEqual([
      { kind: "begin", part: "0", of: "text" },
      { kind: "delta", part: "0", text: "par" },
    ]);
    await request.closed;
  });

  test("that sends the words of a failure without their end is given up", async () => {
    server.hold(Buffer.from("HTTP/1.1 500 Bad\r\ncontent-length: 100\r\n\r\ncut"));
    expect(await outcomeOf(server.url, { ...patient, silenceMs: 20 })).toMatchObject({ code: "provider.unavailable" });
  });

  test("is not given up for the time that its reader takes", async () => {
    await using model = await disposableModel();
    // Longer than this process, which sends, too, may be kept from the processor.
    const silenceMs = 500;
    const provider = openAnthropic({ key: "key", baseUrl: model.url, patience: { ...patient, silenceMs } });
    const pieces = provider.ask(hello, new AbortController().signal)[Symbol.asyncIterator]();
    const first = pieces.next();
    const reply = (await model.nextRequest()).stream();
    for (let n = 0; n < 40; n++) reply.text("x".repeat(100_000));
    reply.finish();
    await first;
    await delay(silenceMs * 1.5);
    const rest = [];
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) rest.push(next.value.kind);
    expect(rest.at(-1)).toBe("finish");
  });
});

test("a connection is used again after a whole reply", async () => {
  server.hold(await recordedReply());
  const provider = openAnthropic({ key: "key", baseUrl: server.url });
  for (let n = 0; n < 3; n++) await Array.fromAsync(provider.ask(hello, new AbortController().signal));
  expect(server.connections()).toBe(1);
});

test("words that came while this process stood still are heard", async () => {
  await using model = await disposableModel();
  const provider = openAnthropic({ key: "key", baseUrl: model.url, patience: { ...patient, silenceMs: 200 } });
  const pieces = provider.ask(hello, new AbortController().signal)[Symbol.asyncIterator]();
  const first = pieces.next();
  const reply = (await model.nextRequest()).stream();
  reply.text("before");
  await first;
  await pieces.next();
  const next = pieces.next();
  reply.text("meanwhile");
  holdUpFor(600);
  expect(await next).toEqual({ done: false, value: { kind: "delta", part: "0", text: "meanwhile" } });
  await pieces.return?.();
});

/** The whole process stands still, as one that was stopped, or whose machine slept. */
function holdUpFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function cutAt(whole: Buffer, at: number): Promise<string> {
  server.answer(whole.subarray(0, at));
  return (await outcomeOf()).code;
}

/** A whole answer as the scripted model sends it: words, thoughts and a call. */
async function recordedReply(): Promise<Buffer> {
  await using model = await disposableModel();
  const asked = fetch(`${model.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "key", "content-type": "application/json" },
    body: JSON.stringify({ model: "m", max_tokens: 1, stream: true, messages: [{ role: "user", content: "hi" }] }),
  });
  const stream = (await model.nextRequest()).stream();
  stream.thinking("hm");
  stream.endThinking();
  stream.text("yes");
  stream.call("shell", { command: "ls" });
  stream.finish();
  return reply(Buffer.from(await (await asked).arrayBuffer()));
}

function reply(body: Buffer | string, status = "HTTP/1.1 200 OK"): Buffer {
  const bytes = Buffer.from(body);
  const head = `${status}\r\ncontent-type: text/event-stream\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

async function disposableModel() {
  const model = await startScriptedModel();
  return Object.assign(model, { [Symbol.asyncDispose]: () => model.close() });
}

const hello: ModelRequest = {
  model: "claude-test",
  system: "",
  messages: [{ role: "user", text: "hello" }],
  tools: [],
};

interface Outcome {
  readonly code: string;
  readonly message: string;
  readonly retry?: string | undefined;
  readonly hint?: string;
}

/** A server below HTTP: it sends the bytes it is told to, whatever they mean. */
interface RawServer {
  readonly url: string;
  /** Sends the bytes to whoever asks next and closes; nothing at all, and keeps it open, for `undefined`. */
  answer(bytes: Buffer | undefined): void;
  /** Sends the bytes and keeps the connection open. */
  hold(bytes: Buffer): void;
  /** Sends the piece again and again after the bytes, for as long as somebody reads. */
  flood(bytes: Buffer, piece: Buffer): void;
  /** How many there have been. */
  connections(): number;
  close(): Promise<void>;
}

async function startRawServer(): Promise<RawServer> {
  let act: (socket: Socket) => void = (socket) => socket.destroy();
  let connections = 0;
  const open = new Set<Socket>();
  const listening: Server = createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
    onRequest(socket, () => act(socket));
  });
  await new Promise<void>((resolve) => void listening.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    answer: (bytes) => (act = (socket) => void (bytes && socket.end(bytes))),
    hold: (bytes) => (act = (socket) => void socket.write(bytes)),
    flood: (bytes, piece) =>
      (act = (socket) => {
        const more = () => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.on("drain", more);
        socket.write(bytes);
        more();
      }),
    connections: () => connections,
    close: () => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => void listening.close(() => resolve()));
    },
  };
}

/** Calls when the request's body has come whole. */
function onRequest(socket: Socket, then: () => void): void {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    const [head = "", body] = text.split("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (body === undefined || body.length < length) return;
    text = "";
    then();
  });
}
