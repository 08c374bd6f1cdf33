import { afterEach, describe, expect, test } from "vitest";
import {
  callsTool,
  fails,
  type ReplyStream,
  says,
  type ScriptedModel,
  type ScriptedModelOptions,
  startScriptedModel,
} from "../../testing/scripted-model/index.ts";
import { listModels } from "../catalogue.ts";
import { describeProvider, scriptedStage } from "../conformance.ts";
import type { Message, ModelRequest } from "../port.ts";
import { ollama } from "./driver.ts";
import { windowFor } from "./window.ts";

// The scripted model wants some key of everybody.
describeProvider("ollama", () =>
  scriptedStage(
    (baseUrl) => ollama.open({ baseUrl, key: "key" }),
    {
      overflow: [400, "the input length exceeds the context length"],
      replays: '"thinking":"hm"',
      tellsNoCache: true,
      breaksInWords: true,
    },
    { context: 8192 },
  ),
);

let model: ScriptedModel;
const open: ScriptedModel[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function ask(messages: readonly Message[], more: Partial<ModelRequest> = {}) {
  const provider = await ollama.open({ key: "key", baseUrl: model.url });
  const request = { model: "llama", system: "Be short.", messages, tools: [], ...more };
  return Array.fromAsync(provider.ask(request, new AbortController().signal));
}

async function set(options: ScriptedModelOptions = {}): Promise<void> {
  model = await startScriptedModel(options);
  open.push(model);
}
const windows = () => model.requests.map(({ body }) => body["options"]);
const saying = (length: number): readonly Message[] => [{ role: "user", text: "x".repeat(length) }];

test("a conversation is sent as its own chat wants it", async () => {
  await set();
  model.script([says("ok")]);
  const tools = [{ name: "read", description: "Reads.", parameters: { type: "object", properties: {} } }];
  const images = [{ mediaType: "image/png", base64: "aGk=" }];
  await ask(
    [
      { role: "user", text: "look", images },
      { role: "assistant", parts: [{ kind: "call", id: "cal_1", tool: "read", arguments: { path: "a" } }] },
      { role: "tool", results: [{ id: "cal_1", tool: "read", outcome: "ok", text: "a.png:", images }] },
    ],
    { tools, effort: "low" },
  );
  expect(model.requests[0]?.body).toEqual({
    model: "llama",
    stream: true,
    messages: [
      { role: "system", content: "Be short." },
      { role: "user", content: "look", images: ["aGk="] },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "cal_1", function: { name: "read", arguments: { path: "a" } } }],
      },
      { role: "tool", content: "a.png:", tool_name: "read", tool_call_id: "cal_1" },
      { role: "user", content: "These are the images of the results above, in their order.", images: ["aGk="] },
    ],
    tools: [{ type: "function", function: tools[0] }],
    think: "low",
    truncate: false,
    shift: false,
    options: { num_ctx: 8192 },
  });
});

test("calls without names get some", async () => {
  await set();
  const asking = ask([{ role: "user", text: "go" }]);
  const stream = (await model.nextRequest()).stream();
  const call = (tool: string) => ({ function: { name: tool, arguments: { path: "a" } } });
  stream.raw(
    `${JSON.stringify({ message: { content: "", tool_calls: [call("read"), call("list")] }, done: false })}\n`,
  );
  stream.finish();
  expect((await asking).slice(0, 2)).toEqual([
    { kind: "call", id: "call_0", tool: "read", json: '{"path":"a"}' },
    { kind: "call", id: "call_1", tool: "list", json: '{"path":"a"}' },
  ]);
});

test.each([
  ["without its last line", (stream: ReplyStream) => stream.endEarly()],
  ["with a line that is no JSON", (stream: ReplyStream) => stream.raw("{oops\n")],
])("a reply %s is a failure that may pass", async (_, breaks) => {
  await set();
  const asking = ask([{ role: "user", text: "hi" }]);
  const stream = (await model.nextRequest()).stream();
  stream.text("par");
  breaks(stream);
  stream.endEarly();
  await expect(asking).rejects.toMatchObject({ code: "provider.unavailable", retry: "later" });
});

test("an answer whose first line is no JSON is a failure that may pass", async () => {
  await set();
  const asking = ask([{ role: "user", text: "hi" }]);
  const stream = (await model.nextRequest()).stream();
  stream.raw("data: {oops\n\n");
  stream.endEarly();
  await expect(asking).rejects.toMatchObject({ code: "provider.unavailable", retry: "later" });
});

test.each([
  ["a page", "<html><style>a { color: red }</style>log in</html>"],
  ["a word", "Ollama is running"],
  ["a JSON document", '{"status":"running"}\n'],
])("%s is no reply, and the failure says where to look", async (_, body) => {
  await set();
  const asking = ask([{ role: "user", text: "hi" }]);
  const stream = (await model.nextRequest()).stream();
  stream.raw(body);
  stream.endEarly();
  await expect(asking).rejects.toMatchObject({
    code: "provider.refused",
    retry: "never",
    hint: "Check OLLAMA_HOST, and that `ollama serve` runs: what answers there is no model server.",
  });
});

describe("the room that is made", () => {
  test("grows with the conversation, up to what the model reads", async () => {
    await set({ context: 40_000 });
    model.script([says("ok"), says("ok"), says("ok")]);
    for (const length of [100, 25_000, 200_000]) await ask(saying(length));
    expect(windows()).toEqual([{ num_ctx: 8192 }, { num_ctx: 16_384 }, { num_ctx: 40_000 }]);
  });

  test("is what the settings say of the model at most", async () => {
    await set({ context: 40_000 });
    model.script([says("ok")]);
    await ask(saying(200_000), { context: 30_000 });
    expect(windows()).toEqual([{ num_ctx: 30_000 }]);
  });

  test("is doubled where the server finds it too small, and no further than there is", async () => {
    await set({ context: 20_000 });
    const small = fails(400, { message: "the input length exceeds the context length" });
    model.script([small, small, small]);
    await expect(ask(saying(100))).rejects.toMatchObject({ code: "provider.overflow" });
    expect(windows()).toEqual([{ num_ctx: 8192 }, { num_ctx: 16_384 }, { num_ctx: 20_000 }]);
  });

  test("cannot be had for what is longer than any model of that size reads: nothing is asked", async () => {
    await set({ context: 8192 });
    await expect(ask(saying(100_000))).rejects.toMatchObject({ code: "provider.overflow" });
    expect(model.requests).toEqual([]);
  });

  test("is never less than what is needed for code", () => {
    for (const bytes of [0, 1_000, 10_000, 100_000, 1_000_000])
      expect(windowFor(bytes, 10_000_000)).toBeGreaterThan(bytes / 3);
  });
});

test("models are listed with what they can read and do", async () => {
  await set({ models: ["llama3:8b"], context: 131_072 });
  const reach = { driver: "ollama", access: { name: "ollama", key: "key", baseUrl: model.url } };
  expect(await listModels(reach)).toEqual([
    { id: "llama3:8b", facts: { context: 131_072, images: false, reasoning: false, tools: true } },
  ]);
});

test("a call comes with its reply's reason", async () => {
  await set();
  model.script([callsTool("read", { path: "a" })]);
  expect((await ask(saying(1))).at(-1)).toMatchObject({ kind: "finish", reason: "tool-calls" });
});
