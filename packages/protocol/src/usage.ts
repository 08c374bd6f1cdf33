import * as z from "zod";

/** Tokens of one model request, as the provider counted them. Those after the first two are parts of these. */
export const usage = z.object({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  /** Of the input: found in the prompt cache. */
  cachedInputTokens: z.int().nonnegative().optional(),
  /** Of the input: written to the prompt cache. */
  cacheWriteTokens: z.int().nonnegative().optional(),
  /** Of the output: what was thought. */
  reasoningTokens: z.int().nonnegative().optional(),
});
export type Usage = z.infer<typeof usage>;

export const usageBy = z.enum(["model", "session", "project", "day"]);
export type UsageBy = z.infer<typeof usageBy>;

const usageSum = z.object({
  requests: z.int().nonnegative(),
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  cachedInputTokens: z.int().nonnegative(),
  cacheWriteTokens: z.int().nonnegative(),
  reasoningTokens: z.int().nonnegative(),
  /** Of the requests whose price is known. */
  costUsd: z.number().nonnegative(),
  /** Requests whose price nobody knows. */
  unpriced: z.int().nonnegative(),
});
export type UsageSum = z.infer<typeof usageSum>;

/** `name`: of the model, the session, the project, or the day (in UTC). */
export const usageGroup = usageSum.extend({ name: z.string() });
export type UsageGroup = z.infer<typeof usageGroup>;

/** What models were asked, and what it cost, for all sessions that are kept. */
export const usageView = z.object({
  by: usageBy,
  groups: z.array(usageGroup),
  total: usageSum,
  seq: z.int().nonnegative(),
});
export type UsageView = z.infer<typeof usageView>;

export const viewUsage = z.object({ by: usageBy.default("model") });
