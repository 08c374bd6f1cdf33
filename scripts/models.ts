/**
 * Writes the table of models that are built in, from the prices that the package collects, so that no process has to hold all of
 * that package. Run when it has a new version.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { calcPrice, findProvider, type ModelInfo, type ModelPrice } from "@pydantic/genai-prices";

/** By the names that Corral gives them. */
const providers = ["anthropic", "openai", "google", "deepseek", "groq", "mistral", "x-ai"];

/** Models for other things than talking. */
const others =
  /embedding|moderation|whisper|tts|transcribe|realtime|audio|image|live|^ft:|instruct|davinci|ada$|babbage|curie/;

export function modelTable(): object {
  return Object.fromEntries(providers.map((name) => [name, modelsOf(name)]));
}

function modelsOf(providerId: string): readonly object[] {
  const models = findProvider({ providerId })?.models ?? [];
  return models.filter(({ id, deprecated }) => deprecated !== true && !others.test(id)).flatMap(entryOf);

  function entryOf({ id, match, context_window: context }: ModelInfo): readonly object[] {
    const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, id, { providerId });
    if (found === null || found.model.id !== id) return [];
    return [{ id, match, ...(context === undefined ? {} : { context }), prices: pricesOf(found.model_price) }];
  }
}

function pricesOf(price: ModelPrice): object {
  const named = [
    ["input", price["input_mtok"]],
    ["output", price["output_mtok"]],
    ["cacheRead", price["cache_read_mtok"]],
    ["cacheWrite", price["cache_write_mtok"]],
  ] as const;
  return Object.fromEntries(
    named.flatMap(([name, rate]) =>
      rate === undefined ? [] : [[name, typeof rate === "number" ? rate : tiered(rate)]],
    ),
  );
}

function tiered({ base, tiers }: Exclude<ModelPrice[string], number | undefined>): object {
  return { base, tiers: tiers.map(({ start, price }) => ({ above: start, price })) };
}

if (import.meta.main)
  writeFileSync(
    join(import.meta.dirname, "../packages/daemon/src/models/table.json"),
    `${JSON.stringify(modelTable(), undefined, 2)}\n`,
  );
