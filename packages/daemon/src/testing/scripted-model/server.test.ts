import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { breaksWith, callsTool, cuts, fails, says, stops, thinks } from "./reply.ts";
import { type ScriptedModel, startScriptedModel } from "./server.ts";

let model: ScriptedModel;
beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

const ask = { model: "claude-test", max_tokens: 100, messages: [{ role: "user" as const, content: "hello" }] };

describe("read by the vendor's own SDK", () => {
  const client = () => new Anthropic({ baseURL: model.url, apiKey: "key", maxRetries: 0 });

  test("a streamed reply with thinking, text and split calls arrives whole", async () => {
    model.script([
      [
        thinks("let me see", "sig"),
        says("I will look around.", { pieces: 4 }),
        callsTool("shell", { command: "ls -la" }, { id: "toolu_1", pieces: 5 }),
        callsTool("read", { path: "ä.txt" }, { id: "toolu_2" }),
      ],
    ]);
    const texts: string[] = [];
    const message = await client()
      .messages.stream(ask)
      .on("text", (text) => texts.push(text))
      .finalMessage();

    expect(texts).toEqual(["I wil", "l loo", "k aro", "und."]);
    expect(message.content.map((block) => ({ ...block }))).toMatchObject([
      { type: "thinking", thinking: "let me see", signature: "sig" },
      { type: "text", text: "I will look around." },
      { type: "tool_use", id: "toolu_1", name: "shell", input: { command: "ls -la" } },
      { type: "tool_use", id: "toolu_2", name: "read", input: { path: "ä.txt" } },
    ]);
    expect(message.stop_reason).toBe("tool_use");
  });

  test("a reply that is not streamed says the same", async () => {
    model.script([
      [thinks("hm", "sig"), says("ok"), callsTool("shell", { command: "ls" }, { id: "toolu_1" })],
      [says("end"), stops("max_tokens", { input: 7, output: 8, cacheRead: 9 })],
    ]);
    const first = await client().messages.create(ask);
    expect(first).toMatchObject({
      content: [
        { type: "thinking", thinking: "hm", signature: "sig" },
        { type: "text", text: "ok" },
        { type: "tool_use", id: "toolu_1", name: "shell", input: { command: "ls" } },
      ],
      stop_reason: "tool_use",
    });
    expect(await client().messages.create(ask)).toMatchObject({
      stop_reason: "max_tokens",
      usage: { input_tokens: 7, output_tokens: 8, cache_read_input_tokens: 9 },
    });
  });

  test("failures carry their status, type and retry-after", async () => {
    model.script([fails(429, { retryAfter: 7 }), fails(500), fails(529), fails(400, { message: "too long" })]);
    const failure = () =>
      client()
        .messages.create({ ...ask, stream: true })
        .catch((error: unknown) => error as InstanceType<typeof Anthropic.APIError>);
    const seen = [await failure(), await failure(), await failure(), await failure()].map((error) => {
      if (!(error instanceof Anthropic.APIError)) throw new Error("it did not fail");
      return [error.status, error.type, error.headers?.get("retry-after") ?? null];
    });
    expect(seen).toEqual([
      [429, "rate_limit_error", "7"],
      [500, "api_error", null],
      [529, "overloaded_error", null],
      [400, "invalid_request_error", null],
    ]);
  });

  test("an error in the middle of a stream is one for the client", async () => {
    model.script([[says("par"), breaksWith("overloaded_error")]]);
    const reading = client().messages.stream(ask).finalMessage();
    await expect(reading).rejects.toThrow("overloaded_error");
  });

  test("a cut connection is an error after the text that came", async () => {
    model.script([[says("par"), cuts()]]);
    const texts: string[] = [];
    const reading = client()
      .messages.stream(ask)
      .on("text", (text) => texts.push(text))
      .finalMessage();
    await expect(reading).rejects.toBeInstanceOf(Error);
    expect(texts).toEqual(["par"]);
  });
});

describe("read by the AI SDK", () => {
  const read = async () => {
    const provider = createAnthropic({ baseURL: `${model.url}/v1`, apiKey: "key" });
    const { stream } = await provider("claude-test").doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
    });
    const parts = [];
    for await (const part of stream) parts.push(part);
    return parts;
  };

  test("a reply with thinking, text and calls arrives whole", async () => {
    model.script([
      [
        thinks("hm", "sig"),
        says("hello you", { pieces: 2 }),
        callsTool("shell", { command: "ls" }, { id: "toolu_1", pieces: 3 }),
        stops("tool_use", { input: 5, output: 6 }),
      ],
    ]);
    const parts = await read();
    expect(parts.filter((part) => part.type.startsWith("text-") || part.type.startsWith("reasoning-"))).toEqual([
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "hm" },
      { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { anthropic: { signature: "sig" } } },
      { type: "reasoning-end", id: "0" },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "hello" },
      { type: "text-delta", id: "1", delta: " you" },
      { type: "text-end", id: "1" },
    ]);
    expect(parts.find((part) => part.type === "tool-call")).toMatchObject({
      toolCallId: "toolu_1",
      toolName: "shell",
      input: '{"command":"ls"}',
    });
    expect(parts.at(-1)).toMatchObject({
      type: "finish",
      finishReason: { unified: "tool-calls", raw: "tool_use" },
      usage: { inputTokens: { total: 5 }, outputTokens: { total: 6 } },
    });
  });

  test("an error in the middle of a stream is an error part", async () => {
    model.script([[says("par"), breaksWith("overloaded_error")]]);
    expect((await read()).at(-1)).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
  });
});

