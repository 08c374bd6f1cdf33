import type { Projection } from "../log/index.ts";

/** One row for each reply. Costs are in billionths of a dollar; null: nobody knows the price. */
const usage: Projection = {
  table: "usage",
  columns: {
    session: "text",
    model: "text",
    day: "text",
    input: "integer",
    output: "integer",
    cacheRead: "integer",
    cacheWrite: "integer",
    reasoning: "integer",
    cost: "integer",
  },
  version: 1,
  changes(event) {
    if (event.type !== "turn.replied") return [];
    const { id, model, costUsd, usage: tokens } = event.data;
    return [
      {
        key: id,
        set: {
          session: event.stream,
          model: model ?? "unknown",
          day: event.approximateCreationTime.slice(0, 10),
          input: tokens.inputTokens,
          output: tokens.outputTokens,
          cacheRead: tokens.cachedInputTokens ?? 0,
          cacheWrite: tokens.cacheWriteTokens ?? 0,
          reasoning: tokens.reasoningTokens ?? 0,
          cost: costUsd === undefined ? null : Math.round(costUsd * 1e9),
        },
      },
    ];
  },
};

export const usageProjections: readonly Projection[] = [usage];
