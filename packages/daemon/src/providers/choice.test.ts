import { expect, test } from "vitest";
import { fails, says, startScriptedModel } from "../testing/scripted-model/index.ts";
import { anthropic } from "./anthropic/index.ts";
import { openProviders, parseModel } from "./choice.ts";
import { compatible } from "./compatible/index.ts";
import { google } from "./google/index.ts";
import { ollama } from "./ollama/index.ts";
import { openai } from "./openai/index.ts";
import type { Provider } from "./port.ts";
import { openReach, type ProviderSettings, type Variables } from "./reach.ts";

const drivers = [anthropic, openai, google, compatible, ollama];

function providersWith(variables: Variables, settings: ProviderSettings = {}, keys: Record<string, string> = {}) {
  const key = async (name: string) => keys[name];
  return openProviders(drivers, openReach({ variables, settings: () => settings, key }));
}

const refusal = async (act: () => Promise<unknown>) =>
  act().catch((error: unknown) => {
    const { code, hint } = error as { code: string; hint: string };
    return { code, hint };
  });

async function ask(provider: Provider): Promise<string> {
  const request = { model: "m", system: "", messages: [{ role: "user", text: "hi" }], tools: [] } as const;
  const pieces = await Array.fromAsync(provider.ask(request, new AbortController().signal));
  return pieces.map((piece) => (piece.kind === "delta" ? piece.text : "")).join("");
}

test.each([
  [{ ANTHROPIC_API_KEY: " key\n" }, {}, "anthropic/claude-x"],
  [{ OPENAI_API_KEY: "key" }, {}, "openai/gpt-x"],
  [{}, { openai: "kept" }, "openai/gpt-x"],
  [{ GEMINI_API_KEY: "key" }, {}, "google/gemini-x"],
  [{}, {}, "ollama/llama-x"],
  [{}, {}, "mine/some/model"],
])("with %o, and %o kept, %s is found", async (variables, keys, named) => {
  const settings = { compatible: { mine: { baseUrl: "http://127.0.0.1:1/v1" } } };
  const { provider, model } = await providersWith(variables, settings, keys).find(named);
  expect(`${provider.name}/${model}`).toBe(named);
});

test.each([
  ["anthropic/claude-x", "anthropic", "ANTHROPIC_API_KEY"],
  ["openai/gpt-x", "openai", "OPENAI_API_KEY"],
  ["google/gemini-x", "google", "GEMINI_API_KEY"],
])("%s without a key says what to set", async (named, name, variable) => {
  const providers = providersWith({ [variable]: " ", ANTHROPIC_BASE_URL: "http://127.0.0.1:1" });
  expect(await refusal(() => providers.find(named))).toEqual({
    code: "provider.refused",
    hint: `Run \`corral auth login ${name}\`, or set ${variable} where the daemon starts.`,
  });
});

test("a provider that is not there is a model nobody knows", async () => {
  expect(await refusal(() => providersWith({}).find("nobody/x"))).toEqual({
    code: "model.unknown",
    hint:
      "Known are: anthropic, openai, google, ollama. " +
      "Servers that are like OpenAI's are named in the setting providers.compatible.",
  });
});

test("a key that was refused, or may have changed, is asked for anew", async () => {
  const model = await startScriptedModel();
  let key = "first";
  const asked: string[] = [];
  const providers = openProviders(drivers, async (named) => {
    asked.push(`${named} by ${key}`);
    return { driver: "anthropic", access: { key, baseUrl: model.url } };
  });
  const answer = async () => ask((await providers.find("anthropic/m")).provider);
  model.script([says("one"), says("two"), fails(401), says("three"), says("four")]);
  expect([await answer(), await answer()]).toEqual(["one", "two"]);
  key = "second";
  expect(await refusal(answer)).toMatchObject({ code: "provider.refused" });
  expect(await answer()).toBe("three");
  key = "third";
  providers.forget();
  expect(await answer()).toBe("four");
  expect(asked).toEqual(["first", "second", "third"].map((each) => `anthropic/m by ${each}`));
  await model.close();
});

test("a model's own name may hold slashes", () => {
  expect(parseModel("router/vendor/model:free")).toEqual({ provider: "router", model: "vendor/model:free" });
});

test.each(["", "claude", "/claude", "anthropic/"])("%o is no model's name", (named) => {
  expect(() => parseModel(named)).toThrow(expect.objectContaining({ code: "model.unknown" }));
});
