import { expect, test } from "vitest";
import { anthropic } from "./anthropic/index.ts";
import { openProviders, parseModel } from "./choice.ts";

const thrown = (act: () => unknown) => {
  try {
    return act();
  } catch (error) {
    const { code, hint } = error as { code: string; hint: string };
    return { code, hint };
  }
};

test("a provider with a key is found by the model's name", () => {
  const providers = openProviders({ ANTHROPIC_API_KEY: " key\n" }, [anthropic]);
  expect([...providers.configured.keys()]).toEqual(["anthropic"]);
  const { provider, model } = providers.find("anthropic/claude-x");
  expect([provider.name, model]).toEqual(["anthropic", "claude-x"]);
});

test.each([{}, { ANTHROPIC_API_KEY: "" }, { ANTHROPIC_BASE_URL: "http://127.0.0.1:1" }])(
  "a provider without a key says what to set: %o",
  (variables) => {
    const providers = openProviders(variables, [anthropic]);
    expect([...providers.configured]).toEqual([]);
    expect(thrown(() => providers.find("anthropic/claude-x"))).toEqual({
      code: "provider.refused",
      hint: "Set ANTHROPIC_API_KEY where the daemon starts.",
    });
  },
);

test("a provider that is not there is a model nobody knows", () => {
  expect(thrown(() => openProviders({}, [anthropic]).find("nobody/x"))).toEqual({
    code: "model.unknown",
    hint: "Known are: anthropic.",
  });
});

test("a model's own name may hold slashes", () => {
  expect(parseModel("router/vendor/model:free")).toEqual({ provider: "router", model: "vendor/model:free" });
});

test.each(["", "claude", "/claude", "anthropic/"])("%o is no model's name", (named) => {
  expect(thrown(() => parseModel(named))).toMatchObject({ code: "model.unknown" });
});
