import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  cuts,
  fails,
  type ReplyStream,
  type ScriptedModel,
  says,
  startScriptedModel,
  thinks,
} from "../../testing/scripted-model/index.ts";
import { describeProvider, scriptedStage } from "../conformance.ts";
import type { Message, ModelRequest, ReplyPiece } from "../port.ts";
import { openAnthropic } from "./anthropic.ts";
import { anthropic } from "./driver.ts";

describeProvider("anthropic", () =>
  scriptedStage((baseUrl) => openAnthropic({ key: "key", baseUrl }), {
    overflow: [400, "prompt is too long: 203456 tokens > 200000 maximum"],
    replays: '"signature":"kept"',
  }),
);

let model: ScriptedModel;
beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

async function ask(messages: readonly Message[], more: Partial<ModelRequest> = {}): Promise<readonly ReplyPiece[]> {
  const provider = openAnthropic({ key: "secret-key", baseUrl: model.url });
  const pieces = [];
  const request = { model: "claude-test", system: "Be short.", messages, tools: [], ...more };
  for await (const piece of provider.ask(request, new AbortController().signal)) pieces.push(piece);
  return pieces;
}

test("a connection closed without an answer may pass", async () => {
  model.script([cuts()]);
  await expect(ask([{ role: "user", text: "hi" }])).rejects.toMatchObject({
    code: "provider.unavailable",
    retry: "later",
  });
});

const broken: readonly (readonly [string, (reply: ReplyStream) => void])[] = [
  ["a body without its closing events", (reply) => reply.endEarly()],
  ["an event that is not JSON", (reply) => reply.raw("event: ping\ndata: {oops\n\n")],
];
describe.each(broken)("%s", (_, breaks) => {
  test.each([
    ["after what came", "par"],
    ["before anything came", ""],
  ])("is a failure that may pass, %s", async (_when, came) => {
    const asking = ask([{ role: "user", text: "hi" }]);
    const reply = (await model.nextRequest()).stream();
    if (came !== "") reply.text(came);
    breaks(reply);
    await expect(asking).rejects.toMatchObject({ code: "provider.unavailable", retry: "later" });
  });
});

test("warming up asks nobody and leaves the provider as it was", async () => {
  await anthropic.warmUp?.();
  expect(model.requests).toEqual([]);
  model.script([says("ok")]);
  expect(await ask([{ role: "user", text: "hi" }])).toContainEqual(
    expect.objectContaining({ kind: "delta", text: "ok" }),
  );
});

const ephemeral = { cache_control: { type: "ephemeral" } };

test("a conversation is sent as the API wants it, marked for the prompt cache", async () => {
  model.script([says("ok")]);
  await ask(
    [
      { role: "user", text: "list" },
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "sig" } } },
          { kind: "text", text: "Looking." },
          { kind: "call", id: "toolu_1", tool: "shell", arguments: { command: "ls" } },
          { kind: "call", id: "toolu_2", tool: "shell", arguments: {} },
        ],
      },
      {
        role: "tool",
        results: [
          { id: "toolu_1", tool: "shell", outcome: "ok", text: "a.txt" },
          { id: "toolu_2", tool: "shell", outcome: "error", text: "no command" },
        ],
      },
      { role: "user", text: "only tests" },
    ],
    { tools: [{ name: "shell", description: "Runs.", parameters: { type: "object", properties: {} } }] },
  );
  const { body, headers } = model.requests[0]!;
  expect(headers["x-api-key"]).toBe("secret-key");
  expect(body).toMatchObject({
    model: "claude-test",
    stream: true,
    max_tokens: expect.any(Number),
    tools: [{ name: "shell", description: "Runs.", input_schema: { type: "object", properties: {} } }],
  });
  expect(body.system).toEqual([{ type: "text", text: "Be short.", ...ephemeral }]);
  expect(body.messages).toEqual([
    { role: "user", content: [{ type: "text", text: "list" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "sig" },
        { type: "text", text: "Looking." },
        { type: "tool_use", id: "toolu_1", name: "shell", input: { command: "ls" } },
        { type: "tool_use", id: "toolu_2", name: "shell", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: "a.txt" },
        { type: "tool_result", tool_use_id: "toolu_2", content: "no command", is_error: true, ...ephemeral },
        { type: "text", text: "only tests", ...ephemeral },
      ],
    },
  ]);
});

