import { afterEach, beforeEach, expect, test } from "vitest";
import { fails, says, type ScriptedModel, startScriptedModel, thinks } from "../../testing/scripted-model/index.ts";
import { openCompatible } from "../compatible.ts";
import { describeProvider, scriptedStage } from "../conformance.ts";
import type { Message, ModelRequest, ReplyPiece } from "../port.ts";
import { compatible } from "./driver.ts";

const naming = { label: "mine", keyHint: "Log in.", baseHint: "the address" };

describeProvider("mine", () =>
  scriptedStage((url) => openCompatible("mine", naming, { key: "key", baseUrl: `${url}/v1` }), {
    overflow: [400, "the request exceeds the available context size"],
    callsEndWithReply: true,
    replays: '"reasoning_content":"hm"',
  }),
);

let model: ScriptedModel;
beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

async function ask(messages: readonly Message[], more: Partial<ModelRequest> = {}): Promise<readonly ReplyPiece[]> {
  const provider = await compatible.open({ name: "mine", key: "key", baseUrl: `${model.url}/any/path/` });
  const request = { model: "m", system: "", messages, tools: [], ...more };
  return Array.fromAsync(provider.ask(request, new AbortController().signal));
}

test("reasoning goes back to the server it came from, and to no other", async () => {
  model.script([[thinks("hm"), says("yes")], says("ok")]);
  const pieces = await ask([{ role: "user", text: "why" }]);
  expect(pieces.find(({ kind }) => kind === "end")).toEqual({ kind: "end", part: "0", providerMetadata: { mine: {} } });
  const thought = (name: string) =>
    ({ kind: "reasoning", text: `of ${name}`, providerMetadata: { [name]: {} } }) as const;
  await ask([
    { role: "user", text: "why" },
    { role: "assistant", parts: [thought("mine"), thought("other"), { kind: "text", text: "yes" }] },
    { role: "user", text: "really" },
  ]);
  expect(model.requests[1]?.body.messages[1]).toEqual({
    role: "assistant",
    content: "yes",
    reasoning_content: "of mine",
  });
});

test("an effort is asked for as OpenAI's servers are", async () => {
  model.script([says("ok")]);
  await ask([{ role: "user", text: "hi" }], { effort: "low" });
  expect(model.requests[0]?.body).toMatchObject({ reasoning_effort: "low" });
});

test("a server that takes no images says so, and it is said what to do", async () => {
  model.script([fails(400, { message: "this model does not support image input" })]);
  const images = [{ mediaType: "image/png", base64: "aGk=" }];
  await expect(ask([{ role: "user", text: "look", images }])).rejects.toMatchObject({
    code: "provider.refused",
    hint: expect.stringContaining('"images": false'),
  });
});

test("without an address it says where to set one", async () => {
  await expect(compatible.open({ name: "mine" })).rejects.toMatchObject({
    code: "provider.refused",
    hint: "Give it a baseUrl in providers.compatible (mine).",
  });
});