describe("held by a test", () => {
  const client = () => new Anthropic({ baseURL: model.url, apiKey: "key", maxRetries: 0 });

  test("a request waits for its answer and tells what is new in it", async () => {
    const reply = client().messages.create({
      ...ask,
      messages: [
        { role: "user", content: "old" },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "shell", input: { command: "ls" } }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_1", content: "no such file", is_error: true },
            { type: "text", text: "and now this" },
          ],
        },
        { role: "user", content: "and that" },
      ],
    });
    const request = await model.nextRequest();
    expect(request.newInputs).toEqual(["and now this", "and that"]);
    expect(request.toolResults).toEqual([{ id: "toolu_1", text: "no such file", outcome: "error" }]);
    expect(request.messages).toHaveLength(4);
    expect(request.headers.authorization).toBe("Bearer key");
    request.answer(says("fine"));
    expect((await reply).content).toMatchObject([{ type: "text", text: "fine" }]);
    expect(() => request.answer(says("again"))).toThrow("answered already");
    expect(model.requests).toEqual([request]);
  });

  test("a reply is streamed piece by piece", async () => {
    const stream = client().messages.stream(ask);
    const texts: string[] = [];
    let arrived = Promise.withResolvers<void>();
    stream.on("text", (text) => {
      texts.push(text);
      arrived.resolve();
    });
    const reply = (await model.nextRequest()).stream();
    reply.text("par");
    await arrived.promise;
    expect(texts).toEqual(["par"]);

    arrived = Promise.withResolvers();
    reply.text("tial");
    await arrived.promise;
    reply.endText();
    reply.call("shell", { command: "ls" });
    reply.finish();
    const message = await stream.finalMessage();
    expect(message.content).toMatchObject([{ text: "partial" }, { name: "shell", input: { command: "ls" } }]);
  });

  test("a client that goes away closes its request", async () => {
    const stream = client().messages.stream(ask);
    const ended = stream.finalMessage().catch(() => "ended");
    const request = await model.nextRequest();
    stream.abort();
    await request.closed;
    expect(await ended).toBe("ended");
  });

  test("waiting for a request can be given up", async () => {
    const patience = new AbortController();
    const waiting = model.nextRequest({ signal: patience.signal });
    patience.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");

    const reply = client().messages.create(ask);
    (await model.nextRequest()).answer(says("later"));
    expect((await reply).content).toMatchObject([{ text: "later" }]);
  });
});

test("a request without a key is refused", async () => {
  const response = await fetch(`${model.url}/v1/messages`, { method: "POST", body: JSON.stringify(ask) });
  expect([response.status, ((await response.json()) as { error: { type: string } }).error.type]).toEqual([
    401,
    "authentication_error",
  ]);
  expect(model.requests).toEqual([]);
});

test("a prompt with markers scripts a model in a process of its own", async () => {
  const process = execFile(globalThis.process.execPath, [fileURLToPath(new URL("serve.ts", import.meta.url))]);
  try {
    const line = await new Promise<string>((resolve) => process.stdout?.once("data", resolve));
    const { url } = JSON.parse(line) as { url: string };
    const client = new Anthropic({ baseURL: url, apiKey: "key" });
    const prompt = { role: "user" as const, content: "[[shell: echo hi]]" };
    const first = await client.messages.stream({ ...ask, messages: [prompt] }).finalMessage();
    expect(first.content).toMatchObject([{ type: "tool_use", name: "shell", input: { command: "echo hi" } }]);
    const results = first.content
      .filter((block) => block.type === "tool_use")
      .map((block) => ({ type: "tool_result" as const, tool_use_id: block.id, content: "hi" }));
    const messages = [
      prompt,
      { role: "assistant" as const, content: first.content },
      { role: "user" as const, content: results },
    ];
    const second = await client.messages.stream({ ...ask, messages }).finalMessage();
    expect(second.content).toMatchObject([{ type: "text", text: "done" }]);
  } finally {
    process.kill();
  }
});
