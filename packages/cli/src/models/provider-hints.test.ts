import type { Client } from "@corral/client";
import type { CredentialView, ModelView } from "@corral/protocol";
import { expect, test } from "vitest";
import { daemonLacks, providerHints } from "./provider-hints.ts";
import { testWorld } from "../testing/world.ts";

test("a key that is set here and not where the daemon started is told as such", () => {
  const hint = "Run `corral auth login anthropic`, or set ANTHROPIC_API_KEY where the daemon starts.";
  expect(daemonLacks(hint, { variables: { ANTHROPIC_API_KEY: "x" } })).toBe(
    "ANTHROPIC_API_KEY is set here, but the daemon was started without it: `corral stop`, and try again.",
  );
  expect(daemonLacks(hint, { variables: { ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "x" } })).toBeUndefined();
});

const credential = (provider: string, more: Partial<CredentialView> = {}): CredentialView => ({
  provider,
  source: null,
  variable: `${provider.toUpperCase()}_API_KEY`,
  isNeeded: true,
  ...more,
});

function hintsWith(credentials: readonly CredentialView[], models: readonly Partial<ModelView>[] = []) {
  const { world } = testWorld();
  const client = { credentials: { list: async () => credentials }, models: async () => models };
  return providerHints(client as unknown as Client, { ...world, err: { ...world.err, columns: 300 } });
}

const none = [credential("anthropic"), credential("openai"), credential("ollama", { isNeeded: false })];

test("without a key it is said what to set, and that the demo needs none", async () => {
  expect(await hintsWith(none)).toBe(
    "No provider has a key yet: `corral auth login anthropic` stores one, or set one of ANTHROPIC_API_KEY, OPENAI_API_KEY and restart the daemon (`corral stop`).\n" +
      "`corral demo` shows what Corral does without any.\n",
  );
});

test("Ollama that runs here is named with a model of its, one that does not is not", async () => {
  const model = { name: "ollama/qwen3:8b", isReachable: true };
  expect(await hintsWith(none, [model])).toContain(
    'Ollama runs here and needs none: `corral run --model ollama/qwen3:8b "what should be done"`.\n',
  );
  expect(await hintsWith(none, [{ ...model, isReachable: false }])).not.toContain("Ollama");
});

test("who has a key for some provider is told nothing, nor is anybody when that cannot be found out", async () => {
  expect(await hintsWith([...none, credential("google", { source: "variable" })])).toBe("");
  expect(await hintsWith([])).toBe("");
});
