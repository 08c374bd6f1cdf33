/** The protocols as the vendors' own SDKs read them; Anthropic's is in server.test.ts. */
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { breaksWith, callsTool, cuts, fails, type Reply, says, stops, thinks } from "../reply.ts";
import { type ScriptedModel, startScriptedModel } from "../server.ts";

let model: ScriptedModel;
beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

const openai = () => new OpenAI({ baseURL: `${model.url}/v1`, apiKey: "key", maxRetries: 0 });
const google = () => new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: model.url } });

const wholeReply: Reply = [
  thinks("let me see", "sig"),
  says("I will look around.", { pieces: 4 }),
  callsTool("shell", { command: "ls -la" }, { id: "call_1", pieces: 5 }),
  callsTool("read", { path: "ä.txt" }, { id: "call_2" }),
  stops("tool_use", { input: 5, output: 6, cacheRead: 7, reasoning: 2 }),
];
const pieces = ["I wil", "l loo", "k aro", "und."];

/** What a client makes of a failure. */
async function failureOf(asking: Promise<unknown>): Promise<{ readonly status: unknown; readonly after: unknown }> {
  const error = (await asking.catch((failed: unknown) => failed)) as { status?: number; headers?: Headers };
  return { status: error.status, after: error.headers?.get("retry-after") ?? undefined };
}

describe("Responses", () => {
  const stream = () => openai().responses.stream({ model: "gpt-test", input: "hello" });

  test("a streamed reply with reasoning, text and split calls arrives whole", async () => {
    model.script([wholeReply]);
    const texts: string[] = [];
    const reply = stream().on("response.output_text.delta", ({ delta }) => texts.push(delta));
    const response = await reply.finalResponse();
    expect(texts).toEqual(pieces);
    expect(response.output).toMatchObject([
      { type: "reasoning", summary: [{ text: "let me see" }], encrypted_content: "sig" },
      { type: "message", content: [{ type: "output_text", text: "I will look around." }] },
      { type: "function_call", call_id: "call_1", name: "shell", arguments: '{"command":"ls -la"}' },
      { type: "function_call", call_id: "call_2", name: "read", arguments: '{"path":"ä.txt"}' },
    ]);
    expect(response).toMatchObject({
      status: "completed",
      usage: {
        input_tokens: 12,
        input_tokens_details: { cached_tokens: 7 },
        output_tokens: 6,
        output_tokens_details: { reasoning_tokens: 2 },
      },
    });
  });

  test("a reply that ends early says why", async () => {
    model.script([[says("so"), stops("max_tokens")]]);
    expect(await stream().finalResponse()).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
  });

  test("failures carry their status and retry-after", async () => {
    model.script([fails(429, { retryAfter: 7 }), fails(500)]);
    expect(await failureOf(stream().finalResponse())).toEqual({ status: 429, after: "7" });
    expect(await failureOf(stream().finalResponse())).toEqual({ status: 500, after: undefined });
  });

  test("an error and a cut in the middle of a stream are ones for the client", async () => {
    model.script([
      [says("par"), breaksWith("overloaded_error", "too much")],
      [says("par"), cuts()],
    ]);
    await expect(stream().finalResponse()).rejects.toThrow("too much");
    await expect(stream().finalResponse()).rejects.toBeInstanceOf(Error);
  });

  test("what is sent back is read as a conversation", async () => {
    model.script([says("fine")]);
    await openai()
      .responses.stream({
        model: "gpt-test",
        input: [
          { role: "user", content: "old" },
          { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sig" },
          { role: "assistant", content: "looking" },
          { type: "function_call", call_id: "call_1", name: "shell", arguments: "{}" },
          { type: "function_call_output", call_id: "call_1", output: '{"error":"no such file"}' },
          { role: "user", content: [{ type: "input_text", text: "and that" }] },
        ],
      })
      .finalResponse();
    const [request] = model.requests;
    expect(request?.newInputs).toEqual(["and that"]);
    expect(request?.toolResults).toEqual([{ id: "call_1", text: "no such file", outcome: "error" }]);
    expect(request?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "user"]);
  });
});

