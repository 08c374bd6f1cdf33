import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  callsTool,
  fails,
  type ReplyStream,
  says,
  type ScriptedModel,
  startScriptedModel,
  thinks,
} from "../../testing/scripted-model/index.ts";
import { asSaid, describeProvider, scriptedStage } from "../conformance.ts";
import type { Access, Message, ModelRequest, ReplyPiece } from "../port.ts";
import { openOpenAI } from "./openai.ts";

const overflow = [400, "Your input exceeds the context window of this model."] as const;

describe("by Responses", () => {
  describeProvider("openai", () =>
    scriptedStage((baseUrl) => openOpenAI({ key: "key", baseUrl }), {
      overflow,
      replays: '"encrypted_content":"kept"',
    }),
  );
});
describe("by Responses that are stored", () => {
  describeProvider("openai", () =>
    scriptedStage((baseUrl) => openOpenAI({ key: "key", baseUrl, stores: true }), {
      overflow,
      replays: '"type":"item_reference"',
    }),
  );
});
describe("by Chat Completions", () => {
  describeProvider("openai", () =>
    scriptedStage((baseUrl) => openOpenAI({ key: "key", baseUrl, api: "chat" }), {
      overflow: [400, "This model's maximum context length is 128000 tokens."],
      tellsNoReasoning: true,
      callsEndWithReply: true,
    }),
  );
});

let model: ScriptedModel;
beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

async function ask(
  messages: readonly Message[],
  access: Access = {},
  more: Partial<ModelRequest> = {},
): Promise<readonly ReplyPiece[]> {
  const provider = openOpenAI({ key: "secret-key", baseUrl: `${model.url}/v1`, ...access });
  const request = { model: "gpt-5", system: "Be short.", messages, tools: [], ...more };
  return Array.fromAsync(provider.ask(request, new AbortController().signal));
}

const reply = [thinks("hm", "encrypted"), says("Looking."), callsTool("shell", { command: "ls" }, { id: "call_1" })];
const results: Message = {
  role: "tool",
  results: [
    { id: "call_1", tool: "shell", outcome: "ok", text: "a.png", images: [{ mediaType: "image/png", base64: "aGk=" }] },
  ],
};
const image = "data:image/png;base64,aGk=";

test("reasoning that is not stored comes encrypted and goes back, with calls, results and images", async () => {
  model.script([reply, says("ok")]);
  const hello: Message = { role: "user", text: "list" };
  const said = asSaid(await ask([hello]));
  const tools = [{ name: "shell", description: "Runs.", parameters: { type: "object", properties: {} } }];
  await ask([hello, said, results], {}, { tools, conversation: "ses_1" });
  const { body, headers } = model.requests[1]!;
  expect(headers.authorization).toBe("Bearer secret-key");
  expect(body).toMatchObject({
    model: "gpt-5",
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "ses_1",
    tools: [{ type: "function", name: "shell", description: "Runs.", parameters: { type: "object", properties: {} } }],
  });
  expect(body["input"]).toEqual([
    { role: "developer", content: "Be short." },
    { role: "user", content: [{ type: "input_text", text: "list" }] },
    {
      type: "reasoning",
      id: expect.stringMatching(/^rs_/),
      encrypted_content: "encrypted",
      summary: [{ type: "summary_text", text: "hm" }],
    },
    { role: "assistant", content: "Looking." },
    { type: "function_call", call_id: "call_1", name: "shell", arguments: '{"command":"ls"}' },
    {
      type: "function_call_output",
      call_id: "call_1",
      output: [
        { type: "input_text", text: "a.png" },
        { type: "input_image", image_url: image },
      ],
    },
  ]);
});

test("what is stored is named by its id", async () => {
  model.script([reply, says("ok")]);
  const said = asSaid(await ask([{ role: "user", text: "list" }], { stores: true }));
  await ask([{ role: "user", text: "list" }, said, results], { stores: true });
  const { body } = model.requests[1]!;
  expect(body).toMatchObject({ store: true });
  expect((body["input"] as readonly { type?: string }[]).map(({ type }) => type)).toEqual([
    undefined,
    undefined,
    "item_reference",
    "item_reference",
    "function_call",
    "function_call_output",
  ]);
});

