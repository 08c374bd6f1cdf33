import * as z from "zod";
import { effort, modelName } from "./session.ts";
import type { Usage } from "./usage.ts";

/** US dollars for a million tokens; above so many tokens of input another price counts for all of them. */
const rate = z.union([
  z.number().nonnegative(),
  z.strictObject({
    base: z.number().nonnegative(),
    tiers: z.array(z.strictObject({ above: z.int().nonnegative(), price: z.number().nonnegative() })).max(10),
  }),
]);

export const modelPrices = z.strictObject({
  input: rate.optional(),
  output: rate.optional(),
  /** Input that was found in the prompt cache; without: as other input. */
  cacheRead: rate.optional(),
  /** Input that was written to it; without: as other input. */
  cacheWrite: rate.optional(),
});
export type ModelPrices = z.infer<typeof modelPrices>;

/** What is known of a model. */
export const modelFacts = z.strictObject({
  /** Tokens that it can read and write together. */
  context: z.int().positive().optional(),
  prices: modelPrices.optional(),
  /** Whether it can look at images. */
  images: z.boolean().optional(),
  /** Whether it thinks before it answers. */
  reasoning: z.boolean().optional(),
  /** How much it thinks, of one that does, where a session says nothing. */
  effort: effort.optional(),
  /** Whether it can call tools. */
  tools: z.boolean().optional(),
});
export type ModelFacts = z.infer<typeof modelFacts>;

/** `settings`: the user's own, or a change of one that is built in; `provider`: the provider lists it. */
export const modelSource = z.enum(["settings", "provider"]);
export type ModelSource = z.infer<typeof modelSource>;

export const registeredModel = z.object({ name: modelName, facts: modelFacts, source: modelSource });

export const modelView = z.object({
  name: modelName,
  facts: modelFacts,
  source: z.enum(["built-in", ...modelSource.options]),
  /** Whether its provider can be asked: it has a key, or needs none. */
  isReachable: z.boolean(),
});
export type ModelView = z.infer<typeof modelView>;

export const modelList = z.object({ models: z.array(modelView), seq: z.int().nonnegative() });
export type ModelList = z.infer<typeof modelList>;

/** What a request cost, in US dollars. Undefined: nobody knows the model's prices. */
export function costOf(usage: Usage, prices: ModelPrices | undefined): number | undefined {
  if (prices?.input === undefined || prices.output === undefined) return undefined;
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  const { input, output, cacheRead = input, cacheWrite = input } = prices;
  const parts = [
    [plain, input],
    [cachedInputTokens, cacheRead],
    [cacheWriteTokens, cacheWrite],
    [outputTokens, output],
  ] as const;
  const cost = parts.reduce((sum, [tokens, price]) => sum + (tokens * priceAt(price, inputTokens)) / 1_000_000, 0);
  return Number.isFinite(cost) ? cost : undefined;
}

function priceAt(price: z.infer<typeof rate>, inputTokens: number): number {
  if (typeof price === "number") return price;
  return price.tiers.findLast(({ above }) => inputTokens > above)?.price ?? price.base;
}