describe("Chat Completions", () => {
  const stream = () =>
    openai().chat.completions.stream({
      model: "gpt-test",
      messages: [{ role: "user", content: "hello" }],
      stream_options: { include_usage: true },
    });

  test("a streamed reply with text and split calls arrives whole", async () => {
    model.script([wholeReply]);
    const texts: string[] = [];
    const reply = await stream()
      .on("content", (delta) => texts.push(delta))
      .finalChatCompletion();
    expect(texts.filter((text) => text !== "")).toEqual(pieces);
    expect(reply).toMatchObject({
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            content: "I will look around.",
            tool_calls: [
              { id: "call_1", function: { name: "shell", arguments: '{"command":"ls -la"}' } },
              { id: "call_2", function: { name: "read", arguments: '{"path":"ä.txt"}' } },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 12, completion_tokens: 6, prompt_tokens_details: { cached_tokens: 7 } },
    });
  });

  test("failures carry their status and retry-after, and a stream may break", async () => {
    model.script([
      fails(429, { retryAfter: 7 }),
      [says("par"), breaksWith("overloaded_error", "too much")],
      [says("par"), cuts()],
    ]);
    expect(await failureOf(stream().finalChatCompletion())).toEqual({ status: 429, after: "7" });
    await expect(stream().finalChatCompletion()).rejects.toThrow("too much");
    await expect(stream().finalChatCompletion()).rejects.toBeInstanceOf(Error);
  });

  test("what is sent back is read as a conversation", async () => {
    model.script([says("fine")]);
    await openai()
      .chat.completions.stream({
        model: "gpt-test",
        messages: [
          { role: "system", content: "Be short." },
          { role: "user", content: "old" },
          {
            role: "assistant",
            tool_calls: [{ id: "call_1", type: "function", function: { name: "shell", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "call_1", content: "a.txt" },
          { role: "user", content: [{ type: "text", text: "and that" }] },
        ],
      })
      .finalChatCompletion();
    const [request] = model.requests;
    expect(request?.newInputs).toEqual(["and that"]);
    expect(request?.toolResults).toEqual([{ id: "call_1", text: "a.txt", outcome: "ok" }]);
  });
});

describe("Gemini", () => {
  const stream = (contents: unknown = "hello") =>
    google().models.generateContentStream({ model: "gemini-test", contents: contents as string });
  const collect = async (asking = stream()) => Array.fromAsync(await asking);

  test("a streamed reply with thoughts, text and calls arrives whole", async () => {
    model.script([wholeReply]);
    const chunks = await collect();
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    expect(parts).toEqual([
      { text: "let me see", thought: true },
      { text: "I wil", thoughtSignature: "sig" },
      ...pieces.slice(1).map((text) => ({ text })),
      { functionCall: { id: "call_1", name: "shell", args: { command: "ls -la" } } },
      { functionCall: { id: "call_2", name: "read", args: { path: "ä.txt" } } },
      { text: "" },
    ]);
    expect(chunks.at(-1)).toMatchObject({
      candidates: [{ finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: 12,
        cachedContentTokenCount: 7,
        candidatesTokenCount: 4,
        thoughtsTokenCount: 2,
      },
    });
  });

  test("failures carry their status, and a stream may break", async () => {
    model.script([fails(429), [says("par"), breaksWith("overloaded_error", "too much")], [says("par"), cuts()]]);
    expect((await failureOf(collect())).status).toBe(429);
    await expect(collect()).rejects.toThrow("too much");
    await expect(collect()).rejects.toBeInstanceOf(Error);
  });

  test("what is sent back is read as a conversation", async () => {
    model.script([says("fine")]);
    await collect(
      stream([
        { role: "user", parts: [{ text: "old" }] },
        { role: "model", parts: [{ functionCall: { id: "call_1", name: "shell", args: {} }, thoughtSignature: "s" }] },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "call_1", name: "shell", response: { content: "a.txt" } } },
            { text: "and that" },
          ],
        },
      ]),
    );
    const [request] = model.requests;
    expect(request?.model).toBe("gemini-test");
    expect(request?.newInputs).toEqual(["and that"]);
    expect(request?.toolResults).toEqual([{ id: "call_1", text: "a.txt", outcome: "ok" }]);
  });
});