test("reasoning comes with its signature and is sent back with it", async () => {
  model.script([[thinks("deep thought", "sig-42"), says("42")], says("again")]);
  const pieces = await ask([{ role: "user", text: "why" }]);
  const end = pieces.find((piece) => piece.kind === "end");
  expect(end).toEqual({ kind: "end", part: "0", providerMetadata: { anthropic: { signature: "sig-42" } } });

  await ask([
    { role: "user", text: "why" },
    {
      role: "assistant",
      parts: [
        { kind: "reasoning", text: "deep thought", providerMetadata: { anthropic: { signature: "sig-42" } } },
        { kind: "text", text: "42" },
      ],
    },
    { role: "user", text: "really" },
  ]);
  expect(model.requests[1]?.messages[1]?.content).toEqual([
    { type: "thinking", thinking: "deep thought", signature: "sig-42" },
    { type: "text", text: "42" },
  ]);
});

test.each([
  ["claude-sonnet-4-5", { thinking: { type: "enabled", budget_tokens: expect.any(Number) } }],
  ["claude-opus-4-6", { thinking: { type: "adaptive" }, output_config: { effort: "medium" } }],
])("an effort is asked of %s by a budget or as such", async (name, sent) => {
  model.script([says("ok"), says("ok")]);
  await ask([{ role: "user", text: "hi" }], { model: name, effort: "medium" });
  expect(model.requests[0]?.body).toMatchObject(sent);
  await ask([{ role: "user", text: "hi" }], { model: name });
  expect(model.requests[1]?.body).not.toHaveProperty("thinking");
});

test("unsigned reasoning and empty messages are left out", async () => {
  model.script([says("ok")]);
  await ask([
    { role: "user", text: "a" },
    { role: "assistant", parts: [{ kind: "reasoning", text: "cut sho" }] },
    { role: "user", text: "b" },
  ]);
  expect(model.requests[0]?.messages.map((message) => message.role)).toEqual(["user"]);
  expect(model.requests[0]?.newInputs).toEqual(["a", "b"]);
});

test("repeated call ids are told apart and answered in their own message", async () => {
  model.script([says("ok")]);
  const call = (command: string) => ({ kind: "call", id: "call:1", tool: "shell", arguments: { command } }) as const;
  const result = (text: string) => ({ id: "call:1", tool: "shell", outcome: "ok", text }) as const;
  await ask([
    { role: "user", text: "go" },
    { role: "assistant", parts: [call("a"), call("b")] },
    { role: "tool", results: [result("A"), result("B")] },
    { role: "assistant", parts: [call("c")] },
    { role: "tool", results: [result("C")] },
  ]);
  const blocks = model.requests[0]!.messages.flatMap((message) =>
    typeof message.content === "string" ? [] : message.content,
  );
  expect(blocks.filter((block) => block.type === "tool_use").map((block) => block["id"])).toEqual([
    "call_1",
    "call_1_2",
    "call_1_3",
  ]);
  expect(
    blocks.filter((block) => block.type === "tool_result").map((block) => [block.tool_use_id, block.content]),
  ).toEqual([
    ["call_1", "A"],
    ["call_1_2", "B"],
    ["call_1_3", "C"],
  ]);
});

test("a base address is taken with and without its version", async () => {
  for (const baseUrl of [model.url, `${model.url}/`, `${model.url}/v1`, `${model.url}/v1/`]) {
    model.script([says("ok")]);
    const provider = openAnthropic({ key: "key", baseUrl });
    const request = { model: "m", system: "", messages: [{ role: "user", text: "hi" }], tools: [] } as const;
    const pieces = [];
    for await (const piece of provider.ask(request, new AbortController().signal)) pieces.push(piece.kind);
    expect(pieces).toEqual(["begin", "delta", "end", "finish"]);
  }
});

test("a wrong key says what to set, and no failure repeats the key", async () => {
  model.script([fails(401, { message: "invalid x-api-key: secret-key" })]);
  const failure: unknown = await ask([{ role: "user", text: "hi" }]).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: "provider.refused",
    message: "Anthropic refused the request with status 401: invalid x-api-key: ***",
    hint: "Set ANTHROPIC_API_KEY to a valid key, or run `corral auth login anthropic`.",
  });
  expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain("secret-key");
});

test("models of other vendors may say as much as others", async () => {
  const lengths: unknown[] = [];
  for (const name of ["glm-5", "claude-sonnet-4-5"]) {
    model.script([says("hi")]);
    await ask([{ role: "user", text: "hi" }], { model: name });
    lengths.push(model.requests.at(-1)?.body.max_tokens);
  }
  expect(lengths).toEqual([32_000, 64_000]);
});