test.each([
  ["responses", "gpt-5", { reasoning: { effort: "high" } }],
  ["responses", "mine-that-thinks", { reasoning: { effort: "high" } }],
  ["chat", "gpt-5", { reasoning_effort: "high" }],
] as const)("an effort is asked for by %s of %s", async (api, name, sent) => {
  model.script([says("ok"), says("ok")]);
  await ask([{ role: "user", text: "hi" }], { api }, { model: name, effort: "high" });
  expect(model.requests[0]?.body).toMatchObject(sent);
  await ask([{ role: "user", text: "hi" }], { api }, { model: name });
  expect(JSON.stringify(model.requests[1]?.body)).not.toContain("effort");
});

test("another provider's reasoning stays here", async () => {
  model.script([says("ok")]);
  const foreign = { kind: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "s" } } } as const;
  await ask([
    { role: "user", text: "a" },
    { role: "assistant", parts: [foreign, { kind: "text", text: "b" }] },
    { role: "user", text: "c" },
  ]);
  expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
});

test("by Chat Completions a conversation is sent as the API wants it, images after the results", async () => {
  model.script([says("ok")]);
  const said: Message = {
    role: "assistant",
    parts: [{ kind: "call", id: "call_1", tool: "shell", arguments: { command: "ls" } }],
  };
  await ask([{ role: "user", text: "list" }, said, results], { api: "chat" }, { conversation: "ses_1" });
  const { body } = model.requests[0]!;
  expect(body).toMatchObject({ stream: true, stream_options: { include_usage: true }, prompt_cache_key: "ses_1" });
  expect(body.messages).toEqual([
    { role: "developer", content: "Be short." },
    { role: "user", content: "list" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "shell", arguments: '{"command":"ls"}' } }],
    },
    { role: "tool", tool_call_id: "call_1", content: "a.png" },
    {
      role: "user",
      content: [
        { type: "text", text: "These are the images of the results above, in their order." },
        { type: "image_url", image_url: { url: image } },
      ],
    },
  ]);
});

const broken: readonly (readonly [string, (stream: ReplyStream) => void])[] = [
  ["a body without its closing events", (stream) => stream.endEarly()],
  ["an event that is not JSON", (stream) => stream.raw("data: {oops\n\n")],
];
describe.each(["responses", "chat"] as const)("a reply by %s", (api) => {
  test.each(broken)("with %s is a failure that may pass, and leaves no call", async (_, breaks) => {
    const asking = ask([{ role: "user", text: "hi" }], { api });
    const stream = (await model.nextRequest()).stream();
    stream.text("par");
    breaks(stream);
    stream.endEarly();
    await expect(asking).rejects.toMatchObject({ code: "provider.unavailable", retry: "later" });
  });
});

test("a call that was cut off by Chat Completions is no call", async () => {
  const asking = ask([{ role: "user", text: "hi" }], { api: "chat" });
  const stream = (await model.nextRequest()).stream();
  stream.call("shell", { command: "ls" });
  stream.endEarly();
  await expect(asking).rejects.toMatchObject({ code: "provider.unavailable" });
});

test("an account without quota is not asked again", async () => {
  model.script([fails(429, { type: "insufficient_quota", message: "You exceeded your current quota" })]);
  await expect(ask([{ role: "user", text: "hi" }])).rejects.toMatchObject({
    code: "provider.refused",
    hint: "Look at the plan and the billing of the account.",
  });
});

test("a wrong key says what to set, and no failure repeats the key", async () => {
  model.script([fails(401, { message: "Incorrect API key provided: secret-key." })]);
  const failure: unknown = await ask([{ role: "user", text: "hi" }]).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: "provider.refused",
    message: "OpenAI refused the request with status 401: Incorrect API key provided: ***.",
    hint: "Set OPENAI_API_KEY to a valid key, or run `corral auth login openai`.",
  });
  expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain("secret-key");
});
