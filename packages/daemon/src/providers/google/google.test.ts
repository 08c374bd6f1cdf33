import { inspect } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  callsTool,
  fails,
  says,
  type ScriptedModel,
  startScriptedModel,
  stops,
  thinks,
} from "../../testing/scripted-model/index.ts";
import { describeProvider, scriptedStage } from "../conformance.ts";
import type { Message, ModelRequest, ReplyPiece } from "../port.ts";
import { openGoogle } from "./google.ts";

describeProvider("google", () =>
  scriptedStage((baseUrl) => openGoogle({ key: "key", baseUrl }), {
    overflow: [400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."],
    replays: '"thoughtSignature":"kept"',
  }),
);

let model: ScriptedModel;
beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

async function ask(messages: readonly Message[], more: Partial<ModelRequest> = {}): Promise<readonly ReplyPiece[]> {
  const provider = openGoogle({ key: "secret-key", baseUrl: model.url });
  const request = { model: "gemini-3-pro", system: "Be short.", messages, tools: [], ...more };
  return Array.fromAsync(provider.ask(request, new AbortController().signal));
}

test("signatures of thoughts come with what follows them, and go back with it", async () => {
  const call = callsTool("shell", { command: "ls" }, { id: "call_1" });
  model.script([[thinks("hm", "signed"), call, stops("tool_use", { input: 3, output: 9, reasoning: 5 })], says("ok")]);
  const pieces = await ask([{ role: "user", text: "list" }]);
  expect(pieces.find(({ kind }) => kind === "call")).toEqual({
    kind: "call",
    id: "call_1",
    tool: "shell",
    json: '{"command":"ls"}',
    providerMetadata: { google: { thoughtSignature: "signed" } },
  });
  expect(pieces.at(-1)).toMatchObject({ usage: { inputTokens: 3, outputTokens: 9, reasoningTokens: 5 } });

  await ask([
    { role: "user", text: "list" },
    {
      role: "assistant",
      parts: [
        {
          kind: "call",
          id: "call_1",
          tool: "shell",
          arguments: { command: "ls" },
          providerMetadata: { google: { thoughtSignature: "signed" } },
        },
      ],
    },
    {
      role: "tool",
      results: [
        { id: "call_1", tool: "shell", outcome: "ok", text: "a", images: [{ mediaType: "image/png", base64: "aGk=" }] },
      ],
    },
  ]);
  const { body, headers } = model.requests[1]!;
  expect(headers["x-goog-api-key"]).toBe("secret-key");
  expect(body).toMatchObject({
    systemInstruction: { parts: [{ text: "Be short." }] },
    generationConfig: { thinkingConfig: { includeThoughts: true } },
  });
  expect(body["contents"]).toEqual([
    { role: "user", parts: [{ text: "list" }] },
    {
      role: "model",
      parts: [{ functionCall: { id: "call_1", name: "shell", args: { command: "ls" } }, thoughtSignature: "signed" }],
    },
    {
      role: "user",
      parts: [
        {
          functionResponse: {
            id: "call_1",
            name: "shell",
            response: { name: "shell", content: "a" },
            parts: [{ inlineData: { mimeType: "image/png", data: "aGk=" } }],
          },
        },
      ],
    },
  ]);
});

test.each([
  ["gemini-3-pro", { includeThoughts: true, thinkingLevel: "low" }],
  ["gemini-2.5-flash", { includeThoughts: true, thinkingBudget: expect.any(Number) }],
])("an effort is asked of %s by a level or a budget", async (name, thinkingConfig) => {
  model.script([says("ok")]);
  await ask([{ role: "user", text: "hi" }], { model: name, effort: "low" });
  expect(model.requests[0]?.body).toMatchObject({ generationConfig: { thinkingConfig } });
});

test("an image of a type that is not taken is told of in words", async () => {
  model.script([says("ok")]);
  const images = [
    { mediaType: "image/gif", base64: "R0lG" },
    { mediaType: "image/png", base64: "aGk=" },
  ];
  await ask([{ role: "user", text: "look", images }]);
  expect(model.requests[0]?.body["contents"]).toEqual([
    {
      role: "user",
      parts: [
        { text: "look\n[an image: this provider takes no image/gif]" },
        { inlineData: { mimeType: "image/png", data: "aGk=" } },
      ],
    },
  ]);
});

test("an older model is not asked for thoughts", async () => {
  model.script([says("ok")]);
  await ask([{ role: "user", text: "hi" }], { model: "gemini-2.0-flash" });
  expect(model.requests[0]?.body).not.toHaveProperty("generationConfig.thinkingConfig");
});

test("an event that is not JSON is a failure that may pass", async () => {
  const asking = ask([{ role: "user", text: "hi" }]);
  const stream = (await model.nextRequest()).stream();
  stream.text("par");
  stream.raw("data: {oops\n\n");
  stream.endEarly();
  await expect(asking).rejects.toMatchObject({ code: "provider.unavailable", retry: "later" });
});

test("a wait that is asked for in the body is heard", async () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }];
  model.script([fails(429, { message: "Quota exceeded.", details })]);
  await expect(ask([{ role: "user", text: "hi" }])).rejects.toMatchObject({
    code: "provider.unavailable",
    retryAfterMs: 34_500,
  });
});

test("no failure repeats the key", async () => {
  model.script([fails(400, { message: "API key not valid: secret-key" })]);
  const failure: unknown = await ask([{ role: "user", text: "hi" }]).catch((error: unknown) => error);
  expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain("secret-key");
});
