import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { costOf, type ModelFacts } from "@corral/protocol";
import { calcPrice } from "@pydantic/genai-prices";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isGap, type Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { type ModelParts, openModels } from "./models.ts";
import { modelProjections } from "./projection.ts";
import { builtInFacts, builtInModels } from "./table.ts";

describe("what is built in", () => {
  test.each([
    ["anthropic", "claude-sonnet-4-5-20250929"],
    ["anthropic", "claude-opus-4-1"],
    ["openai", "gpt-5"],
    ["openai", "gpt-4o-mini"],
    ["google", "gemini-2.5-pro"],
    ["google", "gemini-2.5-flash"],
  ])("a request to %s/%s costs what the vendor's prices say, by tier and cache", (provider, model) => {
    const facts = builtInFacts(provider, model);
    for (const inputTokens of [1_000, 200_000, 200_001, 900_000]) {
      const usage = { inputTokens, outputTokens: 700, cachedInputTokens: 500, cacheWriteTokens: 300 };
      const counted = {
        input_tokens: inputTokens,
        output_tokens: 700,
        cache_read_tokens: 500,
        cache_write_tokens: 300,
      };
      const expected = calcPrice(counted, model, { providerId: provider })?.total_price;
      expect(costOf(usage, facts?.prices)).toBeCloseTo(expected ?? Number.NaN, 9);
    }
  });

  test("facts are found by any name of the model", () => {
    expect(builtInFacts("anthropic", "claude-sonnet-4-5-20250929")).toMatchObject({
      context: 200_000,
      images: true,
      reasoning: true,
      tools: true,
    });
    expect(builtInFacts("google", "gemini-2.5-pro")).toMatchObject({ context: 1_048_576 });
    expect(builtInFacts("nobody", "x")).toBeUndefined();
    expect(builtInFacts("__proto__", "x")).toBeUndefined();
    expect(builtInModels("anthropic").length).toBeGreaterThan(10);
  });

  test("a model without prices costs nobody knows what", () => {
    expect(costOf({ inputTokens: 1, outputTokens: 1 }, undefined)).toBeUndefined();
    expect(costOf({ inputTokens: 1_000_000, outputTokens: 0 }, { input: 2, output: 3 })).toBe(2);
  });

  test("the table has no models that cannot talk", () => {
    const table = readFileSync(join(import.meta.dirname, "table.json"), "utf8");
    expect(table).not.toMatch(/"id": "[^"]*(embedding|whisper|moderation)/);
  });
});

describe("registered models", () => {
  let folder: string;
  let log: Log;
  let own: Record<string, ModelFacts>;
  let lists: Map<string, { id: string; facts: ModelFacts }[]>;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "corral-models-"));
    log = await openSqliteLog({ file: join(folder, "corral.db"), projections: modelProjections });
    [own, lists] = [{}, new Map()];
  });
  afterEach(async () => {
    await log.close();
    rmSync(folder, { recursive: true });
  });

  const parts = (): ModelParts => ({
    log,
    own: () => own,
    listed: async () => lists,
    reachable: async () => new Set(["ollama"]),
  });

  const events = async () => {
    const read = await log.read({ after: 0, limit: 100 });
    if (isGap(read)) throw new Error("a gap");
    return read.map(({ type, data }) => [type, (data as { name: string }).name]);
  };

  test("what providers list and settings say is recorded when it changes, and found again", async () => {
    const models = await openModels(parts());
    lists.set("ollama", [
      { id: "llama3:8b", facts: { context: 8192 } },
      { id: "qwen3", facts: {} },
    ]);
    own = { "mine/big": { context: 1000 }, "anthropic/claude-sonnet-4-5": { prices: { input: 1, output: 2 } } };
    await models.look();
    await models.look();
    lists.set("ollama", [{ id: "llama3:8b", facts: { context: 4096 } }]);
    own = { "mine/big": { context: 1000 } };
    await models.look();
    // It is away; what it had listed stays.
    lists.delete("ollama");
    await models.look();
    expect(await events()).toEqual([
      ["model.added", "ollama/llama3:8b"],
      ["model.added", "ollama/qwen3"],
      ["model.added", "mine/big"],
      ["model.added", "anthropic/claude-sonnet-4-5"],
      ["model.changed", "ollama/llama3:8b"],
      ["model.removed", "ollama/qwen3"],
      ["model.removed", "anthropic/claude-sonnet-4-5"],
    ]);
    const again = await openModels(parts());
    expect(again.facts("ollama/llama3:8b")).toEqual({ context: 4096 });
    expect((await again.list()).models.filter(({ source }) => source !== "built-in")).toEqual([
      { name: "mine/big", facts: { context: 1000 }, source: "settings", isReachable: false },
      { name: "ollama/llama3:8b", facts: { context: 4096 }, source: "provider", isReachable: true },
    ]);
  });

  test("settings change what is built in, and leave the rest of it", async () => {
    own = { "anthropic/claude-sonnet-4-5": { context: 5, prices: { input: 1, output: 2 } } };
    const models = await openModels(parts());
    await models.look();
    expect(models.facts("anthropic/claude-sonnet-4-5")).toEqual({
      context: 5,
      prices: { input: 1, output: 2 },
      images: true,
      reasoning: true,
      tools: true,
    });
  });
});
