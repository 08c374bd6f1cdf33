import type { UsageBy, UsageGroup, UsageSum, UsageView } from "@corral/protocol";
import type { Log, Row } from "../log/index.ts";

/** What models were asked and what it cost, summed up from what each reply's record says. */
export interface Usage {
  view(by: UsageBy): Promise<UsageView>;
}

export function openUsage(parts: {
  readonly log: Pick<Log, "rows" | "head">;
  /** The project of each session that there is. */
  readonly projects: () => Promise<ReadonlyMap<string, string>>;
}): Usage {
  return {
    async view(by) {
      const seq = await parts.log.head();
      const rows = await parts.log.rows("usage");
      const projects = by === "project" ? await parts.projects() : new Map<string, string>();
      const groups = new Map<string, UsageSum>();
      for (const row of rows) {
        const name = by === "project" ? (projects.get(String(row["session"])) ?? "unknown") : String(row[by]);
        groups.set(name, plus(groups.get(name) ?? nothing, sumOf(row)));
      }
      const named = [...groups].map(([name, sum]): UsageGroup => ({ name, ...sum }));
      const total = named.map(({ name: _, ...sum }) => sum).reduce(plus, nothing);
      return { by, groups: named.toSorted(by === "day" ? byName : byCost), total, seq };
    },
  };
}

const nothing: UsageSum = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costUsd: 0,
  unpriced: 0,
};

function sumOf(row: Row): UsageSum {
  const { cost } = row;
  return {
    requests: 1,
    inputTokens: counted(Number(row["input"])),
    outputTokens: counted(Number(row["output"])),
    cachedInputTokens: counted(Number(row["cacheRead"])),
    cacheWriteTokens: counted(Number(row["cacheWrite"])),
    reasoningTokens: counted(Number(row["reasoning"])),
    costUsd: Math.max(0, Number(cost ?? 0)) / 1e9,
    unpriced: cost === null || cost === undefined ? 1 : 0,
  };
}

/** What was recorded may be what no count is: none, then, or as many as can be told. */
function counted(tokens: number): number {
  return Math.min(Math.max(tokens, 0), Number.MAX_SAFE_INTEGER);
}

function plus(a: UsageSum, b: UsageSum): UsageSum {
  return {
    requests: a.requests + b.requests,
    inputTokens: counted(a.inputTokens + b.inputTokens),
    outputTokens: counted(a.outputTokens + b.outputTokens),
    cachedInputTokens: counted(a.cachedInputTokens + b.cachedInputTokens),
    cacheWriteTokens: counted(a.cacheWriteTokens + b.cacheWriteTokens),
    reasoningTokens: counted(a.reasoningTokens + b.reasoningTokens),
    // Billionths, so that sums of many small ones stay exact.
    costUsd: Math.round((a.costUsd + b.costUsd) * 1e9) / 1e9,
    unpriced: a.unpriced + b.unpriced,
  };
}

function byCost(a: UsageGroup, b: UsageGroup): number {
  return b.costUsd - a.costUsd || b.requests - a.requests;
}

function byName(a: UsageGroup, b: UsageGroup): number {
  return a.name < b.name ? -1 : 1;
}
